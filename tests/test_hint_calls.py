"""What hints for functions and verbs of others say to write is written, and gives a column or a relation."""

from __future__ import annotations

import ast
import datetime
import itertools
import re
from collections.abc import Iterator
from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl import api
from substrait_dsl.errors import SubstraitDslError
from substrait_dsl.hints import words

TYPES = (
    "fp64",
    "string",
    "i64",
    "i32",
    "date",
    "boolean",
    "precision_timestamp<6>",
    "precision_timestamp_tz<6>",
    "list<fp64>",
    "nstruct<xs: list<i64>>",
    "map<string, i64>",
)
"""What a column may be that a hint calls x or y: it is for one of these at least."""

ONE = sd.read_virtual([(0,)], {"z": "i64"})
NAMES: dict[str, Any] = {
    **{name: getattr(sd, name) for name in api.__all__},
    **{name: getattr(sd.functions, name) for name in dir(sd.functions) if not name.startswith("_")},
    **dict.fromkeys(("start", "length", "digits", "group", "value"), 1),
    "functions": sd.functions,
    "substrait_dsl": sd,
    "datetime": datetime,
    "pattern": "a",
    "format": "%Y-%m-%d",
    "path": "$.a",
    "name": "copies",
    "target": "copies",
    "uri": "out",
    "values": [1.0, 2.0],
    "to": "string",
    "always": sd.lit(True),
    "one": ONE,
    "relation": ONE,
}
"""What stands in hints beside columns: functions, types, and constants and relations that they call by a name."""


def code(advice: str) -> str | None:
    """The expression that an advice begins with; None if it is the name of a function, or leaves all arguments open."""
    for end in reversed([found.start() for found in re.finditer(r"[,;:]? |,|;|:|$", advice)]):
        try:
            node = ast.parse(advice[:end].strip(), mode="eval").body
        except SyntaxError:
            continue
        calls = [each for each in ast.walk(node) if isinstance(each, ast.Call)]
        prose = [each for each in ast.walk(node) if isinstance(each, ast.BoolOp | ast.In | ast.NotIn)]
        if isinstance(node, ast.Tuple) or prose or not calls or isinstance(node, ast.Name):
            continue
        is_open = all(map(is_ellipsis, calls[0].args)) and bool(calls[0].args) and not calls[0].keywords
        return None if is_open or advice.startswith("substrait_dsl.Relation.") else advice[:end].strip()
    return None


def is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


class Filled(ast.NodeTransformer):
    """What a hint leaves open is filled in: a column in ``order_by=...``, a condition in ``lambda x: ...``."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:  # as ast calls it
        return ast.Constant("key") if is_ellipsis(node) else node

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        body = ast.Name("always", ast.Load()) if is_ellipsis(node.body) else self.visit(node.body)
        return ast.Lambda(node.args, body)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        match node:
            case ast.Call(func=ast.Attribute(attr="over"), args=[argument]) if is_ellipsis(argument):
                node = ast.Call(node.func, [], [ast.keyword("order_by", ast.Constant("key"))])
            case ast.Call(func=ast.Attribute(attr="set_op"), args=[word, argument]) if is_ellipsis(argument):
                node = ast.Call(node.func, [word, ast.Name("other", ast.Load())], [])
        return self.generic_visit(node)


def filled(written: str) -> ast.Expression:
    """The tree of an expression, with what it leaves open."""
    tree: ast.Expression = Filled().visit(ast.parse(written, mode="eval"))
    return ast.fix_missing_locations(tree)


def parts(receiver: str) -> Iterator[str]:
    """Yield the expressions in the advice for a receiver: before each semicolon, and after an "or"."""
    for advice in words(receiver).values():
        for part in re.split(r"; |, or ", advice):
            if (found := code(part)) is not None:
                yield found


def results(written: str) -> Iterator[object]:
    """Yield the relation that an expression gives a column of, for each pair of types that it takes."""
    program = compile(filled(written), "hint", "eval")
    for one, two in itertools.product(TYPES, TYPES):
        rows: Any = sd.read_named("t", COLUMNS | {"x": one, "y": two, "a": one})
        for verb in ("select", "aggregate"):
            try:
                yield getattr(rows, verb)(z=lambda r: eval(program, NAMES | columns_of(r)))
            except SubstraitDslError:
                continue


COLUMNS = {
    "key": "i64",
    "k": "i64",
    "day": "date",
    "xs": "list<fp64>",
    "time": "precision_timestamp<6>",
    "grouping_set": "i32",
}
TEXTS: Any = sd.read_named("t", {"x": "string", "key": "string"})
OTHER: Any = sd.read_named("u", {"key": "i64", "time": "precision_timestamp<6>", "b": "fp64"})


def relations(written: str) -> Iterator[object]:
    """Yield what an expression makes of a relation, for each pair of types that it takes."""
    program = compile(filled(written), "hint", "eval")
    for one, two in itertools.product(TYPES, TYPES):
        rows: Any = sd.read_named("t", COLUMNS | {"x": one, "y": two, "a": one})
        for relation, other in ((rows, rows), (rows, OTHER), (TEXTS, TEXTS)):
            names = {"rows": relation, "groups": relation.group_by("key"), "other": other, "orders": other}
            try:
                yield eval(program, NAMES | names | {"condition": sd.col("key") > 1, "count": 1, "n": 1})
            except SubstraitDslError:
                continue


def columns_of(row: Any) -> dict[str, Any]:
    """What hints call the columns of a row."""
    return {
        "r": row,
        **dict.fromkeys(("x", "xs", "day"), row.x),
        "y": row.y,
        **dict.fromkeys(("d", "m", "n", "s"), row.key),
        "condition": row.key > 1,
        "conditions": (row.key > 1, row.key < 5),
        "other": 2,
    }


OF_EXPRESSIONS = {
    found for receiver in ("expression", "package") for found in parts(receiver) if re.match(r"functions\.|x", found)
}
FUNCTIONS = sorted({*parts("functions")} | OF_EXPRESSIONS)
RUNS = re.compile(r"\(spark\)|\.save\(|^to_arrow|^to_pandas")
"""What runs a plan, or writes a file."""
VERBS = sorted(
    f"{'groups' if hasattr(sd.GroupBy, written.partition('(')[0]) and receiver == 'group' else 'rows'}.{written}"
    for receiver in ("relation", "group")
    for written in {*parts(receiver)}
    if not RUNS.search(written) and not written.startswith("substrait_dsl.")
)


def test_most_hints_for_functions_are_code() -> None:
    assert len(FUNCTIONS) > 95
    assert len(VERBS) > 40
    assert code("ln") is None
    assert code("substrait_dsl.desc(...)") is None
    assert (
        code('extract("MONDAY_DAY_OF_WEEK", "ZERO", x), 0 being Monday') == 'extract("MONDAY_DAY_OF_WEEK", "ZERO", x)'
    )
    assert code('substrait_dsl.col("x") + 1 and the like: text of SQL is not read') == 'substrait_dsl.col("x") + 1'


def test_what_gives_no_column_is_found() -> None:
    for wrong in ('extract("YAER", x)', "substring(x)", 'strpos(x, y, "z")', "lag(x, y)"):
        assert next(results(wrong), None) is None, wrong


@pytest.mark.parametrize("written", FUNCTIONS)
def test_what_hints_for_functions_say_gives_a_column(written: str) -> None:
    assert next(results(written), None) is not None


def test_what_gives_nothing_is_found() -> None:
    for wrong in (
        "rows.colect()",
        'rows.drop_nulls("z")',
        'rows.sort(by="x")',
        'groups.agg(name=functions.sum("x", "y"))',
    ):
        assert next(relations(wrong), None) is None, wrong


@pytest.mark.parametrize("written", VERBS)
def test_what_hints_for_verbs_say_gives_something(written: str) -> None:
    assert next(relations(written), None) is not None
