"""Random well-typed trees of the algebra, of every kind of node, for property tests."""
