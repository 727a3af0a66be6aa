"""substrait_dsl"""
