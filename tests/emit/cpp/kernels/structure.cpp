#include "pto/pto-inst.hpp"
using namespace pto;

__global__ AICORE void structure(__gm__ float* x, __gm__ float* y, float scale, int64_t n, bool turned) {
  const int64_t c0 = 0;
  const int64_t c1 = 1;
  const int64_t c3 = 3;
  const int64_t c4 = 4;
  const int64_t c16 = 16;
  const int64_t c32 = 32;
  const int64_t c128 = 128;
  const float half_ = 0.5f;
  const int64_t at = 65536;
  __gm__ float* from;
  __gm__ float* to;
  if (turned) {
    from = y;
    to = x;
  } else {
    from = x;
    to = y;
  }
  set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
  set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID1);
  set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID2);
  int64_t slot = c0;
  int64_t offset = c0;
  for (int64_t i = c0; i < n; i += c1) {
    Tile<TileType::Vec, float, 4, 32, BLayout::RowMajor, 4, 32, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> tile;
    TASSIGN(tile, at + slot * 512);
    __gm__ float* v0 = from + offset;
    pto::Shape<1, 1, 1, 4, 32> v1_shape = pto::Shape<1, 1, 1, 4, 32>();
    pto::Stride<128, 128, 128, 32, 1> v1_stride = pto::Stride<128, 128, 128, 32, 1>();
    GlobalTensor<float, pto::Shape<1, 1, 1, 4, 32>, pto::Stride<128, 128, 128, 32, 1>, pto::Layout::ND> v1 = GlobalTensor<float, pto::Shape<1, 1, 1, 4, 32>, pto::Stride<128, 128, 128, 32, 1>, pto::Layout::ND>(v0, v1_shape, v1_stride);
    __gm__ float* v2 = to + offset;
    pto::Shape<1, 1, 1, 4, 32> v3_shape = pto::Shape<1, 1, 1, 4, 32>();
    pto::Stride<128, 128, 128, 32, 1> v3_stride = pto::Stride<128, 128, 128, 32, 1>();
    GlobalTensor<float, pto::Shape<1, 1, 1, 4, 32>, pto::Stride<128, 128, 128, 32, 1>, pto::Layout::ND> v3 = GlobalTensor<float, pto::Shape<1, 1, 1, 4, 32>, pto::Stride<128, 128, 128, 32, 1>, pto::Layout::ND>(v2, v3_shape, v3_stride);
    Tile<TileType::Vec, float, 4, 32, BLayout::RowMajor, 4, 16, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> first;
    __ubuf__ float* first_base = tile.data();
    uint64_t first_address = reinterpret_cast<uint64_t>(first_base);
    TASSIGN(first, first_address);
    Tile<TileType::Vec, float, 4, 32, BLayout::RowMajor, 4, 16, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> last;
    __ubuf__ float* last_base = tile.data();
    uint64_t last_address = reinterpret_cast<uint64_t>(last_base + 16);
    TASSIGN(last, last_address);
    wait_flag(PIPE_MTE3, PIPE_MTE2, (event_t) slot);
    TLOAD(tile, v1);
    set_flag(PIPE_MTE2, PIPE_V, (event_t) slot);
    wait_flag(PIPE_MTE2, PIPE_V, (event_t) slot);
    TMULS(first, first, scale);
    pipe_barrier(PIPE_V);
    TADDS(last, last, half_);
    set_flag(PIPE_V, PIPE_MTE3, (event_t) slot);
    wait_flag(PIPE_V, PIPE_MTE3, (event_t) slot);
    TSTORE(v3, tile);
    set_flag(PIPE_MTE3, PIPE_MTE2, (event_t) slot);
    int64_t next = (int64_t) ((uint64_t) slot + (uint64_t) c1);
    bool again = next == c3;
    int64_t slot_next = again ? c0 : next;
    int64_t further = (int64_t) ((uint64_t) offset + (uint64_t) c128);
    slot = slot_next;
    offset = further;
  }
  int64_t low = c0;
  int64_t high = c1;
  for (int64_t i = c0; i < n; i += c1) {
    int64_t sum = (int64_t) ((uint64_t) low + (uint64_t) high);
    int64_t low_next = high;
    int64_t high_next = sum;
    low = low_next;
    high = high_next;
  }
  int64_t rest = (int64_t) ((uint64_t) low % (uint64_t) c3);
  bool is_zero = rest == c0;
  Tile<TileType::Vec, float, 4, 32, BLayout::RowMajor, 4, 32, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> s0;
  TASSIGN(s0, at);
  Tile<TileType::Vec, float, 4, 32, BLayout::RowMajor, 4, 32, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> s1;
  TASSIGN(s1, at + rest * 512);
  Tile<TileType::Vec, float, 4, 32, BLayout::RowMajor, 4, 32, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> chosen;
  if (is_zero) {
    chosen = s0;
  } else {
    chosen = s1;
  }
  pto::Shape<1, 1, 1, 4, 32> v5_shape = pto::Shape<1, 1, 1, 4, 32>();
  pto::Stride<128, 128, 128, 32, 1> v5_stride = pto::Stride<128, 128, 128, 32, 1>();
  GlobalTensor<float, pto::Shape<1, 1, 1, 4, 32>, pto::Stride<128, 128, 128, 32, 1>, pto::Layout::ND> v5 = GlobalTensor<float, pto::Shape<1, 1, 1, 4, 32>, pto::Stride<128, 128, 128, 32, 1>, pto::Layout::ND>(to, v5_shape, v5_stride);
  wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
  wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID1);
  wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID2);
  pipe_barrier(PIPE_ALL);
  TADD(chosen, chosen, chosen);
  pipe_barrier(PIPE_ALL);
  TSTORE(v5, chosen);
  pipe_barrier(PIPE_ALL);
  return;
}
