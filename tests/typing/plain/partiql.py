"""PartiQL's algebra: conditions that are of the algebra, and values that may be Python's own."""

from typing import assert_type

import substrait_dsl as sd
from substrait_dsl import partiql as pq

foo = pq.scan(pq.table("foo", sd.read_named("foo", {"a": "i64?", "b": "boolean?"})), as_="f")
other = pq.scan([{"a": 1}], as_="g")

assert_type(foo.filter(lambda t: t.f.a == 1), pq.Bindings)
assert_type(foo.filter(lambda t: t.f.b & ~t.f.a.is_null() | (t.f.a > 5)), pq.Bindings)
foo.filter(lambda t: pq.lit(True))
foo.filter(pq.lit(None))
foo.join(other, lambda t: t.f.a == t.g.a, "left")
foo.join(other)
foo.map_values(lambda t: True)
foo.map_let(one=lambda t: 1, none=lambda t: None)
