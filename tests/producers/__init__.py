"""Whole producers, live: their own plans, read here and run on Spark, against the rows that they give themselves."""
