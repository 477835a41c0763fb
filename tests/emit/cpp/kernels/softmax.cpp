#include "pto/pto-inst.hpp"
using namespace pto;

__global__ AICORE void softmax(__gm__ float* x, __gm__ float* y, int32_t rows, int32_t cols) {
  const int64_t c0 = 0;
  const int64_t c1 = 1;
  const int64_t c16 = 16;
  int64_t v0 = (int64_t) rows;
  int64_t v1 = (int64_t) cols;

  #if defined(__DAV_VEC__)
  set_mask_norm();
  set_vector_mask(-1, -1);
  for (int64_t row = c0; row < v0; row += c16) {
    int64_t left = (int64_t) ((uint64_t) v0 - (uint64_t) row);
    int64_t count = left < c16 ? left : c16;
    int64_t offset = (int64_t) ((uint64_t) row * (uint64_t) v1);
    __gm__ float* xp = x + offset;
    __gm__ float* yp = y + offset;
    pto::Shape<1, 1, 1, -1, -1> xv_shape = pto::Shape<1, 1, 1, -1, -1>(count, v1);
    pto::Stride<-1, -1, -1, -1, 1> xv_stride = pto::Stride<-1, -1, -1, -1, 1>(count * v1, count * v1, count * v1, v1);
    GlobalTensor<float, pto::Shape<1, 1, 1, -1, -1>, pto::Stride<-1, -1, -1, -1, 1>, pto::Layout::ND> xv = GlobalTensor<float, pto::Shape<1, 1, 1, -1, -1>, pto::Stride<-1, -1, -1, -1, 1>, pto::Layout::ND>(xp, xv_shape, xv_stride);
    pto::Shape<1, 1, 1, -1, -1> yv_shape = pto::Shape<1, 1, 1, -1, -1>(count, v1);
    pto::Stride<-1, -1, -1, -1, 1> yv_stride = pto::Stride<-1, -1, -1, -1, 1>(count * v1, count * v1, count * v1, v1);
    GlobalTensor<float, pto::Shape<1, 1, 1, -1, -1>, pto::Stride<-1, -1, -1, -1, 1>, pto::Layout::ND> yv = GlobalTensor<float, pto::Shape<1, 1, 1, -1, -1>, pto::Stride<-1, -1, -1, -1, 1>, pto::Layout::ND>(yp, yv_shape, yv_stride);
    Tile<TileType::Vec, float, 16, 64, BLayout::RowMajor, -1, -1, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> t = Tile<TileType::Vec, float, 16, 64, BLayout::RowMajor, -1, -1, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null>(count, v1);
    TASSIGN(t, 0);
    Tile<TileType::Vec, float, 16, 64, BLayout::RowMajor, -1, -1, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> scratch = Tile<TileType::Vec, float, 16, 64, BLayout::RowMajor, -1, -1, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null>(count, v1);
    TASSIGN(scratch, 4096);
    Tile<TileType::Vec, float, 16, 1, BLayout::ColMajor, -1, 1, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> most = Tile<TileType::Vec, float, 16, 1, BLayout::ColMajor, -1, 1, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null>(count);
    TASSIGN(most, 8192);
    Tile<TileType::Vec, float, 16, 1, BLayout::ColMajor, -1, 1, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> total = Tile<TileType::Vec, float, 16, 1, BLayout::ColMajor, -1, 1, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null>(count);
    TASSIGN(total, 8256);
    TLOAD(t, xv);
    TROWMAX(most, t, scratch);
    TROWEXPANDSUB(t, t, most);
    TEXP(t, t);
    TROWSUM(total, t, scratch);
    TROWEXPANDDIV(t, t, total);
    TSTORE(yv, t);
  }
  #endif // __DAV_VEC__

  return;
}
