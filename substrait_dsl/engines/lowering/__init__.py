"""Lowering: algebra to what an engine takes, by the same constructors that build what people write."""
