// Early returns, continue, blocks of their own, loops in other forms
__global__ AICORE void leaving(__gm__ float *x, int32_t n, uint32_t u, int64_t far) {
  using Buffer = Tile<TileType::Vec, float, 8, 8>;
  Buffer a, b;
  TASSIGN(a, 0);
  if (n <= 0)
    return;
  { // hides n
    int32_t turn = n;
    bool n = turn > 8;
    TASSIGN(b, n ? 256 : 512);
  }
  if (u == 0) {
    TABS(a, a);
    return;
  }
  for (int32_t i = n; i >= 0; i -= 2) {
    if (i == 4) continue;
    TADD(b, b, a);
  }
  for (uint32_t i = u; 0 < i; --i)
    set_flag(PIPE_V, PIPE_S, i);
  for (size_t i = 0; i != u; i++) { wait_flag(PIPE_V, PIPE_S, i); continue; }
  for (int64_t i = 1; i <= far; i = 3 + i) {
    TABS(b, b);
  }
  int32_t at = 3, sum = 0;
  while (at < n) {
    sum += at;
    ++at;
    set_flag(PIPE_V, PIPE_S, at);
  }
  for (at = 7; at > sum; at--) { TABS(a, b); }
  if (at > n) {
    set_flag(PIPE_V, PIPE_S, sum);
  } else {
    if (sum) return; // odd
    set_flag(PIPE_V, PIPE_S, at);
    return;
  }
  return;
}
