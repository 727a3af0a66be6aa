"""Project: the input's columns, then the new ones; and the verbs that are a project and an emit."""

from __future__ import annotations

from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra.expressions import literal
from substrait_dsl.algebra.properties import SINGLETON, partitioned
from substrait_dsl.algebra.relations import Emit, Project
from substrait_dsl.errors import (
    AmbiguousFieldError,
    InvalidArgumentError,
    SchemaError,
    UnknownFieldError,
)
from tests.support import ascending, columns, declared, distribution, f, ordering, refused, table

ABC = "a: i64, b: string?, c: date"


def test_the_new_columns_stand_after_those_of_the_input_in_the_order_written() -> None:
    rel = table(ABC).project(y=lambda r: r.a + 1, x=lambda r: r.b)
    assert columns(rel) == "a: i64, b: string?, c: date, y: i64, x: string?"


@pytest.mark.parametrize("names", [(), ("x", "y")])
def test_there_is_a_name_for_each_expression(names: tuple[str, ...]) -> None:
    with refused(SchemaError, f"1 columns need a name each, got {len(names)} names"):
        Project(table(ABC)._rel, (literal(1, sd.I64()),), names)


def test_a_constant_is_required() -> None:
    assert columns(table("a: i64?").project(one=1, word=sd.lit("x"), yes=True)) == (
        "a: i64?, one: i64, word: string, yes: boolean"
    )


def test_ordering_and_distribution_stay() -> None:
    rel = declared("a: i64, b: i64", ascending(0), ascending(1), distribution=partitioned((1,)))
    assert rel.project(x=lambda r: r.a + r.b).properties == rel.properties


def test_a_copy_of_a_column_stands_in_for_it() -> None:
    """Specification: "Extended to include projection fields if fields are direct references"."""
    rel = declared("a: i64, b: i64", ascending(0), ascending(1), distribution=partitioned((0,)))
    copied = rel.project(copy=lambda r: r.a).drop("a")
    assert columns(copied) == "b: i64, copy: i64"
    assert ordering(copied) == [(1,), (0,)]
    assert distribution(copied) == partitioned((1,))


def test_a_computed_column_stands_in_for_nothing() -> None:
    rel = declared("a: i64, b: i64", ascending(0), ascending(1), distribution=partitioned((0,)))
    changed = rel.project(next=lambda r: r.a + 1).drop("a")
    assert (ordering(changed), distribution(changed)) == ([], None)


def test_a_column_of_an_outer_relation_stands_in_for_nothing() -> None:
    """It has the position of an ordered column of the input, but is another one."""
    inner = declared("b: i64", ascending(0), distribution=partitioned((0,)))
    kept: list[Any] = []

    def condition(outer: Any) -> Any:
        kept.append(inner.select(a=outer.a))
        return sd.exists(kept[0])

    table("a: i64").filter(condition)
    assert (ordering(kept[0]), distribution(kept[0])) == ([], None)


def test_one_row_stays_one_row() -> None:
    one = sd.read_virtual([(1,)], {"a": "i64"})
    assert one.project(b=lambda r: r.a + 1)._rel.single_row
    assert one.select("a")._rel.single_row


@pytest.mark.parametrize("verb", ["project", "with_columns"])
def test_there_is_something_to_compute(verb: str) -> None:
    with refused(InvalidArgumentError, verb, "at least one column"):
        getattr(table(ABC), verb)()


def test_a_project_of_the_algebra_needs_an_expression() -> None:
    with refused(InvalidArgumentError, "at least one expression"):
        Project(table(ABC)._rel, (), ())


def test_project_adds_and_does_not_replace() -> None:
    with refused(SchemaError, "project", '"b"', "with_columns"):
        table(ABC).project(b=1)


# --- with_columns ---


def test_with_columns_replaces_in_place_and_adds_at_the_end() -> None:
    rel = table(ABC).with_columns(new=lambda r: r.a, b=lambda r: r.a * 2)
    assert columns(rel) == "a: i64, b: i64, c: date, new: i64"


def test_every_expression_of_with_columns_sees_the_old_columns() -> None:
    rel = table("a: i64, b: string").with_columns(a=lambda r: r.b, b=lambda r: r.a)
    assert columns(rel) == "a: string, b: i64"


# --- select ---


@pytest.mark.parametrize(
    "chosen",
    [("b", "a"), (1, 0), (-2, -3), (sd.col("b"), sd.col("a")), (lambda r: r.b, lambda r: r["a"])],
    ids=["name", "position", "from the end", "col", "lambda"],
)
def test_select_takes_names_positions_and_expressions(chosen: tuple[Any, ...]) -> None:
    assert columns(table(ABC).select(*chosen)) == "b: string?, a: i64"


def test_selecting_columns_only_is_an_emit_and_no_project() -> None:
    rel = table(ABC).select("b", x=sd.lit("word"), again=lambda r: r.b)
    assert columns(rel) == "b: string?, x: string, again: string?"
    assert isinstance(rel._rel, Emit)
    assert isinstance(rel._rel.input, Project)
    assert len(rel._rel.input.expressions) == 1  # the constant; the columns are only picked
    only_columns = table(ABC).select("b", again=lambda r: r.b)._rel
    assert isinstance(only_columns, Emit)
    assert only_columns.mapping == (1, 1)


def test_an_expression_needs_a_name() -> None:
    with refused(SchemaError, "select", "no name", "alias"):
        table(ABC).select(lambda r: r.a + 1)
    assert columns(table(ABC).select(lambda r: (r.a + 1).alias("next"))) == "next: i64"


def test_names_are_given_once() -> None:
    with refused(SchemaError, "select", '"a"', "alias"):
        table(ABC).select("a", "a")
    with refused(SchemaError, "select", '"a"'):
        table(ABC).select("a", a=lambda r: r.c)
    with refused(InvalidArgumentError, "select", "at least one column"):
        table(ABC).select()


# --- drop, rename ---


def test_drop_and_rename() -> None:
    assert columns(table(ABC).drop("b")) == "a: i64, c: date"
    assert columns(table(ABC).rename(a="x", c="a")) == "x: i64, b: string?, a: date"
    assert columns(table(ABC).rename({1: "x"})) == "a: i64, x: string?, c: date"


def test_a_function_renames_all_columns() -> None:
    assert columns(table(ABC).rename(lambda name: f"{name}_right")) == "a_right: i64, b_right: string?, c_right: date"
    assert columns(table(ABC).rename(lambda name: "x" if name == "b" else name)) == "a: i64, x: string?, c: date"
    assert columns(table(ABC).rename(str.upper)) == "A: i64, B: string?, C: date"
    twice = table(ABC).cross(table("a: i64"))
    assert columns(twice.rename(str.upper)) == "A: i64, B: string?, C: date, A: i64"


def test_functions_that_rename_nothing_right_are_refused() -> None:
    with refused(SchemaError, 'rename, column "b"', 'two columns would be called "x": this and "a"'):
        table(ABC).rename(lambda _: "x")
    with refused(InvalidArgumentError, 'rename, column "b"', "returns the new name, a str, got None"):
        table(ABC).rename({"a": "x"}.get)
    with refused(InvalidArgumentError, "rename: lambda(old, new) does not take one name"):
        table(ABC).rename(lambda old, new: old)
    with refused(InvalidArgumentError, "rename", 'one by one; "c" stands beside', "call rename twice"):
        table(ABC).rename(lambda name: name, c="x")
    with refused(InvalidArgumentError, "rename: upper is a function of columns", "lambda name: name.upper()"):
        table(ABC).rename(f.upper)
    with refused(InvalidArgumentError, "rename", "got {'a': 'x'}", "without a name: rename({...})"):
        table(ABC).rename(columns={"a": "x"})
    with pytest.raises(KeyError, match="'b'"):  # the mistake is that of the function
        table(ABC).rename(lambda name: {"a": "x"}[name])


def test_renaming_keeps_all_properties() -> None:
    rel = declared("a: i64, b: i64", ascending(0), distribution=SINGLETON)
    assert rel.rename(a="x").properties == rel.properties


def test_drop_and_rename_refuse_what_is_not_there() -> None:
    with refused(UnknownFieldError, "drop", '"bb"', 'did you mean "b"'):
        table(ABC).drop("bb")
    with refused(SchemaError, "drop", "no column would be left"):
        table(ABC).drop("a", "b", "c")
    with refused(UnknownFieldError, "rename", '"bb"', 'did you mean "b"'):
        table(ABC).rename(bb="x")
    with refused(SchemaError, "rename", 'two columns would be called "b"'):
        table(ABC).rename(a="b")
    twice = table("a: i64").cross(table("a: i64"))
    with refused(AmbiguousFieldError, "rename", '"a"', "0, 1"):
        twice.rename(a="x")
    assert columns(twice.rename({1: "x"})) == "a: i64, x: i64"
