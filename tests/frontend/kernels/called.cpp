// A kernel that is a call, with what hand-written kernels have in their functions
template <typename T, int Rows, int Cols = 16, Layout L = Layout::ND>
PTO_INTERNAL void copy(__gm__ T *to, __gm__ T *from, T factor) {
  using Box = TileShape2D<T, Rows, Cols, L>;
  using Steps = BaseShape2D<T, Rows, Cols, L>;
  using View = GlobalTensor<T, Box, Steps, L>;
  using Part = std::conditional_t<(Rows > 8), Tile<TileType::Vec, T, 8, Cols>, Tile<TileType::Vec, T, Rows, Cols>>;
  View in(from), out(to);
  Part part;
  TASSIGN<Rows * sizeof(T)>(part);
#ifdef __PTO_AUTO__
  TLOAD(part, out);
#else
  TLOAD(part, in);
#endif
#ifndef __PTO_AUTO__
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
#endif
  TMULS(part, part, factor);
  if (Part::Numel > 100) return;
  TSTORE(out, part);
  to = out.data();
}

template <typename Buffer>
AICORE void twice(Buffer &a, int &turn) {
  TADD(a, a, a);
  turn += 1;
}

__global__ AICORE void called(__gm__ float *x, __gm__ aclFloat16 *y, int32_t n) {
  copy<half, 32>((__gm__ half *) y, (__gm__ half *) y, (half) 3);
  copy<float, 4>(x, x + n, 1.5f);
  Tile<TileType::Vec, float, 8, 8> tile;
  TASSIGN(tile, 0);
  int turn = 0;
  for (int i = 0; i < n; ++i) {
    twice(tile, turn);
  }
#ifndef __PTO_AUTO__
  set_flag(PIPE_V, PIPE_S, turn);
#endif
}
