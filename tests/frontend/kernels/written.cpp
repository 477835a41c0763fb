// A kernel as people write it: names, aliases, constants of the file, event ids that are computed.
#include <pto/pto-inst.hpp>

namespace shop {
constexpr int32_t kRows = 32;
constexpr uint32_t kBytes = kRows * 2 * sizeof(half);
#define COLS 64
enum Flag { READY, DONE = 3 };
using Buffer = pto::Tile<pto::TileType::Vec, half, kRows, COLS>;
typedef pto::Shape<1, 1, 1, kRows, COLS> Box;
using View = pto::GlobalTensor<half, Box, pto::Stride<2048, 2048, 2048, COLS, 1>>;

__global__ __aicore__ void written(__gm__ half *__in__ x, __gm__ half *y, uint32_t count) {
  constexpr pto::Layout order = pto::Layout::ND;
  Buffer ping, pong;  // two slots
  TASSIGN(ping, 0x0);
  TASSIGN(pong, kBytes);
  auto first = block_idx * kRows;
  int turn = 1;
  set_flag(PIPE_MTE3, PIPE_MTE2, static_cast<event_t>(READY));
#pragma unroll
  for (uint32_t i = 0; i < count; ++i) {
    turn = i & 1;
    View in(x + first * COLS);
    pto::GlobalTensor<half, Box, pto::Stride<2048, 2048, 2048, COLS, 1>, order> out(y, Box(), pto::Stride<2048, 2048, 2048, COLS, 1>());
    wait_flag(PIPE_MTE3, PIPE_MTE2, turn);
    TLOAD(turn == 0 ? ping : pong, in);
    TCVT(ping, pong, pto::RoundMode::CAST_RINT);
    if (turn) TADDS(pong, pong, 1.5f);
    else if (count > 1)
      pipe_barrier(PIPE_V);
    TSTORE<Buffer, View, AtomicType::AtomicAdd>(out, pong);
    first += kRows;
  }
  wait_flag(PIPE_V, PIPE_MTE3, (event_t) DONE);
}
}  // namespace shop
