"""The nodes of the algebra: what they refuse when they are built, their free variables, walking and replacing."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from substrait_dsl import partiql
from substrait_dsl.errors import (
    InvalidArgumentError,
    InvalidChoiceError,
    SchemaError,
    SubstraitDslError,
    TypeMismatchError,
    UnsupportedError,
)
from substrait_dsl.partiql import (
    MISSING,
    Bag,
    BindingTuple,
    Call,
    CrossJoin,
    Filter,
    GroupBy,
    Id,
    Join,
    Limit,
    ListExpr,
    MapLet,
    MapValues,
    Measure,
    Named,
    Node,
    Operator,
    OrderBy,
    Path,
    Pivot,
    Scan,
    SortKey,
    Struct,
    StructExpr,
    Table,
    Unpivot,
    bag,
    parse,
    parse_bindings,
    transform,
    walk,
)
from tests.partiql.trees import BINDINGS_CLASSES, VALUE_CLASSES, nodes
from tests.support import refused

# To a type checker these are anything: the tests call nodes wrongly on purpose, and with plain Python objects.
Lit: Any = partiql.Lit
X: Any = Id("x")
F: Any = Scan(X, "f")
G: Any = Scan(X, "g")
TRUE: Any = Lit(True)
GIVEN: Any = 5

TAKEN_FOR_ONE_ANOTHER: dict[str, tuple[Callable[[], Node], tuple[str, ...]]] = {
    "scan of bindings": (lambda: Scan(F, "g"), ("scan: value", "a value expression", "a scan", "map_values makes")),
    "unpivot of bindings": (lambda: Unpivot(F, "g"), ("unpivot: value", "a value expression")),
    "cross_join of a value, left": (lambda: CrossJoin(X, F), ("cross_join: left", "a bindings expression", "an id")),
    "cross_join of a value, right": (lambda: CrossJoin(F, X), ("cross_join: right", "scan makes bindings")),
    "filter of a value": (lambda: Filter(TRUE, X), ("filter: source", "a bindings expression", "(id x)")),
    "filter by bindings": (lambda: Filter(F, F), ("filter: condition", "a value expression", "(scan (id x) f")),
    "map_values of a value": (lambda: MapValues(X, X), ("map_values: source", "a bindings expression")),
    "map_values to bindings": (lambda: MapValues(F, F), ("map_values: value", "a value expression")),
    "map_values as bindings": (lambda: Filter(TRUE, MapValues(X, F)), ("filter: source", "a map values")),  # type: ignore[arg-type]
    "join of a value": (lambda: Join("inner", F, X), ("join: right", "a bindings expression")),
    "join on bindings": (lambda: Join("inner", F, G, F), ("join: condition", "a value expression")),
    "limit of a value": (lambda: Limit(Lit(1), X), ("limit: source", "a bindings expression")),
    "limit by bindings": (lambda: Limit(F, F), ("limit: count", "a value expression")),
    "an operand": (lambda: Operator("eq", (X, F)), ("each of operands", "a value expression", "a scan")),
    "an argument": (lambda: Call("upper", (F,)), ("call: each of arguments", "a value expression")),
    "a step": (lambda: Path(X, (F,)), ("path: each of steps", "a value expression")),
    "an item": (lambda: ListExpr((F,)), ("list: each of items", "a value expression")),
    "a key": (lambda: OrderBy((X,), F), ("order_by: each of keys is a key, `((id f) asc)`", "an id")),
    "a pair": (lambda: StructExpr((X,)), ("struct: each of pairs is `(expr_pair ..)`", "an id")),
    "a Python value": (lambda: Operator("eq", (X, GIVEN)), ("each of operands", "got 5")),
    "a name": (lambda: Filter("p", F), ("filter: condition", "a value expression", "got 'p'")),  # type: ignore[arg-type]
}


@pytest.mark.parametrize(("build", "said"), TAKEN_FOR_ONE_ANOTHER.values(), ids=TAKEN_FOR_ONE_ANOTHER)
def test_bindings_are_no_values_and_values_no_bindings(build: Callable[[], Node], said: tuple[str, ...]) -> None:
    with refused(TypeMismatchError, *said):
        build()
    assert issubclass(TypeMismatchError, TypeError)


DUPLICATES: dict[str, Callable[[], object]] = {
    "a binding tuple": lambda: BindingTuple((("f", 1), ("f", 1))),
    "as and at of scan": lambda: Scan(X, "f", "f"),
    "as and by of scan": lambda: Scan(X, "f", None, "f"),
    "at and by of scan": lambda: Scan(X, "e", "f", "f"),
    "as and at of unpivot": lambda: Unpivot(X, "f", "f"),
    "cross_join": lambda: CrossJoin(F, F),
    "cross_join of at and as": lambda: CrossJoin(Scan(X, "e", "f"), F),
    "cross_join of three": lambda: CrossJoin(CrossJoin(F, G), Filter(TRUE, F)),
    "join": lambda: Join("left", F, F),
    "map_let, of old and new": lambda: MapLet((Named("f", X),), F),
    "map_let, of new": lambda: MapLet((Named("f", X), Named("f", X)), G),
    "group_by, of keys": lambda: GroupBy((Named("f", X), Named("f", X)), (), None, F),
    "group_by, of key and measure": lambda: GroupBy((Named("f", X),), (Measure("f", "count", X),), None, F),
    "group_by, of key and group": lambda: GroupBy((Named("f", X),), (), "f", F),
}


@pytest.mark.parametrize("build", DUPLICATES.values(), ids=DUPLICATES)
def test_names_are_distinct_when_a_node_is_built(build: Callable[[], object]) -> None:
    with refused(SchemaError, 'the name "f" more than once'):
        build()


def test_a_name_may_come_again_where_it_is_no_longer_bound() -> None:
    assert Scan(MapValues(Id("f"), F), "f").variables == ("f",)
    assert GroupBy((Named("f", Id("f")),), (), None, F).variables == ("f",)


WRONG: dict[str, tuple[Callable[[], object], type[SubstraitDslError], tuple[str, ...]]] = {
    "operands": (lambda: Operator("eq", (X,)), InvalidArgumentError, ("eq takes 2 operands, got 1",)),
    "operands, at least": (lambda: Operator("and", (X,)), InvalidArgumentError, ("at least 2", "got 1")),
    "arguments": (lambda: Call("upper", ()), InvalidArgumentError, ("call: upper takes 1 argument, got 0",)),
    "operator": (lambda: Operator("equ", (X, X)), InvalidChoiceError, ("'equ'", 'did you mean "eq"?')),
    "function": (lambda: Call("struct_conact", (X,)), InvalidChoiceError, ('did you mean "struct_concat"?',)),
    "steps": (lambda: Path(X, ()), InvalidArgumentError, ("path: it has no step",)),
    "keys": (lambda: OrderBy((), F), InvalidArgumentError, ("order_by: it has no key",)),
    "nothing": (lambda: GroupBy((), (), None, F), InvalidArgumentError, ("group_by", "no key")),
    "join": (lambda: Join(GIVEN, F, G), InvalidChoiceError, ("join: unknown kind of join 5", '"inner"')),
    "outer": (lambda: Join("outer", F, G), InvalidChoiceError, ("'outer'", 'write "left", "right" or "full"')),  # type: ignore[arg-type]
    "last": (lambda: SortKey(X, "asc", "last"), InvalidChoiceError, ("place of nulls 'last'", 'write "nulls_last"')),  # type: ignore[arg-type]
    "direction": (lambda: SortKey(X, "up"), InvalidChoiceError, ("direction", '"asc"')),  # type: ignore[arg-type]
    "nulls": (lambda: SortKey(X, "asc", "nulls_frist"), InvalidChoiceError, ('did you mean "nulls_first"?',)),  # type: ignore[arg-type]
    "aggregate": (lambda: Measure("n", "median", X), InvalidChoiceError, ("unknown aggregate 'median'",)),  # type: ignore[arg-type]
    "as": (lambda: Scan(X, GIVEN), InvalidArgumentError, ("scan: as is a name, got 5",)),
    "no as": (lambda: Scan(X, None), InvalidArgumentError, ("scan: as is a name, got None",)),  # type: ignore[arg-type]
    "at": (lambda: Scan(X, "f", GIVEN), InvalidArgumentError, ("scan: at is a name or None, got 5",)),
    "id": (lambda: Id(GIVEN), InvalidArgumentError, ("id: name is a name, got 5",)),
    "a list": (lambda: ListExpr([X]), InvalidArgumentError, ("list: items is a tuple, got [",)),  # type: ignore[arg-type]
    "a set": (lambda: Lit({1}), InvalidArgumentError, ("got {1}", "partiql.bag([...])")),
    "a set inside": (lambda: bag([[{1}]]), InvalidArgumentError, ("got {1}",)),
    "an attribute": (lambda: Lit({1: 2}), InvalidArgumentError, ("names of attributes are texts, got 1",)),
    "a struct": (lambda: Lit(Struct(((GIVEN, 2),))), InvalidArgumentError, ("names of attributes are texts, got 5",)),
    "a decimal": (lambda: Lit(Decimal("nan")), InvalidArgumentError, ("a decimal is finite, got NaN", 'float("NaN")')),
    "too many ids": (lambda: Table(bag([1]), ("a", "b")), InvalidArgumentError, ("1 elements", "2 record ids")),
    "too few ids": (lambda: Table((1, 2), ("a",)), InvalidArgumentError, ("2 elements", "1 record ids")),
    "no id": (lambda: Table(42, ()), InvalidArgumentError, ("1 elements", "0 record ids")),
}


@pytest.mark.parametrize(("build", "error", "said"), WRONG.values(), ids=WRONG)
def test_what_is_refused_when_built(
    build: Callable[[], object], error: type[SubstraitDslError], said: tuple[str, ...]
) -> None:
    with refused(error, *said):
        build()


@pytest.mark.parametrize("how", ["right", "full"])
def test_the_right_side_of_a_join_that_keeps_it_sees_no_left_tuple(how: Any) -> None:
    lateral = Scan(Id("f"), "g")
    with refused(SchemaError, f'the right side of a {how} join cannot refer to the left side\'s "f"'):
        Join(how, F, lateral)
    assert Join("inner", F, lateral).free == Join("left", F, lateral).free == {"x"}


def test_nulls_come_last_in_ascending_order_and_first_in_descending() -> None:
    assert (SortKey(X).direction, SortKey(X).nulls) == ("asc", "nulls_last")
    assert SortKey(X, "desc").nulls == "nulls_first"
    assert SortKey(X, "desc", "nulls_last").nulls == "nulls_last"


@pytest.mark.parametrize(
    ("text", "free"),
    [
        ("(id f)", {"f"}),
        ("(lit f)", set()),
        ("(path (id f) (id i))", {"f", "i"}),
        ("(scan (id t) f i u)", {"t"}),
        ("(scan (id f) f)", {"f"}),  # a scan's name is not bound in what it scans
        ("(map_values (plus (id f) (id y)) (scan (id t) f))", {"t", "y"}),
        ("(filter (id f) (scan (id t) f))", {"t"}),
        ("(cross_join (scan (id t) f) (scan (path (id f) (lit items)) g))", {"t"}),
        ("(cross_join (scan (id g) f) (scan (id t) g))", {"g", "t"}),  # the left side does not see the right
        ("(join inner (scan (id t) f) (scan (id u) g) (eq (id f) (id h)))", {"t", "u", "h"}),
        ("(limit (id f) (scan (id t) f))", {"t", "f"}),  # a limit is no part of any tuple
        ("(offset (id f) (scan (id t) f))", {"t", "f"}),
        ("(order_by (((id f)) ((id g))) (scan (id t) f))", {"t", "g"}),
        ("(map_let ((g (id f)) (h (id g))) (scan (id t) f))", {"t", "g"}),  # new variables do not see one another
        ("(group_by ((k (id f))) ((n sum (id h))) g (scan (id t) f))", {"t", "h"}),
        ("(map_values (id f) (group_by ((k (id f))) () null (scan (id t) f)))", {"t", "f"}),
        ("(pivot (id k) (id v) (unpivot (id s) v k))", {"s"}),
    ],
)
def test_free_variables(text: str, free: set[str]) -> None:
    assert parse(text).free == free


@pytest.mark.parametrize(
    ("text", "variables"),
    [
        ("(scan (id t) f i u)", ("f", "i", "u")),
        ("(unpivot (id t) v k)", ("v", "k")),
        ("(cross_join (scan (id t) b c) (scan (id t) a))", ("b", "c", "a")),
        ("(join full (scan (id t) b) (scan (id t) a))", ("b", "a")),
        ("(order_by (((id f))) (limit (lit 1) (offset (lit 1) (filter (lit true) (scan (id t) f)))))", ("f",)),
        ("(map_let ((b (id f)) (a (id f))) (scan (id t) f))", ("f", "b", "a")),
        ("(group_by ((b (id f))) ((a count (id f))) g (scan (id t) f))", ("b", "a", "g")),
    ],
)
def test_variables(text: str, variables: tuple[str, ...]) -> None:
    assert parse_bindings(text).variables == variables


def test_walk_goes_from_outside_to_inside_in_the_written_order() -> None:
    tree = parse("(filter (eq (id f) (lit 1)) (group_by ((k (id g))) ((n sum (id h))) null (scan (id t) g)))")
    assert [node.head or type(node).__name__ for node in walk(tree)] == [
        *("filter", "Operator", "id", "lit", "group_by", "Named", "id", "Measure", "id", "scan", "id"),
    ]


def test_transform_replaces_inner_nodes_first() -> None:
    def renamed(node: Node) -> Node:
        return Id(f"{node.name}2") if isinstance(node, Id) else node

    tree = parse("(map_values (call upper (id f)) (order_by (((id f) desc)) (scan (id t) f)))")
    changed = parse("(map_values (call upper (id f2)) (order_by (((id f2) desc)) (scan (id t2) f)))")
    assert transform(tree, renamed) == changed
    assert transform(tree, lambda node: node) == tree


def test_transform_cannot_put_bindings_where_a_value_belongs() -> None:
    with refused(TypeMismatchError, "map_values: value is a value expression, got a scan"):
        transform(parse("(map_values (id f) (scan (lit 1) f))"), lambda node: F if isinstance(node, Id) else node)


@settings(max_examples=60)
@given(st.sampled_from(VALUE_CLASSES + BINDINGS_CLASSES).flatmap(nodes))
def test_a_tree_that_is_not_changed_is_equal(tree: Node) -> None:
    same = transform(tree, lambda node: node)
    assert same == tree
    assert hash(same) == hash(tree)
    assert (same.free, same.levels) == (tree.free, tree.levels)
    assert all(child.levels < node.levels for node in walk(tree) for child in node.children())


def test_literals_are_equal_only_if_they_are_the_same() -> None:
    literals = [
        *(Lit(1), Lit(True), Lit(1.0), Lit(Decimal(1)), Lit(Decimal("1.0")), Lit("1"), Lit(b"1"), Lit(None)),
        *(Lit(MISSING), Lit(0), Lit(0.0), Lit(-0.0), Lit(()), Lit(Bag()), Lit({})),
        *(Lit([1, 2]), Lit([2, 1]), Lit(bag([1, 2])), Lit({"a": 1, "b": 2}), Lit({"b": 2, "a": 1})),
    ]
    assert len(set(literals)) == len(literals)
    assert Lit(float("nan")) == Lit(float("nan"))
    assert Lit({"a": [1]}) == Lit(Struct((("a", (1,)),)))


def test_nodes_do_not_change() -> None:
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        F.as_ = "g"
    given = [1, 2]
    literal = Lit(given)
    given.append(3)
    assert literal == Lit((1, 2))


def test_nesting_has_a_limit() -> None:
    deep: Any = X
    for _ in range(127):
        deep = Operator("neg", (deep,))
    assert deep.levels == 128
    with refused(UnsupportedError, "nested more than 128 levels deep"):
        Operator("neg", (deep,))
    data: Any = 1
    for _ in range(127):
        data = [data]
    assert Lit(data).levels == 128
    for too_deep in ([data], bag([data]), {"a": [data]}):
        with refused(UnsupportedError, "nested more than 128 levels deep"):
            Lit(too_deep)
    for _ in range(10_000):
        data = [data]
    with refused(UnsupportedError, "nested more than 128 levels deep"):
        Lit(data)


def test_values_of_nodes_are_made_of_plain_python_objects() -> None:
    assert Lit({"a": [1, {"b": None}]}).value == Struct((("a", (1, Struct((("b", None),)))),))
    assert bag([{"x": 1}]) == Bag((Struct((("x", 1),)),))
    assert Table([{"x": 1}], ["id"]).value == (Struct((("x", 1),)),)


def test_pivot_binds_the_variables_of_its_source() -> None:
    assert Pivot(Id("k"), Id("v"), Unpivot(X, "v", "k")).free == {"x"}
