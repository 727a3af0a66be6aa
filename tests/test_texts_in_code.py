"""No text of a plan becomes code: the places where text is put into what other programs parse are in two tables.

Whoever adds a place looks at what stands there. What a plan may choose goes through `text_to_sql`, `failing`,
`statement_name` or another function that quotes, and needs no line here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from substrait_dsl.algebra import types as t
from substrait_dsl.spark.expressions.casts import cast_to_sql, fitting
from substrait_dsl.spark.expressions.literals import failing, record_to_sql

PACKAGE = Path(__file__).parent.parent / "substrait_dsl"
FOLDERS = ("spark", "sql_output", "consumers", "engines")

INSIDE_QUOTES: Mapping[str, frozenset[str]] = {
    module: frozenset(values)
    for module, values in {
        "consumers/acero.py": ("profile.version",),
        "consumers/duckdb.py": ("message", "_VARIABLES"),  # the quotes in the message are doubled
        "consumers/text.py": ("sign", "seconds // 86400", "time"),
        "spark/catalog/table_names.py": ("name.replace('`', '``')",),
        "spark/changes/iceberg_snapshots.py": ("_PROPERTY", "mark"),  # which the library draws
        "spark/changes/statements.py": ("escaped",),
        "spark/evaluation.py": ("uuid.uuid4().hex",),
        "spark/expressions/ddl.py": ("name.replace('`', '``')",),  # DDL that is shown
        "spark/expressions/functions_everyday.py": ("next(names).replace('`', '``')",),  # DDL in a constant
        "spark/expressions/functions_format.py": ("filler",),
        "spark/expressions/functions_partiql.py": ("schema", "sql_type"),
        "spark/expressions/functions_string.py": ("SIGMA", "SMALL_SIGMA", "LAST_SIGMA", "NO_ESCAPE", "NO_ESCAPE * 2"),
        "spark/expressions/literals.py": (
            "value", "value.encode().hex()", "value.hex()", "value.isoformat()", "text", "sign", "abs(months) // 12",
            "abs(months) % 12", "seconds // 3600", "seconds // 60 % 60", "seconds % 60", "micros", "seconds // 86400",
            "clock", "'-' if micros < 0 else ''",
        ),
        "spark/guards/queries.py": ("_LONG",),
        "spark/guards/values.py": ("_DIGITS", "'0' * 37"),
        "spark/relations/output.py": ("name",),  # a plain one
        "spark/sail/engine.py": ("literal.value", "crc32(text.encode())"),  # an integer
        "spark/sail/float_texts.py": ("_texts_next_to_zero(_LEAST[type(type_)])",),  # numbers
        "spark/sail/failures.py": ("groups['value']",),  # in a message
        "spark/sources/orc_files.py": ("zone",),
        "spark/sources/partition_values.py": ("NULL_FOLDER",),
        "spark/sources/reads.py": ("name",),  # a plain one
        "sql_output/datetimes.py": ("12 * years + months", "days", "86400 * days + seconds", "unit"),  # of a table
        "sql_output/literals.py": ("word",),
    }.items()
}  # fmt: skip
"""By module, what stands between quotes or backticks of an f-string: numbers, constants of ours, and what is quoted."""

PARSERS = frozenset(("expr", "selectExpr", "sql", "createDataFrame", "eval", "exec"))

CALLERS: Mapping[str, frozenset[str]] = {
    module: frozenset(names.split())
    for module, names in {
        "spark/catalog/session_catalog.py": "sql",
        "spark/catalog/table_metadata.py": "sql",
        "spark/catalog/table_names.py": "sql",
        "spark/changes/conflicts.py": "sql",
        "spark/changes/definitions.py": "sql",
        "spark/changes/iceberg_snapshots.py": "sql",
        "spark/changes/inserts.py": "selectExpr sql",
        "spark/changes/sinks.py": "selectExpr",
        "spark/changes/statements.py": "createDataFrame sql",
        "spark/changes/table_files.py": "sql",
        "spark/changes/table_replacement.py": "sql",
        "spark/changes/updates.py": "sql",
        "spark/changes/writes.py": "sql",
        "spark/expressions/bound_functions.py": "createDataFrame expr",
        "spark/expressions/sorting.py": "expr",
        "spark/lowering.py": "sql",
        "spark/relations/frames.py": "expr selectExpr sql",
        "spark/relations/partitions.py": "expr selectExpr",
        "spark/sail/files.py": "selectExpr",
        "spark/session/execution_context.py": "sql",
        "spark/session/servers.py": "sql",
        "spark/sources/arrow_tables.py": "createDataFrame",
        "spark/sources/delimited_text.py": "selectExpr",
        "spark/sources/orc_files.py": "selectExpr",
        "spark/sources/partition_columns.py": "expr",
        "spark/sources/reads.py": "sql",
        "spark/sources/virtual_tables.py": "createDataFrame",
    }.items()
}
"""By module, the functions of sessions and frames that parse text, as far as it calls them."""


@cache
def modules() -> dict[str, ast.Module]:
    """The modules that write text for others."""
    paths = [path for folder in FOLDERS for path in sorted((PACKAGE / folder).rglob("*.py"))]
    return {path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text("utf-8")) for path in paths}


def inside_quotes(text: ast.JoinedStr) -> Iterator[str]:
    """Yield what an f-string puts between quotes; an apostrophe within a word is none."""
    before = ""
    for part in text.values:
        if isinstance(part, ast.Constant):
            before += re.sub(r"(?<=\w)'(?=s\b)", "", str(part.value))
        elif isinstance(part, ast.FormattedValue) and (before.count("'") % 2 or before.count("`") % 2):
            yield ast.unparse(part.value)


def test_what_stands_between_quotes_is_in_the_table() -> None:
    found: dict[str, set[str]] = {}
    for module, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                for value in inside_quotes(node):
                    found.setdefault(module, set()).add(value)
    assert found == INSIDE_QUOTES


def is_of_session(function: ast.Attribute) -> bool:
    """Whether a function is one of a session or a frame; ``here.sql(x)`` writes an expression of ours."""
    return (
        function.attr != "sql"
        or re.fullmatch(r"(?:\w+\.)*(?:spark|execution)", ast.unparse(function.value)) is not None
    )


def test_who_has_text_parsed_is_in_the_table() -> None:
    found: dict[str, set[str]] = {}
    for module, tree in modules().items():
        for node in ast.walk(tree):
            match node:
                case ast.Call(func=ast.Attribute(attr=name) as function) if name in PARSERS and is_of_session(function):
                    found.setdefault(module, set()).add(name)
                case ast.Call(func=ast.Name(id="eval" | "exec" as name)):
                    found.setdefault(module, set()).add(name)
    assert found == CALLERS


def test_text_of_types_and_messages_ends_no_constant() -> None:
    odd = t.TypeVariation("extension:acme:types", "x') OR raise_error('${env:HOME}")
    for sql in (
        fitting("v", t.VarChar(3, variation=odd)),
        failing("a text is no JSON of x') OR raise_error('"),
        record_to_sql({"x', y": "1"}),
        cast_to_sql("v", t.String(), t.VarChar(3), "throw"),
    ):
        assert re.sub(r"'[\w .,:/%#+\"()<>=-]*'", "", sql).count("'") == 0
        assert "${" not in sql
        assert "x'" not in sql
