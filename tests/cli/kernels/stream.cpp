// y = x + x, z = x2 + x2 over n blocks: two streams through one vector pipe, without flags.
#include "pto/pto-inst.hpp"
using namespace pto;

constexpr int kRows = 64, kBytes = kRows * kRows * sizeof(float);
using Buffer = Tile<TileType::Vec, float, kRows, kRows>;
using Box = Shape<1, 1, 1, kRows, kRows>;
using Step = Stride<4096, 4096, 4096, kRows, 1>;
using View = GlobalTensor<float, Box, Step>;

__global__ AICORE void stream(__gm__ float *x, __gm__ float *x2, __gm__ float *y, __gm__ float *z, int32_t n) {
#if defined(__DAV_VEC__)
  Buffer a, b, c, d;
  TASSIGN(a, 0);
  TASSIGN(b, kBytes);
  TASSIGN(c, 2 * kBytes);
  TASSIGN(d, 3 * kBytes);
  for (int32_t i = 0; i < n; ++i) {
    int32_t at = i * kRows * kRows;
    View from(x + at);
    TLOAD(a, from);
    TADD(b, a, a);
    View to(y + at);
    TSTORE(to, b);
    View from2 = View(x2 + at);  // the second stream
    TLOAD(c, from2);
    TADD(d, c, c);
    View to2 = View(z + at);
    TSTORE(to2, d);
  }
#endif
}
