// y = x + x, one block of 64 x 64 numbers for every 512 of K; stands for `kernel.cpp` of the pages.
#include "pto/pto-inst.hpp"
using namespace pto;

constexpr int kRows = 64, kBytes = kRows * kRows * sizeof(float);
using Buffer = Tile<TileType::Vec, float, kRows, kRows>;
using Box = Shape<1, 1, 1, kRows, kRows>;
using Step = Stride<4096, 4096, 4096, kRows, 1>;
using View = GlobalTensor<float, Box, Step>;

__global__ AICORE void steps(__gm__ float *x, __gm__ float *y, int32_t M, int32_t N, int32_t K) {
#if defined(__DAV_VEC__)
  Buffer a, b;
  TASSIGN(a, 0);
  TASSIGN(b, kBytes);
  set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
  for (int32_t i = 0; i < K / 512; ++i) {
    int32_t at = i * kRows * kRows;
    View from(x + at);
    wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    TLOAD(a, from);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TADD(b, a, a);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    View to(y + at);
    TSTORE(to, b);
    set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
  }
  wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
  pipe_barrier(PIPE_ALL);
#endif
}
