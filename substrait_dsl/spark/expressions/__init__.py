"""Expressions as Spark SQL text: types, literals, casts, functions, aggregates and windows."""
