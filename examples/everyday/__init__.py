"""Thirteen pipelines of everyday work, written with substrait_dsl."""
