// The PTO-ISA names that the C++ of syncopt uses, executed on host memory in program order. Whatever a core would get
// wrong in silence ends the run: a tile outside its memory or off its alignment, an access outside a buffer, an event id
// that does not exist, a flag that is left up.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <tuple>
#include <type_traits>
#include <vector>

#define __global__
#define AICORE
#define __gm__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__

using half = _Float16;

enum pipe_t { PIPE_S, PIPE_V, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_M, PIPE_ALL, PIPE_FIX };
enum event_t { EVENT_ID0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6, EVENT_ID7 };

namespace host {

[[noreturn]] inline void fail(const char* message, const char* name) {
  std::fprintf(stderr, "%s%s\n", message, name);
  std::exit(3);
}

inline void demand(bool holds, const char* message, const char* name = "") {
  if (!holds) fail(message, name);
}

struct Memory {
  const char* name;
  int64_t bytes;
  int64_t alignment;
  std::vector<unsigned char> data;
};

struct Core {
  int64_t block_idx = 0;
  int64_t block_num = 1;
  std::map<std::tuple<int, int, int>, int> flags;
  std::array<Memory, 7> memories = {{{"vec", 196608, 32, {}},
                                     {"mat", 524288, 32, {}},
                                     {"left", 65536, 512, {}},
                                     {"right", 65536, 512, {}},
                                     {"acc", 131072, 512, {}},
                                     {"bias", 1024, 64, {}},
                                     {"scaling", 7168, 128, {}}}};
};

inline Core core;
inline std::vector<std::pair<const unsigned char*, int64_t>> buffers;

// Bytes that a kernel may touch through a pointer argument.
inline void lend(const void* start, int64_t bytes) {
  buffers.emplace_back(static_cast<const unsigned char*>(start), bytes);
}

inline void demand_lent(const void* start, int64_t bytes) {
  const auto* first = static_cast<const unsigned char*>(start);
  for (const auto& [buffer, size] : buffers)
    if (first >= buffer && first + bytes <= buffer + size) return;
  fail("an access outside the buffers of ", "global memory");
}

// Runs a kernel on every core in turn; nothing of what one core left on chip is there for the next.
template <typename Kernel>
void launch(int64_t cores, Kernel kernel) {
  for (int64_t index = 0; index < cores; ++index) {
    core = Core();
    core.block_idx = index;
    core.block_num = cores;
    for (auto& memory : core.memories) memory.data.assign(memory.bytes, 0xFF);
    kernel();
    for (const auto& [flag, up] : core.flags) demand(up == 0, "a flag is not waited for as often as it is set");
  }
}

}  // namespace host

inline void note_flag(pipe_t source, pipe_t target, event_t event, int change) {
  host::demand(event >= EVENT_ID0 && event <= EVENT_ID7, "an event id that does not exist");
  host::demand(source != PIPE_ALL && target != PIPE_ALL && source != target, "no flag between these pipes");
  host::core.flags[{source, target, event}] += change;
}

inline void set_flag(pipe_t source, pipe_t target, event_t event) { note_flag(source, target, event, 1); }
inline void wait_flag(pipe_t source, pipe_t target, event_t event) { note_flag(source, target, event, -1); }
inline void pipe_barrier(pipe_t) {}
inline void set_mask_norm() {}
inline void set_vector_mask(int64_t, int64_t) {}
inline int64_t get_block_idx() { return host::core.block_idx; }
inline int64_t get_block_num() { return host::core.block_num; }
inline int64_t get_subblockid() { return 0; }
inline int64_t get_subblockdim() { return 1; }

namespace pto {

enum class TileType { Vec, Mat, Left, Right, Acc, Bias, Scaling };
enum class BLayout { RowMajor, ColMajor };
enum class SLayout { NoneBox, RowMajor, ColMajor };
enum class PadValue { Null, Zero, Max, Min };
enum class CompactMode { Null, Normal, RowPlusOne };
enum class Layout { ND, DN, NZ };

// The entries that are -1 come from the constructor, in order.
template <int64_t... Entries>
struct Five {
  static_assert(sizeof...(Entries) == 5);
  std::array<int64_t, 5> at = {Entries...};

  template <typename... Numbers>
  explicit Five(Numbers... numbers) {
    static_assert(sizeof...(Numbers) == ((Entries == -1) + ...), "one number for each entry that is open");
    const std::array<int64_t, sizeof...(Numbers)> given = {static_cast<int64_t>(numbers)...};
    size_t next = 0;
    for (auto& entry : at)
      if (entry == -1) entry = given[next++];
  }
};

template <int64_t... Entries>
struct Shape : Five<Entries...> {
  using Five<Entries...>::Five;
};

template <int64_t... Entries>
struct Stride : Five<Entries...> {
  using Five<Entries...>::Five;
};

template <typename Element, typename ShapeType, typename StrideType, Layout LayoutValue>
struct GlobalTensor {
  using DType = Element;
  Element* start;
  ShapeType shape;
  StrideType stride;

  GlobalTensor(Element* pointer, ShapeType sizes, StrideType steps) : start(pointer), shape(sizes), stride(steps) {
    constexpr size_t contiguous = LayoutValue == Layout::ND ? 4 : 3;
    host::demand(stride.at[contiguous] == 1 || shape.at[contiguous] == 1, "a layout against its strides");
  }

  int64_t rows() const { return shape.at[0] * shape.at[1] * shape.at[2] * shape.at[3]; }
  int64_t cols() const { return shape.at[4]; }

  Element& element(int64_t row, int64_t col) {
    int64_t offset = col * stride.at[4];
    for (int dim = 3; dim >= 0; --dim) {
      offset += row % shape.at[dim] * stride.at[dim];
      row /= shape.at[dim];
    }
    host::demand_lent(start + offset, sizeof(Element));
    return start[offset];
  }
};

template <TileType Type, typename Element, int Rows, int Cols, BLayout Outer, int ValidRows, int ValidCols,
          SLayout Inner, int Fractal, PadValue Pad, CompactMode Compact>
struct Tile {
  using DType = Element;
  static constexpr TileType type = Type;
  static constexpr int64_t bytes = int64_t{Rows} * Cols * sizeof(Element);
  static constexpr int inner_rows = Inner == SLayout::NoneBox    ? 1
                                    : Fractal == 1024            ? 16
                                    : Inner == SLayout::RowMajor ? 16
                                                                 : 32 / int{sizeof(Element)};
  static constexpr int inner_cols = Inner == SLayout::NoneBox    ? 1
                                    : Fractal == 1024            ? 16
                                    : Inner == SLayout::ColMajor ? 16
                                                                 : 32 / int{sizeof(Element)};
  static_assert(ValidRows == -1 || (ValidRows > 0 && ValidRows <= Rows));
  static_assert(ValidCols == -1 || (ValidCols > 0 && ValidCols <= Cols));
  static_assert(Rows % inner_rows == 0 && Cols % inner_cols == 0);

  Element* start = nullptr;
  int64_t valid_rows = ValidRows;
  int64_t valid_cols = ValidCols;

  Tile() = default;
  explicit Tile(unsigned size) {
    static_assert((ValidRows == -1) != (ValidCols == -1));
    (ValidRows == -1 ? valid_rows : valid_cols) = size;
  }
  Tile(unsigned rows, unsigned cols) : valid_rows(rows), valid_cols(cols) {
    static_assert(ValidRows == -1 && ValidCols == -1);
  }

  Element* data() { return start; }
  unsigned GetValidRow() const { return static_cast<unsigned>(valid_rows); }
  unsigned GetValidCol() const { return static_cast<unsigned>(valid_cols); }

  Element& element(int64_t row, int64_t col) {
    host::demand(valid_rows >= 0 && valid_cols >= 0, "a tile without its valid size");
    const int64_t outer_row = row / inner_rows, outer_col = col / inner_cols;
    const int64_t outer = Outer == BLayout::RowMajor ? outer_row * (Cols / inner_cols) + outer_col
                                                     : outer_col * (Rows / inner_rows) + outer_row;
    const int64_t in_row = row % inner_rows, in_col = col % inner_cols;
    const int64_t inner = Inner == SLayout::ColMajor ? in_col * inner_rows + in_row : in_row * inner_cols + in_col;
    return at(outer * inner_rows * inner_cols + inner);
  }

  Element& at(int64_t offset) {
    const auto& memory = host::core.memories[static_cast<int>(Type)];
    host::demand(start != nullptr, "a tile without an address");
    const auto* byte = reinterpret_cast<const unsigned char*>(start + offset);
    const auto* first = memory.data.data();
    host::demand(byte >= first && byte + sizeof(Element) <= first + memory.bytes,
                 "an access outside ", memory.name);
    return start[offset];
  }

  void SetValue(uint32_t offset, Element value) { at(offset) = value; }
};

// An address is an offset in the tile's memory, or points there.
template <typename TileData, typename Address>
void TASSIGN(TileData& tile, Address address) {
  static_assert(std::is_integral_v<Address>);
  auto& memory = host::core.memories[static_cast<int>(TileData::type)];
  const auto first = reinterpret_cast<uint64_t>(memory.data.data()), given = static_cast<uint64_t>(address);
  const bool points = given >= first && given < first + memory.bytes;
  const auto offset = static_cast<int64_t>(points ? given - first : given);
  host::demand(offset >= 0 && (points || offset + TileData::bytes <= memory.bytes), "a tile outside ", memory.name);
  host::demand(offset % (points ? int64_t{sizeof(typename TileData::DType)} : memory.alignment) == 0,
               "a tile off the alignment of ", memory.name);
  tile.start = reinterpret_cast<typename TileData::DType*>(memory.data.data() + offset);
}

template <typename A, typename B>
void same_size(const A& a, const B& b) {
  host::demand(a.valid_rows == b.valid_rows && a.valid_cols == b.valid_cols, "tiles of two sizes");
}

template <typename TileData, typename Apply>
void each(TileData& tile, Apply apply) {
  for (int64_t row = 0; row < tile.valid_rows; ++row)
    for (int64_t col = 0; col < tile.valid_cols; ++col) apply(row, col);
}

template <typename TileData, typename Global>
void TLOAD(TileData& dst, Global& src) {
  host::demand(src.rows() == dst.valid_rows && src.cols() == dst.valid_cols, "a load of another size than its tile");
  each(dst, [&](int64_t row, int64_t col) { dst.element(row, col) = src.element(row, col); });
}

template <typename TileData, typename Global>
void TSTORE(Global& dst, TileData& src) {
  host::demand(dst.rows() == src.valid_rows && dst.cols() == src.valid_cols, "a store of another size than its tile");
  each(src, [&](int64_t row, int64_t col) {
    dst.element(row, col) = static_cast<typename Global::DType>(src.element(row, col));
  });
}

template <typename Dst, typename Src>
void TEXTRACT(Dst& dst, Src& src, uint16_t first_row, uint16_t first_col) {
  each(dst, [&](int64_t row, int64_t col) { dst.element(row, col) = src.element(first_row + row, first_col + col); });
}

template <typename Dst, typename Src>
void TMOV(Dst& dst, Src& src) {
  TEXTRACT(dst, src, 0, 0);
}

template <typename Number, typename TileData>
std::vector<Number> row_by_row(TileData& tile) {
  std::vector<Number> found;
  each(tile, [&](int64_t row, int64_t col) { found.push_back(Number(tile.element(row, col))); });
  return found;
}

template <typename Acc, typename Left, typename Right>
void TMATMUL_ACC(Acc& dst, Acc& acc, Left& left, Right& right) {
  using Sum = typename Acc::DType;
  host::demand(left.valid_cols == right.valid_rows, "a product of two inner sizes");
  host::demand(acc.valid_rows == left.valid_rows && acc.valid_cols == right.valid_cols, "a product of another size");
  const auto a = row_by_row<Sum>(left), b = row_by_row<Sum>(right);
  const int64_t inner = left.valid_cols, cols = right.valid_cols;
  std::vector<Sum> sums(cols);
  for (int64_t row = 0; row < left.valid_rows; ++row) {
    for (int64_t col = 0; col < cols; ++col) sums[col] = acc.element(row, col);
    for (int64_t k = 0; k < inner; ++k)
      for (int64_t col = 0; col < cols; ++col) sums[col] += a[row * inner + k] * b[k * cols + col];
    for (int64_t col = 0; col < cols; ++col) dst.element(row, col) = sums[col];
  }
}

template <typename Acc, typename Left, typename Right>
void TMATMUL(Acc& dst, Left& left, Right& right) {
  each(dst, [&](int64_t row, int64_t col) { dst.element(row, col) = 0; });
  TMATMUL_ACC(dst, dst, left, right);
}

#define UNARY(NAME, EXPRESSION)                                \
  template <typename Dst, typename Src>                        \
  void NAME(Dst& dst, Src& src) {                              \
    same_size(dst, src);                                       \
    each(dst, [&](int64_t row, int64_t col) {                  \
      const auto a = src.element(row, col);                    \
      dst.element(row, col) = EXPRESSION;                      \
    });                                                        \
  }
UNARY(TEXP, std::exp(a))
UNARY(TRELU, a > 0 ? a : 0)

#define BINARY(NAME, EXPRESSION)                                              \
  template <typename Dst, typename Left, typename Right>                      \
  void NAME(Dst& dst, Left& left, Right& right) {                             \
    same_size(dst, left);                                                     \
    same_size(dst, right);                                                    \
    each(dst, [&](int64_t row, int64_t col) {                                 \
      const auto a = left.element(row, col), b = right.element(row, col);     \
      dst.element(row, col) = EXPRESSION;                                     \
    });                                                                       \
  }
BINARY(TADD, a + b)
BINARY(TMUL, a * b)

#define WITH_SCALAR(NAME, EXPRESSION)                                        \
  template <typename Dst, typename Src>                                      \
  void NAME(Dst& dst, Src& src, typename Src::DType b) {                     \
    same_size(dst, src);                                                     \
    each(dst, [&](int64_t row, int64_t col) {                                \
      const auto a = src.element(row, col);                                  \
      dst.element(row, col) = EXPRESSION;                                    \
    });                                                                      \
  }
WITH_SCALAR(TADDS, a + b)
WITH_SCALAR(TMULS, a * b)

template <typename Dst, typename Src, typename Combine>
void reduce_rows(Dst& dst, Src& src, Combine combine) {
  host::demand(dst.valid_rows == src.valid_rows && dst.valid_cols == 1, "a reduction to another size");
  for (int64_t row = 0; row < src.valid_rows; ++row) {
    auto result = src.element(row, 0);
    for (int64_t col = 1; col < src.valid_cols; ++col) result = combine(result, src.element(row, col));
    dst.element(row, 0) = result;
  }
}

template <typename Dst, typename Src, typename Scratch>
void TROWSUM(Dst& dst, Src& src, Scratch&) {
  reduce_rows(dst, src, [](auto a, auto b) { return a + b; });
}

template <typename Dst, typename Src, typename Scratch>
void TROWMAX(Dst& dst, Src& src, Scratch&) {
  reduce_rows(dst, src, [](auto a, auto b) { return a > b ? a : b; });
}

#define WITH_COLUMN(NAME, EXPRESSION)                                         \
  template <typename Dst, typename Src, typename Column>                      \
  void NAME(Dst& dst, Src& src, Column& column) {                             \
    same_size(dst, src);                                                      \
    host::demand(column.valid_rows == src.valid_rows, "a column of another size"); \
    each(dst, [&](int64_t row, int64_t col) {                                 \
      const auto a = src.element(row, col), b = column.element(row, 0);       \
      dst.element(row, col) = EXPRESSION;                                     \
    });                                                                       \
  }
WITH_COLUMN(TROWEXPANDSUB, a - b)
WITH_COLUMN(TROWEXPANDDIV, a / b)

}  // namespace pto
