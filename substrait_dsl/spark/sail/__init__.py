"""Sail: what it computes otherwise than Spark, as guards, and its errors."""
