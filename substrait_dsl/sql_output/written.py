"""Expressions that are written: trees of sqlglot's with what is known of their types, and brackets between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from substrait_dsl.algebra import types as t
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.sql_output.dialects import DUCKDB, Dialect, parse, parse_type

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlglot import exp


@attrs.frozen(eq=False)
class Written:
    """An expression as a tree."""

    tree: exp.Expr
    type: t.Type
    """The type that is derived for it."""
    is_typed: bool = True
    """Whether it has that type in the engine, too; otherwise it has one that holds the same values."""

    @property
    def is_column(self) -> bool:
        """Whether it is a column of a table as it is."""
        from sqlglot import exp

        return isinstance(self.tree, exp.Column)

    def cast(self, dialect: Dialect) -> exp.Expr:
        """Return the tree in its derived type."""
        return self.tree if self.is_typed else cast_tree(self.tree, self.type, dialect)


def cast_tree(tree: exp.Expr, type_: t.Type, dialect: Dialect, *, tries: bool = False) -> exp.Expr:
    """Return a cast of a tree; one that `tries` gives NULL where it fails."""
    from sqlglot import exp

    to = parse_type(dialect.type_text(type_, is_ordered=False), dialect.name).copy()
    # One that is not "safe" sqlglot writes as CAST for Spark.
    return exp.TryCast(this=tree.copy(), to=to, safe=True) if tries else exp.Cast(this=tree.copy(), to=to)


def as_decimal(value: Written, dialect: Dialect) -> exp.Expr:
    """Return a decimal as one of any type; a NULL, or a number without a point, is none to the engines."""
    from sqlglot import exp

    number = value.tree.this if isinstance(value.tree, exp.Neg) else value.tree
    is_other = isinstance(number, exp.Null) or (isinstance(number, exp.Literal) and "." not in number.name)
    return value.cast(dialect) if is_other else value.tree


MAX_DOUBLED = 200
"""Of so many nodes an operand may be that stands in several places of what a function is written as."""


def fill(template: str, trees: Sequence[exp.Expr], types: Mapping[str, str], dialect: Dialect) -> exp.Expr:
    """Return the tree of a template.

    Args:
        template: SQL of the dialect, with ``{0}``, ``{1}``, ... for trees and ``{T}`` and the like for types.
        trees: what ``{0}``, ``{1}``, ... stand for.
        types: what the others stand for.
        dialect: the dialect.
    """
    from sqlglot import exp

    for number, each in enumerate(trees):
        if template.count(f"{{{number}}}") > 1 and sum(1 for _ in each.walk()) > MAX_DOUBLED:
            raise UnsupportedError(
                f"an expression of more than {MAX_DOUBLED} parts would be there several times",
                hint="make its operands columns first, by with_columns(...)",
            )
    names = [f"_{number}" for number in range(len(trees))]
    tree = parse(template.format(*names, **types), dialect.name).copy()
    places = dict(zip(names, trees, strict=True))

    def put(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and node.name in places:
            return bracket(places[node.name].copy(), node)
        return node

    return tree.transform(put, copy=False)


def connect(connector: type[exp.Connector], left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """Return two conditions that AND or OR connects."""
    from sqlglot import exp

    return fill(f"{{0}} {'AND' if connector is exp.And else 'OR'} {{1}}", [left, right], {}, DUCKDB)


def has_column(tree: exp.Expr) -> bool:
    """Whether a tree has a column."""
    from sqlglot import exp

    return tree.find(exp.Column) is not None


def bracket(tree: exp.Expr, place: exp.Expr) -> exp.Expr:
    """Return a tree with brackets, if it needs them where another one stands."""
    from sqlglot import exp

    outside = place.parent
    strength, outer_strength = _strength(tree), None if outside is None else _strength(outside)
    if strength is None or outer_strength is None or strength > outer_strength > 0:
        return tree
    is_first = place.arg_key == "this"
    if strength == outer_strength and isinstance(outside, exp.And | exp.Or):
        return tree
    if strength == outer_strength > 0 and is_first and isinstance(outside, exp.Add | exp.Sub | exp.Mul | exp.DPipe):
        return tree
    return exp.Paren(this=tree)


def _strength(tree: exp.Expr) -> int | None:
    """Return how strongly an operator binds: 0 if that is not known, None for what is no operator."""
    from sqlglot import exp

    match tree:
        case exp.Or():
            return 1
        case exp.And():
            return 2
        case exp.Func() | exp.SubqueryPredicate():
            return None
        case exp.Not():
            return 3
        case exp.Add() | exp.Sub():
            return 5
        case exp.Mul() | exp.Div() | exp.IntDiv() | exp.Mod():
            return 6
        case exp.Neg():
            return 7
        case exp.EQ() | exp.NEQ() | exp.LT() | exp.LTE() | exp.GT() | exp.GTE() | exp.Is() | exp.Between() | exp.In():
            return 4
        case exp.NullSafeEQ() | exp.NullSafeNEQ() | exp.Like():
            return 4
        case exp.Paren():
            return None
        case exp.Binary() | exp.Unary() | exp.Escape():
            return 0
        case _:
            return None
