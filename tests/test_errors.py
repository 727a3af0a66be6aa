"""What bad input gets: an error of the library's tree, from the verb that was called, that says what to do.

One list, in the order of the promises: each entry is a mistake, the class of its error, and what the text must say:
the verb, the column or argument, what was expected, what came, the nearest valid choice. The tests of relations and
expressions look at each rule more closely; what an engine refuses is in the tests of that engine.
"""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from typing import Any, cast

import pytest

import substrait_dsl as sd
from substrait_dsl import errors
from substrait_dsl.errors import (
    AmbiguousFieldError,
    FunctionNotFoundError,
    InvalidArgumentError,
    InvalidChoiceError,
    LiteralError,
    SchemaError,
    SubstraitDslError,
    TypeMismatchError,
    UnknownFieldError,
)
from tests.support import f, refused, table

T = table("id: i64, name: string, age: i32?, price: decimal<5,2>")
U = table("id: i64, city: varchar<3>", "u")
BOTH = T.cross(U)

MISTAKES: dict[str, list[tuple[Callable[[], Any], type[SubstraitDslError], tuple[str, ...]]]] = {
    "an unknown column": [
        (lambda: T.filter(lambda r: r.aeg > 1), UnknownFieldError, ("filter", '"aeg"', '"age"', 'did you mean "age"')),
        (lambda: T.select("nmae"), UnknownFieldError, ("select", '"nmae"', 'did you mean "name"')),
        (lambda: T.sort(sd.desc("prize")), UnknownFieldError, ("sort", '"prize"', 'did you mean "price"')),
        (lambda: T.emit([4]), UnknownFieldError, ("emit", "column 4", "4 columns")),
        (lambda: T.join(U, "name"), UnknownFieldError, ("join", '"name"', '"id", "city"')),
    ],
    "an ambiguous column": [
        (lambda: BOTH.select("id"), AmbiguousFieldError, ("select", '"id"', "positions 0, 4", "col(0) or col(4)")),
        (lambda: BOTH.filter(sd.col("id") > 1), AmbiguousFieldError, ("filter", '"id"', "rename or drop")),
        (lambda: T.join(T, T.c.id == T.c.id), AmbiguousFieldError, ("join", '"id"', "lambda l, r: l.id == r.id")),
    ],
    "operand types with no overload": [
        (
            lambda: T.with_columns(x=lambda r: r.name * 2),
            FunctionNotFoundError,
            ("with_columns", "multiply(string, 2)", "multiply(x: i8, y: i8) -> i8"),
        ),
        (lambda: T.filter(lambda r: r.name > r.id), FunctionNotFoundError, ("filter", "gt(string, i64)")),
        (lambda: T.filter(lambda r: r.id & True), FunctionNotFoundError, ("filter", "and(i64, ")),
        (lambda: T.aggregate(x=lambda r: f.sum(r.name)), FunctionNotFoundError, ("aggregate", "sum(string)")),
    ],
    "a condition that is not boolean": [
        (lambda: T.filter(lambda r: r.id), TypeMismatchError, ("filter", "condition", "boolean", "i64")),
        (lambda: T.filter(sd.lit(True), lambda r: r.name), TypeMismatchError, ("filter", "boolean", "string")),
        (lambda: T.join(U, lambda t, u: t.id), TypeMismatchError, ("join", "condition", "boolean", "i64")),
        (lambda: T.join(U, "id", post_filter=lambda o: o.age), TypeMismatchError, ("join", "boolean", "i32?")),
        (lambda: sd.read_named("t", T.schema, filter=lambda r: r.id), TypeMismatchError, ("read_named", "boolean")),
        (
            lambda: T.aggregate(n=lambda r: f.count().filter(r.id)),
            TypeMismatchError,
            ("aggregate", "filter of a measure", "boolean", "i64"),
        ),
        (
            lambda: T.select(x=lambda r: sd.when(r.id).then(1).otherwise(2)),
            TypeMismatchError,
            ("select", "condition of an if", "boolean", "i64"),
        ),
    ],
    "set inputs that do not fit": [
        (lambda: T.union_all(U), SchemaError, ("union_all", "same number of columns", "4", "2")),
        (
            lambda: T.select("id").set_op("minus_primary", T.select("name")),
            TypeMismatchError,
            ("set_op", "column 0", "id: i64", "name: string", "cast"),
        ),
        (lambda: T.set_op("union_all"), SchemaError, ("set_op", "at least two inputs", "1")),
    ],
    "an unknown word": [
        (lambda: T.join(U, "id", how="lfet"), InvalidChoiceError, ("join", "how 'lfet'", 'did you mean "left"')),
        (lambda: T.join(U, "id", how=7), InvalidChoiceError, ("join", "how 7", '"inner"')),
        (
            lambda: T.set_op("minus_primry", T),
            InvalidChoiceError,
            ("set_op", "op 'minus_primry'", 'did you mean "minus_primary"'),
        ),
        (lambda: T.sort(lambda r: r.id.asc(nulls="fist")), InvalidChoiceError, ("sort", "nulls 'fist'", '"first"')),
        (
            lambda: T.select(x=lambda r: r.id.cast(sd.I8, on_failure="trow")),
            InvalidChoiceError,
            ("select", "on_failure 'trow'", 'did you mean "throw"'),
        ),
        (
            lambda: sd.read_files("/x", U.schema, format="csvv"),  # type: ignore[call-overload]  # wrong on purpose
            InvalidChoiceError,
            ("read_files", "'csvv'", '"csv"'),
        ),
    ],
    "an aggregate that is none": [
        (lambda: T.aggregate(), SchemaError, ("aggregate", "no columns")),
        (
            lambda: T.aggregate("id", "name", grouping_sets=[("id",)]),
            SchemaError,
            ("aggregate", "every key", "name stands in none"),
        ),
        (
            lambda: T.aggregate("id", "name", grouping_sets=[("id", "nam")]),
            SchemaError,
            ("aggregate", "grouping set 0", "'nam'", "no key", 'did you mean "name"'),
        ),
        (lambda: T.filter(lambda r: f.max(r.id)), TypeMismatchError, ("filter", "max is an aggregate function")),
        (
            lambda: T.with_columns(x=lambda r: f.abs(f.max(r.id))),
            TypeMismatchError,
            ("with_columns", "computes with the aggregate function max", "max(...).over(...)"),
        ),
        (
            lambda: T.aggregate("id", x=lambda r: r.age + 1),
            TypeMismatchError,
            ("aggregate", '"x"', "no aggregate function", "f.sum"),
        ),
        (
            lambda: T.select(x=lambda r: f.row_number()),
            TypeMismatchError,
            ("select", "row_number is a window function"),
        ),
    ],
    "a literal that does not fit": [
        (lambda: sd.lit(300, sd.I8), LiteralError, ("300 does not fit i8", "-128 to 127")),
        (lambda: sd.lit(123456, sd.Decimal(5, 2)), LiteralError, ("123456", "decimal<5,2>", "3 digits before")),
        (lambda: sd.lit("abcdef", sd.VarChar(3)), LiteralError, ("'abcdef'", "varchar<3>", "6 characters")),
        (
            lambda: sd.read_virtual([(1, "Rome")], U.schema),
            LiteralError,
            ("read_virtual", "row 0", '"city"', "'Rome'", "varchar<3>"),
        ),
        (
            lambda: sd.read_virtual([(1, "a"), (None, "b")], U.schema),
            LiteralError,
            ("read_virtual", "row 1", '"id"', "NULL", "i64", "required"),
        ),
    ],
    "a fetch of a negative number": [
        (lambda: T.fetch(-1), InvalidArgumentError, ("fetch", "count", "negative", "-1")),
        (lambda: T.fetch(1, offset=-2), InvalidArgumentError, ("fetch", "offset", "negative", "-2")),
        (lambda: T.limit(-1), InvalidArgumentError, ("fetch", "negative")),
    ],
    "branches of different types": [
        (
            lambda: T.select(x=lambda r: sd.when(r.id > 1).then(r.id).otherwise(r.name)),
            TypeMismatchError,
            ("select", "branches of an if", "i64", "string", "cast"),
        ),
        (
            lambda: T.select(x=lambda r: sd.switch(r.id, {1: r.age}, default="none")),
            TypeMismatchError,
            ("select", "branches of a switch", "i32", "'none'"),
        ),
    ],
    "an IN list or subquery of another type or width": [
        (lambda: T.filter(lambda r: r.id.is_in(["a"])), LiteralError, ("filter", "'a' does not fit i64")),
        (lambda: T.filter(lambda r: r.id.is_in([r.name])), TypeMismatchError, ("filter", "IN list", "i64", "string")),
        (
            lambda: T.filter(lambda r: r.id.is_in(U.select("city"))),
            TypeMismatchError,
            ("filter", "IN subquery", '"city"', "i64", "varchar<3>"),
        ),
        (lambda: T.filter(lambda r: r.id.is_in(U)), SchemaError, ("filter", "IN subquery", "1 values", "2 columns")),
        (
            lambda: T.filter(lambda r: r.id > sd.any_of(U)),
            SchemaError,
            ("filter", '"any" of a subquery', "one column", "2"),
        ),
    ],
    "an unknown function, option or word of a function": [
        (lambda: f.uper, FunctionNotFoundError, ('"uper"', 'did you mean "upper"')),
        (
            lambda: T.select(x=lambda r: f.add(r.id, 1, overflow="EROR")),
            InvalidChoiceError,
            ("select", "overflow", "'EROR'", '"SILENT", "SATURATE", "ERROR"', 'did you mean "ERROR"'),
        ),
        (
            lambda: T.select(x=lambda r: f.add(r.id, 1, overflw="ERROR")),
            InvalidChoiceError,
            ("select", "'overflw'", 'did you mean "overflow"'),
        ),
    ],
    "Python's truth": [
        (lambda: bool(sd.col("id") > 1), TypeMismatchError, ("no truth value", "& and | and ~")),
        (lambda: T.filter(lambda r: 1 < r.id < 5), TypeMismatchError, ("filter", "compare twice")),
        (lambda: T.filter(lambda r: r.id > 1 and r.age > 2), TypeMismatchError, ("filter", "& and | and ~")),
        (lambda: bool(T), TypeMismatchError, ("relation has no truth value", "exists(relation)")),
        (
            lambda: len(T),
            TypeMismatchError,
            ("relation has no length", "aggregate(n=functions.count()).collect()[0].n counts the rows"),
        ),
    ],
    "a text or a number where True or False belongs": [
        (lambda: T.top_n(3, "id", with_ties="no"), InvalidArgumentError, ("top_n: with_ties is True or False", "'no'")),
        (lambda: T.hint(output_names="no"), InvalidArgumentError, ("hint: output_names", "'no'")),
        (lambda: T.merging_capture(blocking=0), InvalidArgumentError, ("merging_capture: blocking", "got 0")),
        (lambda: sd.create_table("t", U.schema, or_replace="no"), InvalidArgumentError, ("create_table: or_replace",)),  # type: ignore[arg-type]  # on purpose
        (lambda: sd.create_view("v", T, or_replace="no"), InvalidArgumentError, ("create_view: or_replace",)),  # type: ignore[arg-type]  # on purpose
        (lambda: sd.drop_table("t", if_exists="no"), InvalidArgumentError, ("drop_table: if_exists",)),  # type: ignore[arg-type]  # on purpose
        (lambda: sd.drop_view("v", if_exists=None), InvalidArgumentError, ("drop_view: if_exists", "None")),  # type: ignore[arg-type]  # on purpose
        (lambda: sd.round_robin(exact="no"), InvalidArgumentError, ("round_robin: exact", "'no'")),  # type: ignore[arg-type]  # on purpose
        (lambda: sd.single_bucket("age", "no"), InvalidArgumentError, ("single_bucket: constrained", "'no'")),  # type: ignore[arg-type]  # on purpose
        (lambda: sd.multi_bucket("age", "no"), InvalidArgumentError, ("multi_bucket: constrained", "'no'")),  # type: ignore[arg-type]  # on purpose
        (lambda: sd.virtual_target("m", pin="no"), InvalidArgumentError, ("virtual_target: pin", "'no'")),  # type: ignore[arg-type]  # on purpose
        (lambda: sd.Plan.from_bytes(b"", strict="no"), InvalidChoiceError, ("from_bytes: unknown strict", "'no'")),  # type: ignore[arg-type]  # on purpose
        (lambda: sd.Plan.from_json("{}", strict=1), InvalidChoiceError, ("from_json: unknown strict 1", "assumed")),  # type: ignore[arg-type]  # on purpose
    ],
    "what a helper object cannot hold": [
        (lambda: sd.UserDefined("a:b", "x", (1.5,)), InvalidArgumentError, ("type_parameters of UserDefined", "1.5")),  # type: ignore[arg-type]  # on purpose
        (lambda: sd.I64(variation="x"), InvalidArgumentError, ("variation of I64", "TypeVariation", "'x'")),  # type: ignore[arg-type]  # on purpose
        (lambda: sd.I64(nullable="no"), InvalidArgumentError, ("nullable of I64", "True or False", "'no'")),  # type: ignore[arg-type]  # on purpose
        (lambda: sd.TypeVariation(5, "x"), InvalidArgumentError, ("urn of TypeVariation", "text", "5")),  # type: ignore[arg-type]  # on purpose
        (lambda: sd.Struct(sd.I64()), InvalidArgumentError, ("types of Struct", "tuple of types", "I64")),  # type: ignore[arg-type]  # on purpose
        (lambda: sd.read_virtual(None, U.schema), InvalidArgumentError, ("read_virtual: the rows", "None")),  # type: ignore[call-overload]  # on purpose
        (lambda: sd.Computation("zz", "hashtable"), InvalidArgumentError, ("id of Computation", "integer", "'zz'")),  # type: ignore[arg-type]  # on purpose
        (lambda: sd.DelimitedText(None), InvalidArgumentError, ("field_delimiter of DelimitedText", "text", "None")),  # type: ignore[arg-type]  # on purpose
        (lambda: sd.ExtensionFormat("x"), InvalidArgumentError, ("detail of ExtensionFormat", "AnyMessage", "'x'")),  # type: ignore[arg-type]  # on purpose
        (lambda: sd.Relation(None), InvalidArgumentError, ("a relation is made by read_named", "None")),  # type: ignore[arg-type]  # on purpose
        (lambda: sd.Expr(), InvalidArgumentError, ("an expression is made by col",)),
        (lambda: T.explain(properties="no"), InvalidArgumentError, ("explain: properties", "True or False", "'no'")),
        (lambda: f.count().filter(None), InvalidArgumentError, ("filter of a measure", "expression", "None")),
        (lambda: T.rename(id=sd.col("x")), InvalidArgumentError, ("rename: the new name", "str", "Expr(x)")),
        (lambda: T.join(U, "id", how=sd.col("x")), InvalidChoiceError, ("join: unknown how Expr(x)", '"inner"')),
    ],
    "what is no expression in a record or a switch": [
        (lambda: sd.record(sd.col("id"), "name").is_in([]), InvalidArgumentError, ("record", "'name'", "col('name')")),  # type: ignore[arg-type]  # on purpose
        (lambda: sd.record(5).is_in([(1,)]), InvalidArgumentError, ("record takes expressions", "5", "lit(value)")),  # type: ignore[arg-type]  # on purpose
        (lambda: sd.record(None), InvalidArgumentError, ("record takes expressions", "None", "null(type)")),  # type: ignore[arg-type]  # on purpose
        (lambda: sd.record(f.count()), TypeMismatchError, ("record", "count is an aggregate function")),
        (lambda: sd.switch("id", {1: "a"}, "z"), InvalidArgumentError, ("switch", "'id'", "col('id')")),  # type: ignore[call-overload]  # on purpose
        (lambda: sd.switch(None, None, 5), InvalidArgumentError, ("switch", "expression to compare", "None")),  # type: ignore[call-overload]  # on purpose
        (
            lambda: sd.switch(sd.col("id"), [(1, "a")], "z"),  # type: ignore[call-overload]  # on purpose
            InvalidArgumentError,
            ("cases of a switch", "dict", "[(1, 'a')]"),
        ),
    ],
    "parameters that are not bound by a dict": [
        (
            lambda: sd.Plan(T, parameter_bindings=None),  # type: ignore[arg-type]  # on purpose
            InvalidArgumentError,
            ("Plan: parameter_bindings", "dict", "None"),
        ),
        (lambda: sd.Plan(T, parameter_bindings=[5]), InvalidArgumentError, ("Plan: parameter_bindings", "dict", "[5]")),  # type: ignore[arg-type]  # on purpose
    ],
    "a condition that Python has made a bool": [
        (build, error, ("is_null()" if error is TypeMismatchError else "", str(came), f"lit({came})", 'col("status")'))
        for came in (False, True)
        for build, error in (
            (lambda came=came: T.filter(came), TypeMismatchError),
            (lambda came=came: T.filter(lambda r: came), TypeMismatchError),
            (lambda came=came: T.filter(sd.col("id") > 1, came), TypeMismatchError),
            (lambda came=came: sd.read_named("t", T.schema, filter=came), TypeMismatchError),
            (lambda came=came: sd.read_named("t", T.schema, filter=lambda r: came), TypeMismatchError),
            (lambda came=came: sd.read_named("t", T.schema, best_effort_filter=came), TypeMismatchError),
            (lambda came=came: T.join(U, "id", post_filter=came), TypeMismatchError),
            (lambda came=came: T.join(U, "id", post_filter=lambda r: came), TypeMismatchError),
            (lambda came=came: T.hash_join(U, ["id"], residual=came), TypeMismatchError),
            (lambda came=came: sd.update("t", T.schema, {"id": 1}, where=lambda r: came), TypeMismatchError),
            (lambda came=came: sd.when(came), InvalidArgumentError),
            (lambda came=came: sd.when(sd.col("id") > 1).then(1).when(came), InvalidArgumentError),
            (lambda came=came: f.sum(sd.col("id")).filter(came), InvalidArgumentError),
        )
    ],
    "an update where False": [
        (lambda: sd.update("t", T.schema, {"id": 1}, where=False), TypeMismatchError, ("update", "lit(False)")),  # type: ignore[call-overload]  # on purpose
    ],
    "a join on False": [
        (lambda: T.join(U, False), InvalidArgumentError, ("join", "got False", "lit(False)")),
        (lambda: T.lateral_join(lambda t: U, on=False), InvalidArgumentError, ("lateral_join", "got False")),
        (lambda: T.nested_loop_join(U, False), InvalidArgumentError, ("nested_loop_join", "got False")),
    ],
    "a column that is called as an argument": [
        (
            lambda: T.aggregate("id", method=f.count()),
            InvalidArgumentError,
            ("aggregate", "argument of the verb", '"streaming"', "another name"),
        ),
        (lambda: T.aggregate("id", method=lambda r: f.sum(r.age)), InvalidArgumentError, ("argument of the verb",)),
        (lambda: T.window(method=f.rank()), InvalidArgumentError, ("window", "argument of the verb", '"hashing"')),
        (lambda: T.window(method=sd.col("id")), InvalidArgumentError, ("window", "argument of the verb")),
    ],
    "one or several in a list of names": [
        (lambda: table("a: i64").select("b"), UnknownFieldError, ('there is no column "b"; there is "a"',)),
        (lambda: T.write("t", schema=T.cross(T.select("id")).schema), SchemaError, ('"id" stands twice or more',)),
        (lambda: T.cross(T.select("id", "age")).write("t"), SchemaError, ('"age", "id" stand twice or more',)),
    ],
    "what is no relation or no column": [
        (lambda: T.join("u", "id"), InvalidArgumentError, ("join", "expected a relation", "'u'")),
        (lambda: T.cross(None), InvalidArgumentError, ("cross", "expected a relation", "None")),
        (lambda: T.filter(sd.exists("u")), InvalidArgumentError, ("exists takes a relation", "'u'")),  # type: ignore[arg-type]  # on purpose
        (lambda: T.filter(lambda r: r.id > sd.any_of([1])), InvalidArgumentError, ("any_of takes a relation", "[1]")),  # type: ignore[arg-type]  # on purpose
        (lambda: sd.scalar_subquery(3), InvalidArgumentError, ("scalar_subquery takes a relation", "3")),  # type: ignore[arg-type]  # on purpose
        (lambda: T.drop(1.5), InvalidArgumentError, ("drop", "name or position", "1.5")),
        (lambda: T.rename({None: "x"}), InvalidArgumentError, ("rename", "name or position", "None")),
        (lambda: T.select(sd.col("id").alias(3)), InvalidArgumentError, ("name of a column is a str", "3")),  # type: ignore[arg-type]  # on purpose
        (lambda: T.filter("id > 1"), TypeMismatchError, ("filter", "boolean expression", "'id > 1'")),
        (lambda: T.select(None), InvalidArgumentError, ("select", "name of a column or an expression", "None")),
        (lambda: T.sort(None), InvalidArgumentError, ("sort", "column or an expression", "None")),
        (lambda: T.with_columns(x=object()), LiteralError, ("with_columns", "cannot infer", "object")),
        (lambda: T.with_columns(x=lambda r: None), InvalidArgumentError, ("with_columns", '"x"', "None", "null(type)")),
    ],
}
CASES = [
    pytest.param(*case, id=f"{topic} {number}")
    for topic, cases in MISTAKES.items()
    for number, case in enumerate(cases)
]


@pytest.mark.parametrize(("mistake", "error", "said"), CASES)
def test_mistakes(mistake: Callable[[], Any], error: type[SubstraitDslError], said: tuple[str, ...]) -> None:
    with pytest.raises(SubstraitDslError) as caught:
        mistake()
    assert isinstance(caught.value, error)
    for part in said:
        assert part in str(caught.value)


@pytest.mark.parametrize(("mistake", "error", "said"), CASES)
def test_no_error_shows_another_one_behind_it(mistake: Any, error: type, said: tuple[str, ...]) -> None:
    """A mistake has one traceback, from the line that made it."""
    with pytest.raises(SubstraitDslError) as caught:
        mistake()
    assert caught.value.__context__ is None or caught.value.__suppress_context__


# --- the tree ---

BUILTINS: dict[str, set[type[Exception]]] = {
    "SchemaError": {ValueError},
    "TypeMismatchError": {TypeError},
    "LiteralError": {TypeError, ValueError},
    "UnknownFieldError": {LookupError},
    "AmbiguousFieldError": {LookupError},
    "FunctionNotFoundError": {TypeError, LookupError},
    "UnknownFunctionError": {TypeError, LookupError, AttributeError},
    "UnknownAttributeError": {AttributeError},
    "InvalidChoiceError": {ValueError},
    "InvalidArgumentError": {TypeError, ValueError},
    "SignatureError": {TypeError, ValueError},
    "CatalogError": {ValueError},
    "PlanFormatError": {ValueError},
    "UnsupportedError": {NotImplementedError},
    "ExecutionError": {RuntimeError},
    "NotAllowedError": {PermissionError},
    "NotationError": {ValueError},
    "EvaluationError": {RuntimeError},
}
CLASSES: dict[str, type[SubstraitDslError]] = {
    name: kind
    for name, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, SubstraitDslError) and kind is not SubstraitDslError
}


def test_each_error_is_also_the_builtin_it_is_closest_to() -> None:
    assert set(CLASSES) == set(BUILTINS)
    for name, builtins in BUILTINS.items():
        assert all(issubclass(CLASSES[name], builtin) for builtin in builtins), name


def test_codes_tell_the_classes_apart() -> None:
    codes = {kind.code for kind in CLASSES.values()}
    assert len(codes) == len(CLASSES)
    assert SubstraitDslError.code not in codes


def test_an_error_has_parts_for_programs() -> None:
    with pytest.raises(UnknownFieldError) as caught:
        T.filter(lambda r: r.aeg > 1)
    error = caught.value
    assert (error.code, error.verb) == ("unknown-field", "filter")
    assert error.message == 'there is no column "aeg"; there are "id", "name", "age", "price"'
    assert error.hint == 'did you mean "age"?'
    assert str(error) == f"filter: {error.message}\n  hint: {error.hint}"


def test_the_verb_nearest_to_the_mistake_is_named() -> None:
    with refused(UnknownFieldError, "select: there is no column"):
        T.filter(lambda r: sd.exists(U.select("naem")))


def test_a_wide_schema_is_not_listed_in_full() -> None:
    wide = table(", ".join(f"c{number}: i64" for number in range(500)))
    with refused(UnknownFieldError, '"c500"', "(500 in all)", 'did you mean "c50"'):
        wide.select("c500")


def test_errors_of_the_user_s_own_lambda_pass_through() -> None:
    with pytest.raises(ZeroDivisionError):
        T.filter(lambda r: r.id > 1 / 0)


ODD_ARGUMENTS: list[Callable[[], Any]] = [
    lambda: T.join(T, True, "left_mark", mark=5),
    lambda: T.join(T, True, ["left"]),
    lambda: T.aggregate("id", grouping_sets=1),
    lambda: T.aggregate("id", grouping_sets=[1]),
    lambda: T.as_(None),
    lambda: T.as_({"id": sd.I64}),
    lambda: T.emit(None),
    lambda: T.emit({"id"}),
    lambda: T.emit("id"),
    lambda: T.rename(["id"]),
    lambda: T.limit(None),
    lambda: T.filter(int),
    lambda: T.select(type),
    lambda: sd.read_named(None, {"a": sd.I64}),  # type: ignore[call-overload]  # wrong on purpose
    lambda: sd.read_files(b"x", {"a": sd.I64}),  # type: ignore[arg-type]  # wrong on purpose
    lambda: sd.parse_type(None),  # type: ignore[arg-type]  # wrong on purpose
    lambda: sd.lit("\ud800"),
]


@pytest.mark.parametrize("call", ODD_ARGUMENTS)
def test_odd_arguments_get_errors_of_the_tree(call: Callable[[], Any]) -> None:
    with pytest.raises(SubstraitDslError):
        call()


def test_a_column_may_have_any_name() -> None:
    odd = table("_row: i64, __row__: i64, filter: i64")
    assert odd.filter(lambda r: (r._row > 0) & (r.filter > 0)).columns == ("_row", "__row__", "filter")
    assert odd.select(lambda r: r["__row__"]).columns == ("__row__",)


def test_whether_to_keep_shared_rows_is_said_by_a_flag() -> None:
    session: Any = object()
    yes: Any = "yes"
    relation = table("a: i64")
    for execute in (relation.execute, relation.to_plan().execute):
        with refused(errors.InvalidArgumentError, "execute", "persist_shared"):
            execute(session, persist_shared=yes)


def test_every_message_can_be_printed() -> None:
    """Lone surrogates, which no output takes, are escaped, wherever in a message they stand."""
    for mistake in (
        lambda: sd.Plan.from_json('{"\\ud800": 1}'),
        lambda: sd.Plan.from_json('{"version": {"\\ud800": 1}}'),
        lambda: sd.Plan.from_json('{"relations": [{"rel": {"sort": {"sorts": [{"direction": "\\ud800"}]}}}]}'),
        lambda: sd.read_named("t", {"\ud800": "string"}),
        lambda: sd.read_named("t", {"\ud800": "strin"}),
        lambda: T.select("\ud800"),
        lambda: sd.read_named("t", {"\u00e9\ud800": "i64"}),
    ):
        with pytest.raises(SubstraitDslError) as caught:
            mistake()
        told = str(caught.value)
        assert "\\ud800" in told
        assert f"{told}{caught.value.message}{caught.value.args}".encode()
    with refused(errors.PlanFormatError, "a key or a name in it is no Unicode text (a lone surrogate)"):
        sd.Plan.from_json(
            '{"advancedExtensions": {"enhancement": {"@type": "type.googleapis.com/substrait.Version", "\\ud800": 1}}}'
        )
    error = SubstraitDslError("\u00e9", hint="\ud800")
    error.verb, error.place = "\udc80", "\U0001d11e"
    assert str(error) == "\\udc80, \U0001d11e: \u00e9\n  hint: \\ud800"


FORGED = {
    "escape": ("\x1b[2J", r"\x1b[2J"),
    "line break": ("\nERROR forged", r"\nERROR forged"),
    "carriage return": ("\rERROR forged", r"\rERROR forged"),
    "line separator": ("\u2028ERROR", r"\u2028ERROR"),
    "right to left": ("\u202egnp", r"\u202egnp"),
    "isolate": ("\u2066x\u2069", r"\u2066x\u2069"),
    "zero width": ("a\u200bb", r"a\u200bb"),
    "soft hyphen": ("a\u00adb", r"a\xadb"),
    "byte order mark": ("\ufeffa", r"\ufeffa"),
    "tab": ("a\tb", r"a\tb"),
    "NUL": ("a\0b", r"a\x00b"),
    "surrogate": ("a\udc80b", r"a\udc80b"),
}
"""What says something else to who reads a log or a terminal, and how a message shows it."""


@pytest.mark.parametrize("name", FORGED)
def test_names_of_others_are_escaped_wherever_an_error_shows_them(name: str) -> None:
    raw, shown = FORGED[name]
    if name != "surrogate":  # which is no name of a column
        read = sd.read_named(f"t{raw}", {f"c{raw}": "i64", "a": "i64"})
        plan = read.to_plan()
        for wrong in (
            lambda: read.filter(lambda r: r.zz == 1),  # in the list of what there is
            lambda: read.sort(f"c{raw}x"),  # as what came, and in the hint
            lambda: read.with_columns(**{f"c{raw}": lambda r: r.a + "x"}),  # as the place
            lambda: sd.Plan(cast("Any", plan)),  # in what came
            lambda: read.select(lambda r: f.upper(r.a).alias(f"c{raw}")),
        ):
            with pytest.raises(SubstraitDslError) as caught:
                wrong()
            head, *more = str(caught.value).split("\n  hint: ")
            for line in [*head.split("\n    "), *more]:  # the lines of a list of overloads are the library's own
                assert line.isprintable()
            assert caught.value.message in str(caught.value)
    for error in (SubstraitDslError(f"x{raw}"), SubstraitDslError("x", hint=raw), SubstraitDslError("x", path=raw)):
        assert shown in str(error)
        assert raw not in str(error)
    error = SubstraitDslError("x")
    error.verb, error.place = "filter", f'column "{raw}"'
    assert str(error) == f'filter, column "{shown}": x'


@pytest.mark.parametrize("name", [name for name in FORGED if name != "surrogate"])
def test_names_of_others_are_escaped_in_findings_and_reports(name: str) -> None:
    raw, shown = FORGED[name]
    read = sd.read_named(f"t{raw}", {f"c{raw}": "i64"})
    finding = sd.Finding(sd.FindingCode.EVALUATION_MODE, f"x{raw}", (raw,))
    requirement = sd.Requirement("scalar function", f"f{raw}")
    report = sd.Report(raw, "refused", (sd.CheckFinding("dialect", "rejected", f"y{raw}", f"s{raw}"),))
    head, _, step, why, _ = str(report).split("\n")
    described = (repr(read), repr(read.schema), repr(read.to_plan()), str(finding), str(requirement))
    for text in (*described, head, step, why):
        assert shown in text
        assert text.isprintable()


def test_the_lines_of_a_list_are_lines() -> None:
    error = FunctionNotFoundError(errors.listing("there is", ["a\nb", "c"]), hint="a\nb")
    assert str(error) == "there is\n    a\\nb\n    c\n  hint: a\\nb"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert SubstraitDslError("größer „ja“ 日本 🙂 \\n").message == "größer „ja“ 日本 🙂 \\n"
