#include "pto/pto-inst.hpp"
using namespace pto;

enum class Tail : int {
  kBarrier = 0,
  kFlags = 1,
};

static AICORE inline void tail(Tail mode = Tail::kBarrier) {
  switch (mode) {
  case Tail::kFlags:
    set_flag(PIPE_MTE3, PIPE_S, EVENT_ID0);
    wait_flag(PIPE_MTE3, PIPE_S, EVENT_ID0);
    break;
  case Tail::kBarrier:
  default:
    pipe_barrier(PIPE_ALL);
    break;
  }
}

__global__ AICORE void printed(__gm__ half* v1, __gm__ float* v2, int32_t v3, bool v4) {
  unsigned v5 = 64;
  const int32_t v6 = 0;
  const int32_t v7 = 16;
  const int64_t v8 = 2048;
  using T = float;

  #if defined(__DAV_CUBE__)
  int64_t v9 = get_block_idx();
  Tile<TileType::Mat, half, 64, 16, BLayout::ColMajor, 64, 16, SLayout::RowMajor, 512, PadValue::Null, CompactMode::Null> v10;
  TASSIGN(v10, v8);
  Tile<TileType::Left, half, 64, 16, BLayout::RowMajor, 64, -1, SLayout::RowMajor, 512, PadValue::Null> v11 = Tile<TileType::Left, half, 64, 16, BLayout::RowMajor, 64, -1, SLayout::RowMajor, 512, PadValue::Null>(v3);
  __cbuf__ half* v12 = v10.data();
  uint64_t v13 = reinterpret_cast<uint64_t>((__cbuf__ half*) (v12 + v5));
  TASSIGN(v11, v13);
  for (size_t v14 = (size_t) ((int32_t) (int64_t) v9); v14 < ((size_t) v3); v14 += (size_t) v7) {
    int32_t v15 = (int32_t) v14;
    pto::Shape<1, 1, 1, 64, -1> v16 = pto::Shape<1, 1, 1, 64, -1>(v3);
    pto::Stride<-1, -1, -1, -1, 1> v17 = pto::Stride<-1, -1, -1, -1, 1>(v5, v5, v5, (unsigned) v3);
    GlobalTensor<half, pto::Shape<1, 1, 1, 64, -1>, pto::Stride<-1, -1, -1, -1, 1>, pto::Layout::DN> v18 = GlobalTensor<half, pto::Shape<1, 1, 1, 64, -1>, pto::Stride<-1, -1, -1, -1, 1>, pto::Layout::DN>(v1 + (v5 + (unsigned) v15 * (unsigned) v3), v16, v17);
    TLOAD(v10, v18);
    set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    if (v4) {
      wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
      TEXTRACT(v11, v10, v6, v7);
    } else {
      wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    };
  }
  #endif // __DAV_CUBE__

  tail(Tail::kBarrier);
  return;
}
