"""The truth: types, expressions, relations and their properties, immutable and derived when they are built."""
