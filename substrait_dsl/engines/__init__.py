"""Engines beside Spark: what each takes, and how a plan is brought to that.

A profile (`profile.py`, ``profiles/*.yaml``) says what an engine takes; lowering (`lowering/`) makes of a plan one with
the same rows that holds nothing else, or refuses it by name.
"""
