AICORE void arrays(int n) {
  using Slot = Tile<TileType::Vec, half, 8, 16>;
  Slot ring[3], fixed[1];
  TASSIGN(ring[0], 0);
  TASSIGN(ring[1], 256);
  TASSIGN(ring[2], 512);
  for (int i = 0; i < n; ++i) {
    [[likely]] TADD(ring[i % 3], fixed[0], ring[1]);
  }
  TASSIGN(ring[1], 1024);
  TABS(ring[1], ring[0]);
}
