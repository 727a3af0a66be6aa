"""The dialects that queries are written in, what their types are called, and the trees that sqlglot makes of text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Literal, get_args

import attrs

from substrait_dsl.algebra import types as t
from substrait_dsl.errors import InvalidArgumentError, InvalidChoiceError, UnsupportedError
from substrait_dsl.installation import install_line

if TYPE_CHECKING:
    from sqlglot import exp

SqlDialect = Literal["duckdb", "spark"]
"""The dialects that are written: those of engines that the tests run."""

SQL_DIALECTS: tuple[SqlDialect, ...] = get_args(SqlDialect)

UNCHECKED = frozenset(
    {
        *("athena", "bigquery", "clickhouse", "databricks", "datafusion", "exasol", "fabric", "hive", "materialize"),
        *("mysql", "oracle", "postgres", "presto", "redshift", "risingwave", "snowflake", "sqlite", "starrocks"),
        *("teradata", "trino", "tsql"),
    }
)
"""Dialects that sqlglot knows, or people ask for, whose engines the tests do not run."""


@attrs.frozen
class Dialect:
    """A dialect, and what its engine calls types."""

    name: SqlDialect
    title: str
    """The name of the engine, for messages."""
    types: Mapping[t.Type, str]
    """What types without parameters are called."""
    text_type: str
    """What a text with a length is kept as."""

    def type_text(self, type_: t.Type, *, is_ordered: bool = True) -> str:
        """Return what a type is called.

        Args:
            type_: a type.
            is_ordered: whether its values may be put in an order. Those of structs may not: NULLs in them are the first
                or the last to an engine, whatever the order says. They are compared for equality.

        Raises:
            UnsupportedError: it is not written.
        """
        required = type_.as_required()
        match required:
            case t.Decimal(precision=precision, scale=scale):
                return f"DECIMAL({precision}, {scale})"
            case t.VarChar():
                return self.text_type
            case t.Struct(types=types) if not is_ordered and (names := simple_names(required)):
                quote, link = ('"', " ") if self.name == "duckdb" else ("`", ": ")
                fields = [
                    f"{quote}{name}{quote}{link}{self.type_text(each, is_ordered=False)}"
                    for name, each in zip(names, types, strict=True)
                ]
                return f"STRUCT({', '.join(fields)})" if self.name == "duckdb" else f"STRUCT<{', '.join(fields)}>"
            case _ if required in self.types:
                return self.types[required]
            case _:
                raise UnsupportedError(
                    f"values of {required} are not written as SQL of {self.title}",
                    hint="choose other columns, or execute(session) runs the plan",
                )


def simple_names(type_: t.Type) -> tuple[str, ...]:
    """Return the names of the fields of a struct; none where engines may read them, or compare the values, otherwise.

    Engines need not agree on which floating-point numbers in a struct are equal: zeros, and what is no number.
    """
    has_floats = isinstance(type_, t.Struct) and any(isinstance(each, t.FP32 | t.FP64) for each in type_.types)
    names = type_.names if isinstance(type_, t.Struct) and not has_floats else None
    is_simple = names and all(re.fullmatch(r"[a-z_][a-z0-9_]*", name) for name in names)
    return tuple(names) if names and is_simple and len({*names}) == len(names) else ()


def require_same_fields(types: Sequence[t.Type]) -> None:
    """Raise `UnsupportedError` for structs of which engines would bring fields together by their names."""
    found = {type_.names for type_ in types if isinstance(type_, t.Struct)}
    if len(found) > 1:
        raise UnsupportedError(
            "structs whose fields have different names are not put together in SQL",
            hint="make the struct anew: sd.struct_of(a=..., b=...)",
        )


DUCKDB = Dialect(
    "duckdb",
    "DuckDB",
    {
        t.Boolean(): "BOOLEAN",
        t.I8(): "TINYINT",
        t.I16(): "SMALLINT",
        t.I32(): "INT",
        t.I64(): "BIGINT",
        t.FP32(): "REAL",
        t.FP64(): "DOUBLE",
        t.String(): "TEXT",
        t.Binary(): "BLOB",
        t.Date(): "DATE",
        t.PrecisionTimestamp(6): "TIMESTAMP",
        t.PrecisionTimestampTZ(6): "TIMESTAMPTZ",
    },
    "TEXT",
)

SPARK = Dialect(
    "spark",
    "Spark",
    {
        t.Boolean(): "BOOLEAN",
        t.I8(): "TINYINT",
        t.I16(): "SMALLINT",
        t.I32(): "INT",
        t.I64(): "BIGINT",
        t.FP32(): "FLOAT",
        t.FP64(): "DOUBLE",
        t.String(): "STRING",
        t.Binary(): "BINARY",
        t.Date(): "DATE",
        t.PrecisionTimestamp(6): "TIMESTAMP_NTZ",
        t.PrecisionTimestampTZ(6): "TIMESTAMP",
    },
    "STRING",
)

DIALECTS: Mapping[str, Dialect] = {"duckdb": DUCKDB, "spark": SPARK}


def find_dialect(name: object) -> Dialect:
    """Return the dialect of a name.

    Raises `InvalidChoiceError` for a name that is none, `UnsupportedError` for a dialect whose engine the tests do not
    run.
    """
    if not isinstance(name, str):
        raise InvalidArgumentError("the dialect is a name", got=name)
    if name in UNCHECKED:
        raise UnsupportedError(
            f"what {name} computes is not tested, so nothing is known to be exact in it",
            hint=f'sqlglot.transpile(relation.to_sql("duckdb"), read="duckdb", write="{name}") writes it, unchecked',
        )
    if name not in DIALECTS:
        raise InvalidChoiceError.of_word("dialect", name, SQL_DIALECTS)
    return DIALECTS[name]


def require_sqlglot() -> None:
    """Raise `UnsupportedError` with what to install where sqlglot is not."""
    try:
        import sqlglot  # noqa: F401
    except ImportError as error:
        raise UnsupportedError("SQL is written by sqlglot, which is not installed", hint=install_line("sql")) from error


@cache
def parse(text: str, dialect: SqlDialect) -> exp.Expr:
    """Return the tree of an expression in a dialect; who changes it takes a copy."""
    import sqlglot

    return sqlglot.parse_one(text, read=dialect)


@cache
def parse_type(text: str, dialect: SqlDialect) -> exp.DataType:
    """Return the tree of a type."""
    from sqlglot import exp

    return exp.DataType.build(text, dialect=dialect)
