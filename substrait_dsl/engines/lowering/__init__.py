"""Lowering of the algebra to the relations and functions of an engine."""
