"""To check a program is not to run it: the mypy plugin evaluates what its tables name, and nothing else.

Every name of every class of which it can hold a value is asked for here. What reaches out of the process, into a file
or into an interpreter, is an audit event of Python's own, which is refused while a value is asked.
"""

from __future__ import annotations

import datetime as dt
import decimal
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from types import FunctionType
from typing import Any, Literal

import pytest

import substrait_dsl as sd
from substrait_dsl import api
from substrait_dsl import functions as f
from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.errors import SubstraitDslError
from substrait_dsl.mypy_plugin import allowed, placeholders
from substrait_dsl.mypy_plugin.budget import (
    MAX_ARGUMENTS,
    MAX_BITS,
    MAX_COLUMNS,
    MAX_LENGTH,
    MAX_STEPS,
    VALUES_PER_STEP,
    Budget,
    NotEvaluatedError,
)
from substrait_dsl.mypy_plugin.enums import _make_member

READING_OR_RUNNING = {
    *("AceroSession", "Catalog", "Functions", "Plan", "errors", "from_arrow", "from_sql", "functions", "implement"),
    *("read_capabilities", "register_acero_functions", "schema_of", "standard_catalog"),
}
"""What reads files, or has methods that do, or gives plans that run."""

SAYING = {"reveal_schema"}
"""What says something when a program runs; in a checker the plugin says it."""

FOUND_IN_PLANS = {
    *(
        "Capabilities",
        "CheckFinding",
        "CheckMatrix",
        "Finding",
        "FindingCode",
        "FunctionCapability",
        "Report",
        "check_all",
    ),
    *("Access", "Accesses", "ExchangeKind", "Requirement", "SubstraitDslError"),
    *("ColumnChange", "ColumnLineage", "ColumnOrigin", "DeclarationChange", "Lineage", "PlanDiff"),
    *("SourceColumn", "StepChange", "diff"),
}
"""What no pipeline names."""


class Orders(sd.Schema):
    key: sd.I64
    name: sd.String


ORDERS = sd.read_named("orders", Orders)


HARMLESS = ("builtins.id", "object.__getattr__", "sys._getframe", "object.__setattr__", "object.__delattr__")


class Events:
    """What is done while something is watched: reading, writing, importing, running."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.watching = False
        sys.addaudithook(self._see)

    def _see(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.watching and event not in HARMLESS:
            self.seen.append(f"{event} {arguments!r:.200}")


@cache
def events() -> Events:
    """The events of this process; Python knows no way to stop listening."""
    return Events()


@contextmanager
def watched() -> Iterator[None]:
    """Nothing inside reads, writes, imports or runs anything."""
    _ = ex.AnyExpression, rl.AnyRelation  # the library loads its own classes when one is used
    found = events()
    found.seen.clear()
    found.watching = True
    try:
        yield
    finally:
        found.watching = False
    assert found.seen == []


VALUES: dict[str, Callable[[], Any]] = {
    "text": lambda: "x{}",
    "bytes": lambda: b"x",
    "int": lambda: 3,
    "bool": lambda: True,
    "float": lambda: 1.5,
    "None": lambda: None,
    "slice": lambda: slice(0, 1),
    "list": lambda: ["x"],
    "tuple": lambda: ("x",),
    "dict": lambda: {"x": 1},
    "keys": lambda: {"x": 1}.keys(),
    "values": lambda: {"x": 1}.values(),
    "items": lambda: {"x": 1}.items(),
    "date": lambda: dt.date(2024, 1, 1),
    "datetime": lambda: dt.datetime(2024, 1, 1, tzinfo=dt.UTC),
    "time": lambda: dt.time(1),
    "timedelta": lambda: dt.timedelta(1),
    "timezone": lambda: dt.UTC,
    "decimal": lambda: decimal.Decimal("1.5"),
    "uuid": lambda: uuid.UUID(int=1),
    "Literal": lambda: Literal,
    "Literal[...]": lambda: Literal["x"],
    "list[...]": lambda: list[int],
    "class str": lambda: str,
    "class dict": lambda: dict,
    "class date": lambda: dt.date,
    "class Decimal": lambda: decimal.Decimal,
    "function": lambda: len,
    "relation": lambda: ORDERS,
    "row": lambda: placeholders.make_row(ORDERS.schema.struct),
    "schema class": lambda: Orders,
    "schema instance": lambda: Orders(key=sd.col("key"), name=sd.col("name")),
    "row or instance": lambda: placeholders.make_schema_instance("m", "Orders", ORDERS.schema.struct),
    "schema": lambda: ORDERS.schema,
    "struct": lambda: ORDERS.schema.struct,
    "field": lambda: ORDERS.schema.fields[0],
    "groups": lambda: ORDERS.group_by("key"),
    "column": lambda: sd.col("key"),
    "bound column": lambda: ORDERS.c.key,
    "constant": lambda: sd.lit(1),
    "measure": lambda: f.count(),
    "window function": lambda: f.row_number(),
    "when": lambda: sd.when(sd.lit(True)),
    "then": lambda: sd.when(sd.lit(True)).then(1),
    "sort key": lambda: sd.asc("key"),
    "type": lambda: sd.Decimal(15, 2),
    "struct type": lambda: sd.Struct.of({"a": sd.I64()}),
    "class of types": lambda: sd.Decimal,
    "class of structs": lambda: sd.Struct,
    "nullable": lambda: sd.Nullable,
    "catalogue function": lambda: f.sum,
    "public function": lambda: sd.col,
    "method": lambda: ORDERS.filter,
    "lambda": lambda: sd.lambda_({"x": sd.I64}, lambda x: x),
    "Python lambda": lambda: lambda row: row.key,
    "record": lambda: sd.record(sd.lit(1)),
    "join key": lambda: sd.join_key("key", "key"),
    "file slice": lambda: sd.FileSlice("file"),
    "format": lambda: sd.Parquet(),
    "message": lambda: sd.AnyMessage("x", b""),
    "subtree": lambda: sd.subtree(ORDERS),
    "expressions": lambda: sd.ExtendedExpression({"a": sd.I64}, x=sd.lit(1)),
    "generator": lambda: (each for each in "x"),
    "module": lambda: sys,
    "exception": lambda: SubstraitDslError("x"),
}
"""A value of each class that the plugin can hold, and some that it must not."""

HIDDEN = ("gi_frame", "f_globals", "f_back", "mro", "format_map", "translate", "modules", "tb_frame")


def test_no_name_in_the_tables_begins_with_an_underscore() -> None:
    tables = (allowed.METHODS, allowed.ATTRIBUTES, allowed.CLASS_METHODS, allowed.CLASS_ATTRIBUTES)
    names = {name for table in tables for each in table.values() for name in each}
    names |= {name for methods in allowed.PYTHON_METHODS.values() for name in methods}
    names |= {name.rpartition(".")[2] for name in allowed.PYTHON_FUNCTIONS} | allowed.LIBRARY | allowed.PYTHON_CLASSES
    assert [name for name in sorted(names) if name.startswith("_")] == []


def test_each_name_in_the_tables_is_there() -> None:
    for table in (allowed.METHODS, allowed.ATTRIBUTES, allowed.CLASS_METHODS, allowed.CLASS_ATTRIBUTES):
        for kind, names in table.items():
            owners = [kind, sd.Struct, sd.Decimal] if kind is sd.Type else [kind]
            assert [name for name in names if not any(hasattr(owner, name) for owner in owners)] == []
    for kind, methods in allowed.PYTHON_METHODS.items():
        assert [name for name in methods if not callable(getattr(kind, name, None))] == []


def test_of_each_public_name_it_is_decided_whether_it_is_evaluated() -> None:
    called = {name for name in api.__all__ if isinstance(getattr(api, name), type | FunctionType)}
    refused = READING_OR_RUNNING | SAYING | FOUND_IN_PLANS
    assert allowed.LIBRARY & refused == set()
    assert sorted(called - allowed.LIBRARY - refused) == []


NOT_EVALUATED: dict[type, set[str]] = {
    sd.Relation: {
        *("check", "collect", "execute", "explain", "lineage", "properties", "running", "show", "to_arrow"),
        *("to_graphviz", "to_html", "to_mermaid", "to_pandas", "to_plan", "to_polars", "to_sql"),
    },
    sd.GroupBy: {"keys"},
    sd.Expr: set(),
    sd.Measure: set(),
}
"""What runs or shows a relation, or is no part of a pipeline."""


@pytest.mark.parametrize("owner", NOT_EVALUATED)
def test_of_each_public_method_it_is_decided_whether_it_is_evaluated(owner: type) -> None:
    """In METHODS or ATTRIBUTES of mypy_plugin/allowed.py, or here; or the plugin knows nothing after the call."""
    evaluated = {*allowed.METHODS[owner], *allowed.ATTRIBUTES.get(owner, ())}
    assert evaluated & NOT_EVALUATED[owner] == set()
    assert {name for name in dir(owner) if not name.startswith("_")} == evaluated | NOT_EVALUATED[owner]


@pytest.mark.parametrize("name", VALUES)
def test_no_name_of_a_value_leads_out(name: str) -> None:
    """Whatever comes of an attribute is a value of the tables, a method of theirs, or an error of the library's own."""
    value = VALUES[name]()
    others = (type(value), object, type, len, is_in_the_tables, is_in_the_tables.__code__)
    for each in sorted({*dir(value), *HIDDEN, *(name for other in others for name in dir(other))}):
        with watched():
            try:
                found = allowed.read_attribute(value, each)
            except (NotEvaluatedError, SubstraitDslError, AttributeError):
                continue
        assert not each.startswith("_"), each
        with watched():
            assert callable(found) or Budget().require_small(found) is found
        assert is_in_the_tables(value, each), each


def is_in_the_tables(value: object, name: str) -> bool:
    if isinstance(value, sd.Schema):
        return name in ORDERS.columns
    if isinstance(value, type):
        tables = (allowed.METHODS, allowed.CLASS_METHODS, allowed.CLASS_ATTRIBUTES)
        return any(name in table.get(base, ()) for table in tables for base in value.__mro__)
    if type(value) in allowed.PYTHON_METHODS:
        return name in allowed.PYTHON_METHODS[type(value)]
    return any(
        name in table.get(base, ()) for table in (allowed.METHODS, allowed.ATTRIBUTES) for base in type(value).__mro__
    )


@pytest.mark.parametrize("name", VALUES)
def test_every_method_of_a_value_is_pure(name: str) -> None:
    """Each is called with arguments of several kinds: none reads, writes, imports or runs anything."""
    value = VALUES[name]()
    arguments: list[tuple[Any, ...]] = [
        (),
        ("key",),
        (1,),
        (value,),
        (ORDERS,),
        (lambda *rows: rows[0],),
        ("key", "name"),
        (["key"],),
        ({"key": 1},),
        (sd.I64,),
        (ORDERS, True),
        ("/etc/passwd", {"key": sd.I64}),
    ]
    for each in sorted({*dir(value), *dir(type(value))}):
        try:
            method = allowed.read_attribute(value, each)
        except (NotEvaluatedError, SubstraitDslError, AttributeError):
            continue
        for given in arguments:
            budget = Budget()
            with suppress(*PURE):
                allowed.call(method, given, {}, budget)  # modules of the library's own that it needs are imported once
            with watched(), suppress(*PURE):
                budget.require_small(allowed.call(method, given, {}, budget))


PURE = (NotEvaluatedError, SubstraitDslError, TypeError, ValueError, LookupError, ArithmeticError, AttributeError)

FORBIDDEN: dict[str, Callable[[], Any]] = {
    "getattr": lambda: getattr,
    "open": lambda: open,
    "eval": lambda: eval,
    "type": lambda: type,
    "object": lambda: object,
    "read_capabilities": lambda: sd.read_capabilities,
    "standard_catalog": lambda: sd.standard_catalog,
    "Plan": lambda: sd.Plan,
    "today": lambda: dt.date.today,
    "getcontext": lambda: decimal.getcontext,
    "uuid1": lambda: uuid.uuid1,
    "map": lambda: map,
    "set": lambda: set,
    "append": lambda: [].append,
    "unbound format": lambda: str.format,
    "execute": lambda: ORDERS.execute,
    "explain": lambda: ORDERS.explain,
    "to_plan": lambda: ORDERS.to_plan,
    "a method of a class": lambda: Orders.__init_subclass__,
    "a function of a program": lambda: is_in_the_tables,
}


@pytest.mark.parametrize("name", FORBIDDEN)
def test_what_is_in_no_table_is_not_called(name: str) -> None:
    with pytest.raises(NotEvaluatedError):
        allowed.call(FORBIDDEN[name](), (), {}, Budget())


@pytest.mark.parametrize(
    "fullname",
    [
        *("builtins.open", "builtins.getattr", "builtins.type", "builtins.__import__", "os.system", "sys.exit"),
        *("datetime.sys", "decimal.getcontext", "uuid.uuid1", "uuid.os", "datetime.evil.run", "evil.run"),
        *("substrait_dsl.functions._standard", "substrait_dsl.functions.Functions", "substrait_dsl.functions.cache"),
        *("substrait_dsl.fluent.capabilities.read_capabilities", "substrait_dsl.cli.main"),
    ],
)
def test_what_is_in_no_table_is_not_looked_up(fullname: str) -> None:
    with watched(), pytest.raises((NotEvaluatedError, SubstraitDslError)):
        allowed.find_named(fullname)


FORMATS = [
    *("{0.__class__}", "{0[x]}", "{0.year}", "{x.y}", "{x[0]}", "{_x}", "{:{:{}}}", "{:1000000000}", "{:.1000000000}"),
    *("{:{}}", "{0:{1.year}}", "{:>99999999}"),
]


@pytest.mark.parametrize("form", FORMATS)
def test_formats_reach_into_no_value_and_ask_for_no_length(form: str) -> None:
    given = ("x", "1000000000", "2")
    with watched(), pytest.raises(NotEvaluatedError):
        allowed.call(form.format, given, {"x": "x", "_x": "x"}, Budget())


def test_texts_that_programs_put_together_are_evaluated() -> None:
    def called(method: Any, *given: Any) -> Any:
        return allowed.call(method, given, {}, Budget())

    assert called("{}_{:>3}{!r}".format, "a", 1, "b") == "a_  1'b'"
    assert called("{:{}}".format, 7, "03") == "007"
    assert called("{}".format, sd.I64()) == "i64"
    assert called("{:%Y_%m}".format, dt.date(2024, 3, 1)) == "2024_03"
    assert called("_".join, ["a", "b"]) == "a_b"
    assert called("a.b".replace, ".", "_") == "a_b"
    assert called(dict.fromkeys, ["a"], 1) == {"a": 1}
    assert called(dt.date.fromisoformat, "2024-03-01") == dt.date(2024, 3, 1)


HUGE: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "ljust": ("x".ljust, (10**12,)),
    "zfill": ("1".zfill, (10**12,)),
    "replace": (("x" * 5000).replace, ("x", "y" * 5000)),
    "replace of nothing": (("x" * 5000).replace, ("", "y" * 5000)),
    "join": (("x" * 5000).join, (["y"] * 5000,)),
    "join of texts": ("".join, (["y" * 5000] * 5000,)),
    "int of a decimal": (int, (decimal.Decimal("1E+99999999"),)),
    "int of a small decimal": (int, (decimal.Decimal("1E-99999999"),)),
    "a decimal": (decimal.Decimal("1").quantize, (decimal.Decimal("1E-99999999"),)),
    "sum": (sum, ([1] * (MAX_LENGTH + 1),)),
    "str of a number": (str, (1 << (MAX_BITS + 1),)),
    "sorted": (sorted, ([[1] * 200] * 200,)),
}


@pytest.mark.parametrize("name", HUGE)
def test_what_would_be_huge_is_not_computed(name: str) -> None:
    function, given = HUGE[name]
    with pytest.raises(NotEvaluatedError):
        allowed.call(function, given, {}, Budget())


def test_values_that_stand_in_each_other_are_counted_as_often_as_they_stand_there() -> None:
    value: list[Any] = [1]
    for _ in range(64):
        value = [value, value]
    with pytest.raises(NotEvaluatedError):
        Budget().require_small(value)


@pytest.mark.parametrize(
    "doubled",
    [
        lambda kind: sd.Struct.of({"x": kind, "y": kind}),
        lambda kind: sd.Map(kind, kind),
        lambda kind: sd.List(sd.Struct.of({"x": kind, "y": kind})),
        lambda value: sd.struct_of(x=value, y=value),
        lambda value: sd.list_of(sd.struct_of(x=value, y=value)),
    ],
    ids=["struct", "map", "list", "struct of values", "list of values"],
)
def test_types_that_stand_in_each_other_are_counted_as_often_as_they_stand_there(
    doubled: Callable[[Any], Any], request: pytest.FixtureRequest
) -> None:
    made: Any = sd.lit(1) if request.node.callspec.id.endswith("values") else sd.I64()
    for _ in range(10):
        made = Budget().require_small(doubled(made))
    for _ in range(4):
        made = doubled(made)
    with pytest.raises(NotEvaluatedError):
        Budget().require_small(made)


@pytest.mark.parametrize("function", [sorted, max, tuple])
def test_what_python_goes_through_takes_steps(function: Callable[..., Any]) -> None:
    budget = Budget()
    given = [[1] * (MAX_LENGTH - 1)]
    for _ in range(MAX_STEPS * VALUES_PER_STEP // MAX_LENGTH - 1):
        allowed.call(function, given, {}, budget)
    with pytest.raises(NotEvaluatedError):
        allowed.call(function, given, {}, budget)


@pytest.mark.parametrize("function", [f.coalesce, f.and_, f.concat])
def test_functions_have_a_bound_of_arguments(function: Callable[..., Any]) -> None:
    with pytest.raises(NotEvaluatedError):
        allowed.call(function, [sd.col("key")] * (MAX_ARGUMENTS + 1), {}, Budget())


def test_steps_and_columns_have_a_bound() -> None:
    budget = Budget()
    budget.spend(MAX_STEPS)
    with pytest.raises(NotEvaluatedError):
        budget.spend()
    wide = sd.read_named("wide", {f"c{number}": sd.I64 for number in range(MAX_COLUMNS + 1)})
    with pytest.raises(NotEvaluatedError):
        Budget().require_small(wide)
    budget.reset()
    assert Budget().require_small(ORDERS) is ORDERS


@pytest.mark.parametrize("text", ["__import__('os').system('false')", "I64"])
def test_no_text_becomes_an_expression_of_python(text: str) -> None:
    for whole in (list, dict, tuple, sd.Nullable, sd.List, sd.Struct):
        with watched(), pytest.raises(NotEvaluatedError):
            allowed.read_item(whole, text)
        with watched(), pytest.raises(NotEvaluatedError):
            allowed.read_item(whole, (sd.I64, text))


@pytest.mark.parametrize(
    ("member", "value", "base"),
    [("A", "b", "enum.IntEnum"), ("A", 1, "enum.StrEnum"), ("A", "b", "builtins.int"), ("mro", 1, "enum.Enum")],
)
def test_members_that_python_does_not_make_are_not_known(member: str, value: object, base: str) -> None:
    assert _make_member("Fault", member, value, [base]) is None
    assert _make_member("Right", "A", 1, ["enum.IntEnum"]) == 1
