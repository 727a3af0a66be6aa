"""What a hint says to write exists: each function, verb and argument that the hints of the library name."""

from __future__ import annotations

import builtins
import datetime
import decimal
import inspect
import keyword
import pkgutil
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl import api, everyday, partiql
from substrait_dsl.hints import receivers, words
from substrait_dsl.spark import session
from tests.hint_texts import ROOT, Texts, calls, mentions

ELSEWHERE = {
    "frame.createOrReplaceTempView": "pyspark.sql:DataFrame.createOrReplaceTempView",
    "df.createOrReplaceTempView": "pyspark.sql:DataFrame.createOrReplaceTempView",
    ".createOrReplaceTempView": "pyspark.sql:DataFrame.createOrReplaceTempView",
    ".cache": "pyspark.sql:DataFrame.cache",
    ".checkpoint": "pyspark.sql:DataFrame.checkpoint",
    ".persist": "pyspark.sql:DataFrame.persist",
    ".sample": "pyspark.sql:DataFrame.sample",
    ".toArrow": "pyspark.sql:DataFrame.toArrow",
    ".write.bucketBy": "pyspark.sql:DataFrameWriter.bucketBy",
    ".write.csv": "pyspark.sql:DataFrameWriter.csv",
    ".write.jdbc": "pyspark.sql:DataFrameWriter.jdbc",
    ".write.json": "pyspark.sql:DataFrameWriter.json",
    ".write.option": "pyspark.sql:DataFrameWriter.option",
    ".write.options": "pyspark.sql:DataFrameWriter.options",
    ".write.text": "pyspark.sql:DataFrameWriter.text",
    "SparkSession.builder.getOrCreate": "pyspark.sql:SparkSession.builder.getOrCreate",
    "spark.conf.unset": "pyspark.sql.conf:RuntimeConfig.unset",
    "writeStream.foreachBatch": "pyspark.sql.streaming:DataStreamWriter.foreachBatch",
    "data.decode": "builtins:bytes.decode",
    ".expanduser": "pathlib:Path.expanduser",
    "frame.to_dicts": "polars:DataFrame.to_dicts",
    ".write_csv": "polars:DataFrame.write_csv",
    ".write_parquet": "polars:DataFrame.write_parquet",
    ".empty_table": "pyarrow:Schema.empty_table",
    ".rename_columns": "pyarrow:Table.rename_columns",
    "reader.read_all": "pyarrow:RecordBatchReader.read_all",
    "table.replace_schema_metadata": "pyarrow:Table.replace_schema_metadata",
    "table.to_pylist": "pyarrow:Table.to_pylist",
    "value.tolist": "numpy:ndarray.tolist",
    "frame.astype": "pandas:DataFrame.astype",
    ".to_parquet": "pandas:DataFrame.to_parquet",
}
"""What hints name of other libraries, and what it is there."""

SQL = frozenset(
    ("CAST", "TIME", "VARCHAR", "array_agg", "char", "decimal", "percentile_cont", "regexp_like", "to_char", "var_samp")
)
"""What they name of SQL, in texts of queries and types."""

OF_THE_PROGRAM = frozenset(("connection.load_extension", "each", "my.total"))
"""What the program has: functions of its own, and a connection of DuckDB."""

MODULES = {
    "sd": "substrait_dsl",
    "substrait_dsl": "substrait_dsl",
    "functions": "substrait_dsl.functions",
    "everyday": "substrait_dsl.everyday",
    "dt": "datetime",
    **{name: name for name in ("datetime", "multiprocessing", "os", "pathlib", "pyarrow", "sqlglot", "zoneinfo")},
}
"""What stands before a dot, and what it is."""


@cache
def classes() -> tuple[type, ...]:
    """The classes of which the hints call methods."""
    public = [getattr(module, name) for module in (api, partiql) for name in module.__all__ if hasattr(module, name)]
    found = [each for each in public if isinstance(each, type)]
    rows = sd.read_virtual([(1,)], {"x": "i64"})
    made = (
        sd.when(sd.col("x") == 1),
        sd.when(sd.col("x") == 1).then(1),
        rows.group_by("x"),
        sd.functions.sum(sd.col("x")),
        sd.functions.rank(),
        rows.schema,
        rows.write,
        rows.to_plan(),
        sd.catalog.standard_catalog(),
    )
    return (*found, *map(type, made))


@cache
def callables(name: str) -> tuple[Any, ...]:
    """All that is called by a name without a receiver, or as a method."""
    plain = (sd, sd.functions, everyday, partiql, session, builtins, decimal, datetime)
    return (
        *(getattr(each, name) for each in plain if hasattr(each, name)),
        *(getattr(each, name) for each in classes() if hasattr(each, name)),
    )


def named(called: str) -> tuple[Any, ...]:
    """What a hint means by what it calls; nothing if there is no such thing."""
    first, dot, rest = called.partition(".")
    if not first or not dot:
        return callables(called.rpartition(".")[2])
    holder = (
        f"{MODULES[first]}.{rest}" if first in MODULES else f"substrait_dsl.{called}" if first[0].isupper() else None
    )
    if holder is None:
        return callables(called.rpartition(".")[2])
    try:
        return (pkgutil.resolve_name(holder),)
    except (ImportError, AttributeError):
        return ()


def takes(function: Any, argument: str) -> bool:
    """Whether a function has an argument of a name."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return True  # one of C's
    return argument in parameters or any(each.kind is each.VAR_KEYWORD for each in parameters.values())


def faults(text: str) -> Iterator[str]:
    """Yield what a text calls that there is not."""
    for called, arguments in calls(text):
        if not called or called in ELSEWHERE or called in SQL | OF_THE_PROGRAM or keyword.iskeyword(called):
            continue
        found = named(called)
        if not found:
            yield f"{called}(...)"
        for argument in arguments:
            if found and not any(takes(each, argument) for each in found):
                yield f"{called}({argument}=...)"
    yield from (name for name in mentions(text, MODULES) if not named(name))


@cache
def library() -> list[tuple[str, str]]:
    """The texts of all hints, and where each stands."""
    sources = {
        ".".join(("substrait_dsl", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__"): path
        for path in sorted(ROOT.rglob("*.py"))
    }
    code = Texts({module: path.read_text("utf-8") for module, path in sources.items()}).hints()
    table = ((f"[{receiver}] {word}", text) for receiver in receivers() for word, text in words(receiver).items())
    return [*((f"{module}:{line}", text) for module, line, text in code), *table]


def test_what_hints_name_is_there() -> None:
    found = {where: names for where, text in library() if (names := list(faults(text)))}
    assert found == {}


def test_the_hints_of_all_layers_are_found() -> None:
    """Those of code, of the table, and of the engines."""
    places = {where for where, text in library() if any(calls(text))}
    for part in ("algebra.", "arrow.", "consumers.", "fluent.", "partiql.", "spark.", "sql_output.", "sql_queries."):
        assert any(where.startswith(f"substrait_dsl.{part}") for where in places), part
    assert {"[relation] head", "[functions] year", "[errors] type-of-value", "[read_csv()] usecols"} <= places


def test_what_hints_name_of_other_libraries_is_there() -> None:
    found = {name for _, text in library() for name, _ in calls(text)}
    assert ELSEWHERE.keys() | SQL | OF_THE_PROGRAM <= found
    for path in ELSEWHERE.values():
        pkgutil.resolve_name(path)


WRONG: list[tuple[str, str]] = [
    ("write colect(spark)", "colect(...)"),
    ("write sd.read_cvs(path)", "sd.read_cvs(...)"),
    ("sd.INT64 is the type", "sd.INT64"),
    ("functions.summ(x) adds them", "functions.summ(...)"),
    ("substrait_dsl.everyday.colect_list(x)", "substrait_dsl.everyday.colect_list(...)"),
    ("Plan.from_byte(data) reads it", "Plan.from_byte(...)"),
    ('functions.sum(x).ovr(order_by="y")', ".ovr(...)"),
    ('read_csv(path, schema, seperator=";")', "read_csv(seperator=...)"),
    ('select("x").sort("y").write("t", mode="ctas")', ".write(mode=...)"),
    ("pyarrow.Table.from_list(rows)", "pyarrow.Table.from_list(...)"),
]


@pytest.mark.parametrize(("text", "fault"), WRONG)
def test_a_name_that_is_not_there_is_found(text: str, fault: str) -> None:
    assert fault in list(faults(text))


@pytest.mark.parametrize(
    "text",
    [
        'write \0(x).over(order_by="y"), or join(other, lambda left, right: left.a == right.b)',
        'read_csv(path, schema).select("id"); lit(datetime.date(2024, 5, 31)); Decimal("0.05")',
        'the column(s) are those of sd.Schema; with_columns(x=col("x") == 1)',
    ],
)
def test_what_is_there_is_no_fault(text: str) -> None:
    assert list(faults(text)) == []


ERROR = 'raise InvalidArgumentError("x", hint={})'
SOURCES: list[dict[str, str]] = [
    {"m": ERROR.format("'write colect()'")},
    {"m": "def f(name):\n    " + ERROR.format("f'{name}.colect() and the like'")},
    {"m": "_WAY_OUT = 'colect() it'\n" + ERROR.format("_WAY_OUT if x else None")},
    {"m": "from n import WAY_OUT\n" + ERROR.format("WAY_OUT"), "n": "WAY_OUT = 'colect() it'"},
    {"m": "def way_out():\n    return 'colect() it'\n" + ERROR.format("lambda: way_out()")},
    {"m": "def f():\n    text = 'colect() it'\n    " + ERROR.format("text")},
    {"m": "class Unfinished:\n    _advice = 'colect() it'"},
    {"m": "def fail(what, hint):\n    ...\nfail('x', 'colect() it')"},
    {"m": "def f(error):\n    error.hint = 'colect() it'"},
    {"m": "def load_hint(path):\n    return 'colect() it' if path else None"},
    {"m": "def f():\n    return (5, 'or write colect()')"},
    {"substrait_dsl.fluent.m": "WORDS = {'+': 'colect()'}"},
]


@pytest.mark.parametrize("modules", SOURCES, ids=lambda modules: next(iter(modules.values())))
def test_each_way_to_give_a_hint_is_found(modules: dict[str, str]) -> None:
    assert "colect(...)" in [fault for *_, text in Texts(modules).hints() for fault in faults(text)]
