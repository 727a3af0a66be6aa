"""Random data and random expressions of PartiQL's algebra, for tests that hold for all of them.

How a node is made is derived from the forms of its fields, so a class that is added later is drawn, too.
"""

from __future__ import annotations

import datetime as dt
from typing import Any, get_args

from hypothesis import strategies as st

from substrait_dsl.partiql.bindings import AnyBindingsExpr
from substrait_dsl.partiql.expressions import AnyValueExpr, Call, ExprPair, Id, Lit, Operator, Path
from substrait_dsl.partiql.node import Form, Node, class_of, fields_of, form_of, words_of
from substrait_dsl.partiql.operations import FUNCTIONS, OPERATORS, Operation
from substrait_dsl.partiql.values import MISSING, Bag, BindingsData, BindingTuple, Struct

VALUE_CLASSES: tuple[type[Node], ...] = get_args(AnyValueExpr)
BINDINGS_CLASSES: tuple[type[Node], ...] = get_args(AnyBindingsExpr)

names = st.one_of(
    st.sampled_from(["a", "FooId", "$b_1", "", "null", "true", "MISSING", "nan", "it's", 'say "x"', "two words", "1a"]),
    st.text(max_size=5),
)

_zones = st.integers(-23 * 60, 23 * 60).map(lambda minutes: dt.timezone(dt.timedelta(minutes=minutes)))

scalars = st.one_of(
    st.none(),
    st.just(MISSING),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.decimals(allow_nan=False, allow_infinity=False),
    names,
    st.binary(max_size=8),
    st.dates(),
    st.datetimes(),
    st.datetimes(timezones=_zones),
)


def _collections(inside: Any) -> Any:
    items = st.lists(inside, max_size=3).map(tuple)
    fields = st.lists(st.tuples(names, inside), max_size=3).map(tuple)  # names may repeat
    return st.one_of(items, st.builds(Bag, items), st.builds(Struct, fields))


values = st.recursive(scalars, _collections, max_leaves=6)

binding_tuples = st.builds(
    BindingTuple, st.lists(st.tuples(names, values), max_size=3, unique_by=lambda field: field[0]).map(tuple)
)
bindings_data = st.builds(
    BindingsData,
    st.sampled_from(["bag", "list"]),
    st.lists(binding_tuples, min_size=1, max_size=3).map(tuple),  # an empty collection is read as a value
)


@st.composite
def nodes(draw: st.DrawFn, kind: type[Node], depth: int = 2) -> Node:
    """A node of a class, nested so deep."""
    return _Drawing(draw).node(kind, depth)


class _Drawing:
    """Draws one tree, whose scans, keys and measures all have different names."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.taken: set[str] = set()

    def node(self, kind: type[Node], depth: int) -> Node:
        if kind is Id:
            return Id(f"table {self.draw(st.integers(0, 9))}")  # a name that nothing in the tree binds
        if kind is Operator:
            name = self.draw(st.sampled_from(sorted(OPERATORS)))
            return Operator(name, self.operands(OPERATORS[name], depth))
        if kind is Call:
            name = self.draw(st.sampled_from(sorted(FUNCTIONS)))
            return Call(name, self.operands(FUNCTIONS[name], depth))
        fewest = 1 if kind is Path else 0
        return kind(**{field.name: self.part(field, depth - 1, fewest) for field in fields_of(kind)})

    def part(self, field: Any, depth: int, fewest: int) -> Any:
        match form_of(field):
            case Form.VALUE if field.name == "count":  # of tuples
                return self.draw(st.one_of(st.builds(Lit, st.integers(0, 3)), st.just(Id("table 0"))))
            case Form.VALUE:
                return self.value(depth)
            case Form.MAYBE_VALUE:
                return self.maybe(lambda: self.value(depth))
            case Form.VALUES:
                return tuple(self.value(depth) for _ in range(self.draw(st.integers(fewest, 3))))
            case Form.BINDINGS:
                return self.bindings(depth)
            case Form.NAME:
                return self.name()
            case Form.MAYBE_NAME:
                return self.maybe(self.name)
            case Form.WORD:
                return self.draw(st.sampled_from(words_of(field).known))
            case Form.DATA:
                return self.draw(values)
            case Form.NODES | Form.REST:
                return tuple(self.node(class_of(field), depth) for _ in range(self.draw(st.integers(1, 2))))

    def maybe(self, make: Any) -> Any:
        return make() if self.draw(st.booleans()) else None

    def name(self) -> str:
        name = self.draw(names.filter(lambda name: name not in self.taken))
        self.taken.add(name)
        return name

    def value(self, depth: int) -> Node:
        return self.node(self.draw(st.sampled_from(VALUE_CLASSES if depth > 0 else (Id, Lit))), depth)

    def bindings(self, depth: int) -> Node:
        return self.node(self.draw(st.sampled_from(BINDINGS_CLASSES)) if depth > 0 else BINDINGS_CLASSES[0], depth)

    def operands(self, operation: Operation, depth: int) -> tuple[Any, ...]:
        most = operation.fewest + 2 if operation.most is None else operation.most
        return tuple(self.value(depth - 1) for _ in range(self.draw(st.integers(operation.fewest, most))))


CLASSES = (*VALUE_CLASSES, *BINDINGS_CLASSES, ExprPair)
"""All classes that have a head; the parts that have none are drawn inside them."""
