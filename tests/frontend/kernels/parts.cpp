AICORE void parts(__gm__ float *x, int64_t row, int64_t rows) {
  using Whole = Tile<TileType::Vec, float, 16, 32>;
  using Part = Tile<TileType::Vec, float, 16, 32, BLayout::RowMajor, 4, 8>;
  using Open = Tile<TileType::Vec, float, 16, 32, BLayout::RowMajor, -1, 8>;
  using Column = Tile<TileType::Vec, float, 16, 8, BLayout::ColMajor, 16, 8>;
  using Boxed = Tile<TileType::Mat, half, 64, 32, BLayout::ColMajor, 64, 32, SLayout::RowMajor, 512>;
  Whole t;
  TASSIGN(t, 0);
  __ubuf__ float *base = t.data();
  Part first, at;
  TASSIGN(first, reinterpret_cast<uint64_t>(base));
  TASSIGN(at, reinterpret_cast<uint64_t>(base + row * 32 + 8));
  TABS(first, at);
  Open nested(rows);
  TASSIGN(nested, (uint64_t) (at.data() + 64));
  TABS(nested, nested);
  Whole same;
  TASSIGN(same, reinterpret_cast<uint64_t>(base));
  Column other;
  TASSIGN(other, reinterpret_cast<uint64_t>(base + 8));
  TABS(same, other);
  Boxed boxed, half_of;
  TASSIGN(boxed, 0);
  TASSIGN(half_of, reinterpret_cast<uint64_t>(boxed.data() + 1024));
  Tile<TileType::Left, half, 64, 32, BLayout::RowMajor, 64, 32, SLayout::RowMajor, 512, PadValue::Zero, CompactMode::Normal> left;
  TASSIGN(left, 0);
  TEXTRACT(left, half_of, 0, 0);
}
