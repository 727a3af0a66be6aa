"""Mistakes with the algebra of PartiQL, each marked."""

import substrait_dsl as sd
from substrait_dsl import partiql as pq

foo = pq.scan(pq.table("foo", sd.read_named("foo", {"a": "i64?", "b": "boolean?"})), as_="f")
other = pq.scan([{"a": 1}], as_="g")

foo.filter(lambda t: True)  # E: no tuple decides it
foo.filter(lambda t: t.f.a is None)  # E: a bool of Python's
foo.filter(False)  # E: no tuple decides it
foo.join(other, lambda t: True, "left")  # E: no pair decides it
foo.join(other, True)  # E: no pair decides it
foo.map_values(lambda t: True).filter(lambda t: t)  # E: values have no verbs
