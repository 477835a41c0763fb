#include "pto/pto-inst.hpp"
using namespace pto;

__global__ AICORE void halves(__gm__ float* x, __gm__ float* y, int32_t n) {
  const int64_t c0 = 0;
  const int64_t c1 = 1;
  const int64_t c2 = 2;
  const float one = 1.0f;
  const float two = 2.0f;
  int64_t v0 = (int64_t) n;
  int64_t middle = v0 / c2;

  #if defined(__DAV_VEC__)
  set_mask_norm();
  set_vector_mask(-1, -1);
  pto::Shape<1, 1, 1, 1, -1> xv_shape = pto::Shape<1, 1, 1, 1, -1>(v0);
  pto::Stride<-1, -1, -1, -1, 1> xv_stride = pto::Stride<-1, -1, -1, -1, 1>(v0, v0, v0, v0);
  GlobalTensor<float, pto::Shape<1, 1, 1, 1, -1>, pto::Stride<-1, -1, -1, -1, 1>, pto::Layout::ND> xv = GlobalTensor<float, pto::Shape<1, 1, 1, 1, -1>, pto::Stride<-1, -1, -1, -1, 1>, pto::Layout::ND>(x, xv_shape, xv_stride);
  pto::Shape<1, 1, 1, 1, -1> yv_shape = pto::Shape<1, 1, 1, 1, -1>(v0);
  pto::Stride<-1, -1, -1, -1, 1> yv_stride = pto::Stride<-1, -1, -1, -1, 1>(v0, v0, v0, v0);
  GlobalTensor<float, pto::Shape<1, 1, 1, 1, -1>, pto::Stride<-1, -1, -1, -1, 1>, pto::Layout::ND> yv = GlobalTensor<float, pto::Shape<1, 1, 1, 1, -1>, pto::Stride<-1, -1, -1, -1, 1>, pto::Layout::ND>(y, yv_shape, yv_stride);
  Tile<TileType::Vec, float, 1, 128, BLayout::RowMajor, 1, -1, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> t = Tile<TileType::Vec, float, 1, 128, BLayout::RowMajor, 1, -1, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null>(v0);
  TASSIGN(t, 0);
  int64_t first_cols = (int64_t) t.GetValidCol();
  Tile<TileType::Vec, float, 1, 64, BLayout::RowMajor, 1, -1, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> first = Tile<TileType::Vec, float, 1, 64, BLayout::RowMajor, 1, -1, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null>(first_cols < 64 ? first_cols : 64);
  __ubuf__ float* first_base = t.data();
  uint64_t first_address = reinterpret_cast<uint64_t>(first_base);
  TASSIGN(first, first_address);
  int64_t second_cols = (int64_t) t.GetValidCol() - middle % (int64_t) t.GetValidCol();
  Tile<TileType::Vec, float, 1, 64, BLayout::RowMajor, 1, -1, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> second = Tile<TileType::Vec, float, 1, 64, BLayout::RowMajor, 1, -1, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null>(second_cols < 64 ? second_cols : 64);
  __ubuf__ float* second_base = t.data();
  uint64_t second_address = reinterpret_cast<uint64_t>(second_base + middle);
  TASSIGN(second, second_address);
  TLOAD(t, xv);
  TMULS(first, first, two);
  TADDS(second, second, one);
  TSTORE(yv, t);
  #endif // __DAV_VEC__

  return;
}
