"""Plans as protobuf messages of the Substrait specification. The only part of the library that imports protobuf."""
