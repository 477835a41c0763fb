AICORE void variables(__gm__ float *p, int32_t n, bool odd) {
  int32_t picked;
  int32_t unused = 0;
  Tile<TileType::Vec, float, 8, 64, BLayout::RowMajor, -1, -1> t(n, n);
  TASSIGN(t, 0);
  if (odd) {
    picked = n + 1;
    unused = 1;
  } else {
    picked = n;
  }
  int32_t sum = 0, last = picked;
  for (int32_t i = 0; i < picked; i += 2) {
    sum += i;
    int32_t inner = sum;
    if (inner < n)
      last = inner;
    TASSIGN(t, inner * 256);
    t.SetValidShape(8, i);
    TABS(t, t);
  }
  wait_flag(PIPE_V, PIPE_MTE2, sum);
  set_flag(PIPE_V, PIPE_MTE2, last);
  Tile<TileType::Vec, float, 64, 8, BLayout::RowMajor, 64, 8> turned;
  TRESHAPE(turned, t);
  Tile<TileType::Vec, float, 8, 8> nowhere;
  TADD(turned, nowhere, turned);
}
