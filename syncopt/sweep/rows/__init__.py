"""What came of a sweep: rows, the file that holds them, and what is made of them."""
