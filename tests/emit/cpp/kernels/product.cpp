#include "pto/pto-inst.hpp"
using namespace pto;

__global__ AICORE void product(__gm__ half* a, __gm__ half* b, __gm__ float* c, int32_t M, int32_t N, int32_t K) {

  #if defined(__DAV_CUBE__)
  const int64_t c0 = 0;
  const int64_t c1 = 1;
  const int64_t c2 = 2;
  const int64_t c16 = 16;
  const int64_t c32 = 32;
  int64_t m = (int64_t) M;
  int64_t n = (int64_t) N;
  int64_t k = (int64_t) K;
  int64_t v0 = get_block_idx();
  int64_t v1 = get_block_num();
  int64_t first = (int64_t) v0;
  int64_t cores = (int64_t) v1;
  int64_t rows = m / c32;
  int64_t columns = n / c32;
  int64_t tiles = (int64_t) ((uint64_t) rows * (uint64_t) columns);
  int64_t steps = k / c32;
  Tile<TileType::Left, half, 32, 16, BLayout::RowMajor, 32, 16, SLayout::RowMajor, 512, PadValue::Null, CompactMode::Null> a_l0;
  TASSIGN(a_l0, 0);
  Tile<TileType::Right, half, 16, 32, BLayout::RowMajor, 16, 32, SLayout::ColMajor, 512, PadValue::Null, CompactMode::Null> b_l0;
  TASSIGN(b_l0, 0);
  Tile<TileType::Acc, float, 32, 32, BLayout::ColMajor, 32, 32, SLayout::RowMajor, 1024, PadValue::Null, CompactMode::Null> sum;
  TASSIGN(sum, 0);
  for (int64_t tile = first; tile < tiles; tile += cores) {
    int64_t row = tile / columns;
    int64_t column = tile % columns;
    int64_t m0 = (int64_t) ((uint64_t) row * (uint64_t) c32);
    int64_t n0 = (int64_t) ((uint64_t) column * (uint64_t) c32);
    for (int64_t step = c0; step < steps; step += c1) {
      int64_t k0 = (int64_t) ((uint64_t) step * (uint64_t) c32);
      int64_t slot = (int64_t) ((uint64_t) step % (uint64_t) c2);
      Tile<TileType::Mat, half, 32, 32, BLayout::ColMajor, 32, 32, SLayout::RowMajor, 512, PadValue::Null, CompactMode::Null> as;
      TASSIGN(as, slot * 2048);
      Tile<TileType::Mat, half, 32, 32, BLayout::RowMajor, 32, 32, SLayout::ColMajor, 512, PadValue::Null, CompactMode::Null> bs;
      TASSIGN(bs, slot * 2048 + 4096);
      pto::Shape<1, 1, 1, 32, 32> av_shape = pto::Shape<1, 1, 1, 32, 32>();
      pto::Stride<-1, -1, -1, -1, 1> av_stride = pto::Stride<-1, -1, -1, -1, 1>(32 * k, 32 * k, 32 * k, k);
      GlobalTensor<half, pto::Shape<1, 1, 1, 32, 32>, pto::Stride<-1, -1, -1, -1, 1>, pto::Layout::ND> av = GlobalTensor<half, pto::Shape<1, 1, 1, 32, 32>, pto::Stride<-1, -1, -1, -1, 1>, pto::Layout::ND>(a + (m0 * k + k0), av_shape, av_stride);
      pto::Shape<1, 1, 1, 32, 32> bv_shape = pto::Shape<1, 1, 1, 32, 32>();
      pto::Stride<32, 32, 32, 1, -1> bv_stride = pto::Stride<32, 32, 32, 1, -1>(k);
      GlobalTensor<half, pto::Shape<1, 1, 1, 32, 32>, pto::Stride<32, 32, 32, 1, -1>, pto::Layout::DN> bv = GlobalTensor<half, pto::Shape<1, 1, 1, 32, 32>, pto::Stride<32, 32, 32, 1, -1>, pto::Layout::DN>(b + (k0 + n0 * k), bv_shape, bv_stride);
      TLOAD(as, av);
      TLOAD(bs, bv);
      for (int64_t inner = c0; inner < c32; inner += c16) {
        TEXTRACT(a_l0, as, c0, inner);
        TEXTRACT(b_l0, bs, inner, c0);
        int64_t done = (int64_t) ((uint64_t) k0 + (uint64_t) inner);
        bool is_first = done == c0;
        if (is_first) {
          TMATMUL(sum, a_l0, b_l0);
        } else {
          TMATMUL_ACC(sum, sum, a_l0, b_l0);
        }
      }
    }
    pto::Shape<1, 1, 1, 32, 32> cv_shape = pto::Shape<1, 1, 1, 32, 32>();
    pto::Stride<-1, -1, -1, -1, 1> cv_stride = pto::Stride<-1, -1, -1, -1, 1>(32 * n, 32 * n, 32 * n, n);
    GlobalTensor<float, pto::Shape<1, 1, 1, 32, 32>, pto::Stride<-1, -1, -1, -1, 1>, pto::Layout::ND> cv = GlobalTensor<float, pto::Shape<1, 1, 1, 32, 32>, pto::Stride<-1, -1, -1, -1, 1>, pto::Layout::ND>(c + (m0 * n + n0), cv_shape, cv_stride);
    TSTORE(cv, sum);
  }
  #endif // __DAV_CUBE__

  return;
}
