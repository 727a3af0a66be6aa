"""PartiQL's algebra, no call of which is made while mypy checks: what its signatures say stands."""

import substrait_dsl as sd
from substrait_dsl import partiql as pq

foo = pq.scan(pq.table("foo", sd.read_named("foo", {"a": "i64?"})), as_="f")

foo.filter(lambda t: t.f.a == 1).map_values(lambda t: True)
foo.filter(lambda t: True)
# E: Argument 1 to "filter" of "Bindings" has incompatible type
#    "Callable[[substrait_dsl.partiql.value_builder.Tuple], bool]"; expected
#    "Callable[[substrait_dsl.partiql.value_builder.Tuple], Values] | Values"  [arg-type]
# E: Incompatible return value type (got "bool", expected "Values")  [return-value]
foo.join(foo, lambda t: t.f.a is None)
# E: Argument 2 to "join" of "Bindings" has incompatible type "Callable[[Any], bool]"; expected
#    "Callable[[substrait_dsl.partiql.value_builder.Tuple], Values] | Values | None"  [arg-type]
foo.filter(False)
# E: Argument 1 to "filter" of "Bindings" has incompatible type "bool"; expected
#    "Callable[[substrait_dsl.partiql.value_builder.Tuple], Values] | Values"  [arg-type]
