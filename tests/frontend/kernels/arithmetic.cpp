AICORE void arithmetic(int8_t a, uint16_t b, int32_t c, uint32_t d, int64_t e, size_t f, bool g, float h) {
  int32_t promoted = a * b;
  unsigned mixed = c / d;
  int64_t wide = e % d;
  size_t widest = f >> c;
  bool less = c < d;
  bool same = c == 3 && g || !less;
  int8_t narrow = (int8_t) (c + 1000);
  uint64_t extended = (uint64_t) c;
  bool truth = e;
  int32_t chosen = c < 0 ? -c : +c;
  int32_t bits = ~c & 0xFF | 1 << 4 ^ c >> 1;
  int32_t big = 0xFFFFFFFF;
  int64_t huge = 5'000'000'000;
  float scaled = h * 2 - 0.5f;
  int32_t rounded = (int) scaled;
  int32_t both = uint8_t(c) + static_cast<short>(d);
}
