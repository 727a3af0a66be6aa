"""Twelve of the 99 queries of the TPC-DS benchmark, written with substrait_dsl."""
