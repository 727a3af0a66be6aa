"""The 22 queries of the TPC-H benchmark, written with substrait_dsl and in SQL."""
