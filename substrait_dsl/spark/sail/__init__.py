"""Sail: its deviations from Spark, as guards, and its errors."""
