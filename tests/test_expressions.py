"""Expressions: the type and the nullability of every kind, and what operators and functions build."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal as D
from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra.expressions import (
    Cast,
    EnumArgument,
    FieldAccess,
    FieldReference,
    FunctionOption,
    IfThen,
    ListElement,
    Literal,
    MapKey,
    MultiOrList,
    ScalarFunction,
    SingularOrList,
    StructField,
    Switch,
)
from substrait_dsl.algebra.expressions.literals import literal
from substrait_dsl.errors import (
    FunctionNotFoundError,
    InvalidArgumentError,
    InvalidChoiceError,
    LiteralError,
    TypeMismatchError,
    UnknownFieldError,
)
from tests.support import computed, f, refused, table, type_of

Row = Any
Make = Callable[[Row], Any]

# --- operators ---

OPERATORS: list[tuple[Make, str, str]] = [  # over i, n: i64 and i64?; what is built; its function and its type
    (lambda r: r.i + r.i, "add:i64_i64", "i64"),
    (lambda r: r.i - r.n, "subtract:i64_i64", "i64?"),
    (lambda r: r.i * 2, "multiply:i64_i64", "i64"),
    (lambda r: f.divide(r.i, 2), "divide:i64_i64", "i64"),
    (lambda r: r.i % 2, "modulus:i64_i64", "i64"),
    (lambda r: -r.n, "negate:i64", "i64?"),
    (lambda r: 1 + r.i, "add:i64_i64", "i64"),
    (lambda r: 1 - r.i, "subtract:i64_i64", "i64"),
    (lambda r: 2 * r.n, "multiply:i64_i64", "i64?"),
    (lambda r: r.i == r.n, "equal:any_any", "boolean?"),
    (lambda r: r.i != 1, "not_equal:any_any", "boolean"),
    (lambda r: r.i < 1, "lt:any_any", "boolean"),
    (lambda r: r.i <= 1, "lte:any_any", "boolean"),
    (lambda r: r.i > 1, "gt:any_any", "boolean"),
    (lambda r: r.i >= 1, "gte:any_any", "boolean"),
    (lambda r: 1 < r.i, "gt:any_any", "boolean"),  # noqa: SIM300  # Python turns it round
    (lambda r: 2**r.n, "power:i64_i64", "i64?"),
    (lambda r: r.p & r.q, "and:bool", "boolean?"),
    (lambda r: r.p | True, "or:bool", "boolean"),
    (lambda r: True & r.p, "and:bool", "boolean"),
    (lambda r: r.p ^ r.q, "xor:bool_bool", "boolean?"),
    (lambda r: ~r.q, "not:bool", "boolean?"),
    (lambda r: r.n.is_null(), "is_null:any", "boolean"),
    (lambda r: r.n.is_not_null(), "is_not_null:any", "boolean"),
    (lambda r: r.i.between(1, 5), "between:any_any_any", "boolean"),
    (lambda r: r.n.between(1, r.i), "between:any_any_any", "boolean?"),
]
LOGIC = "i: i64, n: i64?, p: boolean, q: boolean?"


@pytest.mark.parametrize(("make", "key", "kind"), OPERATORS)
def test_operators(make: Make, key: str, kind: str) -> None:
    call = computed(make, LOGIC)
    assert isinstance(call, ScalarFunction)
    assert (call.function.key, str(call.type)) == (key, kind)


TYPES = "b: i8, i: i32, f: fp32, g: fp64?, d: decimal<10,2>, e: decimal<5,1>?, s: string, v: varchar<9>, day: date"

DERIVED: list[tuple[Make, str]] = [
    # a Python value becomes a literal of the type beside it
    (lambda r: r.b + 1, "i8"),
    (lambda r: r.i + 1, "i32"),
    (lambda r: r.f + 1.5, "fp32"),
    (lambda r: r.g + 1, "fp64?"),
    # decimals, by the formulas of functions_arithmetic_decimal.yaml
    (lambda r: r.d + r.e, "decimal<11,2>?"),
    (lambda r: r.d * r.e, "decimal<16,3>?"),
    (lambda r: r.d / r.e, "decimal<21,8>?"),  # scale max(6, 2+5+1) = 8, precision 10-2+5+8 = 21 (spec decision 37)
    (lambda r: r.d * D("0.5"), "decimal<12,3>"),  # a value brings its own digits, decimal<1,1>: 10+1+1 and 2+1
    (lambda r: r.d * D("0.125"), "decimal<14,5>"),  # decimal<3,3>: 10+3+1 and 2+3
    # dates and intervals
    (lambda r: r.day + dt.timedelta(days=1), "precision_timestamp<6>"),
    (lambda r: r.day > dt.date(2020, 1, 1), "boolean"),
    (lambda r: f.extract("YEAR", r.day), "i64"),
    (lambda r: f.concat(r.s, "x"), "string"),
    (lambda r: r.s == "x", "boolean"),
]


@pytest.mark.parametrize(("make", "kind"), DERIVED)
def test_result_types(make: Make, kind: str) -> None:
    assert type_of(make, TYPES) == kind


def test_a_python_value_becomes_a_literal_of_the_type_beside_it() -> None:
    call = computed(lambda r: r.b + 1, TYPES)
    assert isinstance(call, ScalarFunction)
    assert call.arguments[1] == Literal(1, sd.I8())
    with refused(FunctionNotFoundError, "add(i8, 300)"):
        computed(lambda r: r.b + 300, TYPES)


def test_and_and_or_are_flattened() -> None:
    """One call of many arguments: a plan of a hundred conditions is not a hundred messages deep."""
    call = computed(lambda r: (r.i > 1) & (r.i > 2) & (r.i > 3) & (r.i > 4), LOGIC)
    assert isinstance(call, ScalarFunction)
    assert call.function.key == "and:bool"
    assert len(call.arguments) == 4
    mixed = computed(lambda r: (r.p & r.q) | r.p, LOGIC)
    assert isinstance(mixed, ScalarFunction)
    assert (mixed.function.name, len(mixed.arguments)) == ("or", 2)


# --- functions ---


def test_options_and_words_of_a_function() -> None:
    call = computed(lambda r: f.add(r.i, 1, overflow=["saturate", "ERROR"]), LOGIC)
    assert isinstance(call, ScalarFunction)
    assert call.options == (FunctionOption("overflow", ("SATURATE", "ERROR")),)
    word = computed(lambda r: f.extract("year", r.day), TYPES)
    assert isinstance(word, ScalarFunction)
    assert word.arguments[0] == EnumArgument("YEAR")


def test_calls_that_no_function_takes() -> None:
    with refused(FunctionNotFoundError, "add(i64, boolean)", "add(i64, i64) -> i64", "project"):
        computed(lambda r: r.i + r.p, LOGIC)
    with refused(FunctionNotFoundError, "equal(i32, string)"):
        computed(lambda r: r.i == r.s, TYPES)
    with refused(InvalidChoiceError, "option", "overflow", "'EROR'", 'did you mean "ERROR"'):
        computed(lambda r: f.add(r.i, 1, overflow="EROR"), LOGIC)
    with refused(InvalidChoiceError, "option", "'overfow'", 'did you mean "overflow"'):
        computed(lambda r: f.add(r.i, 1, overfow="ERROR"), LOGIC)
    with refused(FunctionNotFoundError, "extract('YAER', date)", "YEAR"):
        computed(lambda r: f.extract("YAER", r.day), TYPES)
    with pytest.raises(FunctionNotFoundError, match='did you mean "substring"'):
        f.substrin  # noqa: B018  # looking it up is what fails
    with pytest.raises(AttributeError):
        f.substrin  # noqa: B018


NESTED_VALUES: list[tuple[Make, object]] = [
    (lambda r: f.coalesce(r.l, []), []),
    (lambda r: f.nullif(r.l, [1, 2]), [1, 2]),
    (lambda r: f.coalesce(r.e, [None, 1]), [None, 1]),
    (lambda r: f.coalesce(r.m, {}), {}),
    (lambda r: r.s == (1, None), (1, None)),
    (lambda r: f.coalesce(r.s, (1, "x")), (1, "x")),
]


@pytest.mark.parametrize(("make", "value"), NESTED_VALUES)
def test_a_python_value_without_a_type_of_its_own_takes_that_of_another_operand(make: Make, value: object) -> None:
    columns = "l: list<i64>?, e: list<i64?>?, m: map<string, i64>?, s: struct<i64, string?>?"
    call = computed(make, columns)
    assert isinstance(call, ScalarFunction)
    column, other = call.arguments
    assert isinstance(column, FieldReference)
    assert other == literal(value, column.type.as_required())


def test_a_python_value_whose_type_nothing_says() -> None:
    with refused(FunctionNotFoundError, "cardinality([])", "say the type of []: lit([], type)"):
        computed(lambda r: f.cardinality([]), LOGIC)
    with refused(FunctionNotFoundError, "coalesce(list<i64>?, [None])", "NULL does not fit i64, which is required"):
        computed(lambda r: f.coalesce(r.l, [None]), "l: list<i64>?")
    with refused(FunctionNotFoundError, "add(i64, {})", "{} does not fit i64"):
        computed(lambda r: r.i + {}, LOGIC)


# --- parts of values ---

NESTED = (
    "s: struct<i64, string?>, o: struct<i64, struct<i64>>?, l: list<i64>, m: map<string, i64>, "
    "d: list<struct<i64>>, n: struct<list<struct<i64>>>"
)

PARTS: list[tuple[Make, str]] = [  # spec decision 24
    (lambda r: r.s[0], "i64"),
    (lambda r: r.s[1], "string?"),
    (lambda r: r.o[0], "i64?"),
    (lambda r: r.o[1], "struct<i64>?"),
    (lambda r: r.o[1][0], "i64?"),
    (lambda r: r.l[0], "i64?"),
    (lambda r: r.l[-1], "i64?"),
    (lambda r: r.m["a"], "i64?"),
    (lambda r: r.d[0], "struct<i64>?"),
    (lambda r: r.d[0][0], "i64?"),
    (lambda r: r.n[0][5][0], "i64?"),
]


@pytest.mark.parametrize(("make", "kind"), PARTS)
def test_parts_of_values(make: Make, kind: str) -> None:
    assert type_of(make, NESTED) == kind


def test_segments() -> None:
    segments = [computed(make, NESTED) for make in (lambda r: r.s[1], lambda r: r.l[-1], lambda r: r.m["a"])]
    assert [part.segment for part in segments if isinstance(part, FieldAccess)] == [
        StructField(1),
        ListElement(-1),
        MapKey(Literal("a", sd.String())),
    ]


def test_fields_of_structs_by_name() -> None:
    class Place(sd.Schema):
        city: sd.String
        zip: sd.Nullable[sd.String]

    class Person(sd.Schema):
        name: sd.String
        home: sd.Nullable[sd.Struct[Place]]

    people: Any = sd.read_named("people", Person)
    rel = people.select(lambda r: r.home["city"], lambda r: r.home["zip"])
    assert str(rel.schema.struct) == "city: string?, zip: string?"
    with refused(UnknownFieldError, "select", '"ctiy"', 'did you mean "city"'):
        people.select(x=lambda r: r.home["ctiy"])


def test_parts_that_are_not_there() -> None:
    with refused(UnknownFieldError, "no field 2"):
        computed(lambda r: r.s[2], NESTED)
    with refused(InvalidArgumentError, "offset", "'a'"):
        computed(lambda r: r.l["a"], NESTED)
    with refused(LiteralError, "1 does not fit string"):
        computed(lambda r: r.m[1], NESTED)
    with refused(TypeMismatchError, "only structs, lists and maps have parts", "i64"):
        computed(lambda r: r.l[0][0], NESTED)


# --- cast ---

CASTS: list[tuple[Make, str]] = [  # spec decision 23
    (lambda r: r.a.cast(sd.I32), "i32"),
    (lambda r: r.b.cast(sd.I32), "i32?"),
    (lambda r: r.a.cast(sd.Nullable[sd.I32]), "i32?"),
    (lambda r: r.a.cast(sd.I32, on_failure="return_null"), "i32?"),
    (lambda r: r.s.cast(sd.Decimal(10, 2)), "decimal<10,2>"),
    (lambda r: r.s.cast("decimal<10,2>?"), "decimal<10,2>?"),
]


@pytest.mark.parametrize(("make", "kind"), CASTS)
def test_casts(make: Make, kind: str) -> None:
    assert type_of(make) == kind


def test_what_is_asserted_not_to_be_null_is_required() -> None:
    assert str(computed(lambda r: r.b.assert_not_null()).type) == str(computed(lambda r: r.a).type)
    assert str(computed(lambda r: f.coalesce(r.b, r.a).assert_not_null()).type) == str(computed(lambda r: r.a).type)
    already = computed(lambda r: r.a.assert_not_null())
    assert already == computed(lambda r: r.a)  # nothing to assert


def test_a_plan_says_of_a_cast_what_it_derives() -> None:
    """Other engines take the type of a cast for what it says: also whether it may be NULL."""
    for cast in (lambda r: r.b.cast(sd.I8), lambda r: r.a.cast(sd.I8, on_failure="return_null")):
        node = computed(cast)
        assert isinstance(node, Cast)
        assert node.target == node.type == sd.I8(nullable=True)


def test_a_cast_fails_loudly_unless_asked_not_to() -> None:
    plain, quiet = (computed(lambda r, o=o: r.a.cast(sd.I8, **o)) for o in ({}, {"on_failure": "return_null"}))  # type: ignore[misc]  # a default that is a dict
    assert isinstance(plain, Cast)
    assert isinstance(quiet, Cast)
    assert (plain.on_failure, quiet.on_failure) == ("throw", "return_null")
    with refused(InvalidChoiceError, "on_failure", "'null'", '"return_null"'):
        computed(lambda r: r.a.cast(sd.I8, on_failure="null"))
    with refused(InvalidArgumentError, "int is no Substrait type", "did you mean I64"):
        computed(lambda r: r.a.cast(int))


# --- conditionals ---

IFS: list[tuple[Make, str]] = [  # spec decision 21
    (lambda r: sd.when(r.a > 1).then(r.a).otherwise(r.a), "i64"),
    (lambda r: sd.when(r.a > 1).then(r.a).otherwise(r.b), "i64?"),
    (lambda r: sd.when(r.b > 1).then(r.a).otherwise(0), "i64"),  # a condition that is NULL is not true
    (lambda r: sd.when(r.a > 1).then(r.a).otherwise(None), "i64?"),
    (lambda r: sd.when(r.a > 1).then(None).when(r.a > 0).then(1).otherwise(2), "i64?"),
    (lambda r: sd.when(r.a > 1).then("x").otherwise("y"), "string"),
    (lambda r: sd.when(r.a > 1).then(sd.lit(1, sd.I8)).otherwise(2), "i8"),
    (lambda r: sd.switch(r.s, {"x": 1, "y": 2}, default=0), "i64"),
    (lambda r: sd.switch(r.s, {"x": 1}, default=None), "i64?"),
    (lambda r: sd.switch(r.s, {"x": r.b, "y": r.a}, default=r.a), "i64?"),
    (lambda r: sd.switch(r.t, {"x": 1}, default=0), "i64"),
]


@pytest.mark.parametrize(("make", "kind"), IFS)
def test_conditionals(make: Make, kind: str) -> None:
    assert type_of(make) == kind


def test_every_branch_has_the_very_type_of_the_whole() -> None:
    """Spec decision 21: readers that want identical branch types find them."""
    for make in (
        lambda r: sd.when(r.a > 1).then(r.a).when(r.a > 2).then(r.b).otherwise(5),
        lambda r: sd.switch(r.s, {"x": r.a, "y": r.b}, default=5),
    ):
        node = computed(make)
        match node:
            case IfThen(clauses=clauses, otherwise=otherwise):
                branches = [clause.then for clause in clauses] + [otherwise]
            case Switch(cases=cases, otherwise=otherwise):
                branches = [case.then for case in cases] + [otherwise]
        assert [str(branch.type) for branch in branches] == ["i64?"] * 3 == [str(node.type)] * 3


def test_conditionals_that_do_not_fit() -> None:
    with refused(TypeMismatchError, "condition of an if", "boolean", "i64"):
        computed(lambda r: sd.when(r.a).then(1).otherwise(2))
    with refused(TypeMismatchError, "branches of an if", "i64", "string", "cast"):
        computed(lambda r: sd.when(r.a > 1).then(r.a).otherwise(r.s))
    with refused(TypeMismatchError, "branches of an if", "'x'", "i64"):
        computed(lambda r: sd.when(r.a > 1).then(r.a).otherwise("x"))
    with refused(TypeMismatchError, "branches of a switch", "i64", "string"):
        computed(lambda r: sd.switch(r.s, {"x": 1}, default="y"))
    with refused(LiteralError, "1 does not fit string"):
        computed(lambda r: sd.switch(r.s, {1: 1}, default=0))
    with refused(LiteralError, "the branches of an if are all None", "null(type)"):
        computed(lambda r: sd.when(r.a > 1).then(None).otherwise(None))
    with refused(InvalidArgumentError, "at least one case"):
        computed(lambda r: sd.switch(r.s, {}, default=0))
    with refused(InvalidArgumentError, "when takes a condition", "True"):
        computed(lambda r: sd.when(True).then(1).otherwise(2))  # type: ignore[call-overload]  # on purpose
    with refused(TypeMismatchError, "computes with the aggregate function sum"):
        computed(lambda r: sd.when(r.a > 1).then(f.sum(r.a)).otherwise(1))


# --- membership ---

MEMBERS: list[tuple[Make, type, str]] = [  # spec decision 20
    (lambda r: r.a.is_in([1, 2]), SingularOrList, "boolean"),
    (lambda r: r.b.is_in([1, 2]), SingularOrList, "boolean?"),
    (lambda r: r.a.is_in([1, None]), SingularOrList, "boolean?"),
    (lambda r: r.a.is_in([r.b, 2]), SingularOrList, "boolean?"),
    (lambda r: sd.record(r.a, r.s).is_in([(1, "x"), (2, "y")]), MultiOrList, "boolean"),
    (lambda r: sd.record(r.a, r.t).is_in([(1, "x")]), MultiOrList, "boolean?"),
    (lambda r: sd.record(r.a, r.s).is_in([(1, "x"), (None, "y")]), MultiOrList, "boolean?"),
]


@pytest.mark.parametrize(("make", "node", "kind"), MEMBERS)
def test_membership(make: Make, node: type, kind: str) -> None:
    assert isinstance(computed(make), node)
    assert type_of(make) == kind


def test_columns_whose_names_python_keeps_for_itself() -> None:
    """As pandas calls the column of an index in a file."""
    rows = table("__index_level_0__: i64, x: i64")
    assert rows.select(i=lambda r: r.__index_level_0__ + rows.c.__index_level_0__).schema["i"] == sd.I64()
    assert not hasattr(rows.c, "__index_level_1__")


def test_options_become_literals_of_the_value_s_type() -> None:
    node = computed(lambda r: r.a.is_in([1, 2]), "a: i32")
    assert isinstance(node, SingularOrList)
    assert node.options == (Literal(1, sd.I32()), Literal(2, sd.I32()))
    of_nullable = computed(lambda r: r.b.is_in([1, None]))
    assert isinstance(of_nullable, SingularOrList)
    assert of_nullable.options == (Literal(1, sd.I64()), Literal(None, sd.I64(nullable=True)))


def test_membership_that_does_not_fit() -> None:
    with refused(LiteralError, "'x' does not fit i64"):
        computed(lambda r: r.a.is_in([1, "x"]))
    with refused(TypeMismatchError, "IN list", "i64", "string"):
        computed(lambda r: r.a.is_in([r.s]))
    with refused(InvalidArgumentError, "IN list", "at least one"):
        computed(lambda r: r.a.is_in([]))
    with refused(InvalidArgumentError, "is_in takes a list", "'abc'"):
        computed(lambda r: r.s.is_in("abc"))
    with refused(InvalidArgumentError, "2 values", "tuple of 1"):
        computed(lambda r: sd.record(r.a, r.s).is_in([(1,)]))
    with refused(LiteralError, "'y' does not fit i64"):
        computed(lambda r: sd.record(r.a, r.s).is_in([(1, "x"), ("y", "z")]))


# --- what Python does with expressions ---


def test_an_expression_is_no_truth_value() -> None:
    for make in (
        lambda r: bool(r.a > 1),
        lambda r: 1 < r.a < 5,
        lambda r: (r.a > 1) and (r.b > 1),
        lambda r: (r.a > 1) or (r.b > 1),
        lambda r: not (r.a > 1),
        lambda r: 1 if r.a > 1 else 2,
        lambda r: r.a in [1, 2],
    ):
        with refused(TypeMismatchError, "project", "no truth value", "& and | and ~", "when(...)"):
            computed(make)


def test_an_expression_is_no_text() -> None:
    """A text made of one would be a constant: ``Expr(a: i64)`` in every row."""
    for make in (
        lambda r: f"{r.a}",
        lambda r: f"{r.a:>10}",
        lambda r: "number {}".format(r.a),  # noqa: UP032  # likewise
        lambda r: f.concat(r.s, f"-{r.a}"),
    ):
        with refused(TypeMismatchError, "project", "Expr(a: i64) has no text before", "concat", "cast", "{x!r}"):
            computed(make)
    with refused(TypeMismatchError, "Expr(a + 1) has no text before"):
        format(sd.col("a") + 1)


def test_what_python_shows_of_an_expression_is_no_value_of_it() -> None:
    for make in (
        lambda r: str(r.a),
        lambda r: "%s" % r.a,  # noqa: UP031  # as people write it
        lambda r: f.concat(r.s, repr(r.a)),
        lambda r: r.s == str(r.a),
        lambda r: sd.when(r.b > 1).then(str(r.a)).otherwise("x"),
    ):
        with refused(TypeMismatchError, "project", "'Expr(a: i64)'", "no text before", "x.cast(String)"):
            computed(make)
    assert computed(lambda r: sd.lit("Expr(a)")) == Literal("Expr(a)", sd.String())


def test_an_expression_is_no_number() -> None:
    mistakes: list[tuple[Any, str]] = [
        (lambda r: int(r.a), "x.cast(I64)"),
        (lambda r: float(r.a), "x.cast(FP64)"),
        (lambda r: len(r.s), "functions.char_length(x)"),
        (lambda r: [1, 2][r.a], "x[...]"),
        (lambda r: r.a << 1, "functions.shift_left(x, n)"),
    ]
    for make, hint in mistakes:
        with refused(TypeMismatchError, "project", "before the query runs", hint):
            computed(make)


def test_a_text_alone_is_no_column() -> None:
    """`upper("name")` would be NAME in every row."""
    rows = table("a: i64, s: string?")
    mistakes: list[tuple[Any, str]] = [
        (lambda: f.upper("s"), "upper"),
        (lambda: f.coalesce("s", "?"), "coalesce"),
        (lambda: rows.filter(f.contains("s", "x")), "contains"),
        (lambda: rows.aggregate(n=f.count("s")), "count"),
        (lambda: rows.aggregate(n=f.string_agg("s", ",")), "string_agg"),
        (lambda: rows.project(n=f.lag("s").over(order_by="a")), "lag"),
    ]
    for make, name in mistakes:
        with refused(InvalidArgumentError, f"{name} takes a column or an expression, got the text 's'", "col('s')"):
            make()
    with refused(InvalidArgumentError, "count", "functions.count() counts rows"):
        rows.aggregate(n=f.count("*"))
    for right in (f.upper(sd.lit("s")), f.concat("s", sd.col("s")), f.extract("YEAR", sd.lit(dt.date(2024, 5, 1)))):
        assert rows.project(n=right).schema.names[-1] == "n"


def test_repr_shows_an_expression() -> None:
    assert f"{sd.col('a') + 1!r}" == str(sd.col("a") + 1) == "Expr(a + 1)"
    with refused(InvalidArgumentError, "Expr(a) is no Substrait type"):
        sd.read_named("t", {"x": sd.col("a")})


def test_an_expression_is_no_sequence() -> None:
    with refused(TypeMismatchError, "not a sequence"):
        computed(lambda r: list(r.s))
    with refused(TypeMismatchError, "not a sequence"):
        computed(lambda r: f.coalesce(*r.a))


def test_none_is_not_compared() -> None:
    with refused(InvalidArgumentError, "None", "is_null()"):
        computed(lambda r: r.b == None)  # noqa: E711  # on purpose
    with refused(InvalidArgumentError, "None", "is_null()"):
        computed(lambda r: r.b != None)  # noqa: E711
    with refused(InvalidArgumentError, "add", "None", "null(type)"):
        computed(lambda r: r.b + None)


def test_expressions_know_their_type_as_they_are_written() -> None:
    """A debugger in the middle of a lambda shows what is there."""
    seen: list[str] = []

    def next_but_one(row: Row) -> Any:
        seen.append(repr(row.a + 1))
        return row.a + 2

    assert type_of(next_but_one) == "i64"
    assert seen == ["Expr(a + 1: i64)"]
