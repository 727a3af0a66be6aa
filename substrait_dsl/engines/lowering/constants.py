"""Columns that are constants on the null-extended side of an outer join, but not above it.

DataFusion takes them for constants above the join, too, and removes them from sorts. So sort keys are made to depend on
columns that are no constants.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

import attrs

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import ROOT, Cast, Expression, FieldReference, Literal, ScalarFunction
from substrait_dsl.algebra.node import Rel, walk
from substrait_dsl.algebra.relations.joins import conjuncts
from substrait_dsl.engines.lowering.terms import call, case_when, column, equal

TEXTS = (*t.INTEGER_TYPES, t.String, t.Boolean, t.Date)
"""The types whose values every engine casts to a string."""

OUTER = ("left", "outer")
"""The join types with a null-extended side, as lowering writes them."""

EQUALITIES = ("equal", "is_not_distinct_from")
MAX_WITNESSES = 4


@attrs.frozen
class Fixed:
    """Columns of a relation, by position."""

    columns: frozenset[int] = frozenset()
    """The columns that the engine may take for constants."""
    wrong: frozenset[int] = frozenset()
    """Those among them that are not constant: they are NULL for rows without a match."""

    def shift(self, by: int) -> Fixed:
        """Return the same columns, shifted by a number of positions."""
        return Fixed(frozenset(at + by for at in self.columns), frozenset(at + by for at in self.wrong))

    def union(self, other: Fixed) -> Fixed:
        """Return the union with other columns."""
        return Fixed(self.columns | other.columns, self.wrong | other.wrong)


@attrs.frozen
class Constants:
    """The columns that are taken for constants, by relation; each relation is visited once."""

    may_be_wrong: bool
    """Whether the plan has a null-extended side."""
    _known: dict[int, tuple[Rel, Fixed]] = attrs.field(factory=dict, init=False)

    @classmethod
    def of_plan(cls, relations: Iterable[Rel]) -> Constants:
        """Return the constants of the relations of a plan."""
        return cls(any(isinstance(rel, rl.Join) and rel.how in OUTER for rel in relations))

    def of(self, rel: Rel) -> Fixed:
        """Return the columns of a relation that are taken for constants."""
        stack = [rel]
        while stack:
            waiting = [each for each in stack[-1].inputs if id(each) not in self._known]
            if waiting:
                stack += waiting
                continue
            current = stack.pop()
            if id(current) not in self._known:
                self._known[id(current)] = (current, self._find_constants(current))
        return self._known[id(rel)][1]

    def _find_constants(self, rel: Rel) -> Fixed:
        below = [self._known[id(each)][1] for each in rel.inputs]
        match rel:
            case rl.Read(definition=rl.VirtualTable()):
                return Fixed(frozenset(range(len(rel.schema))))
            case rl.Filter(condition=condition):
                return Fixed(below[0].columns | _columns_fixed_by(condition, below[0].columns), below[0].wrong)
            case rl.Project(expressions=expressions):
                width = len(rel.input.schema)
                return below[0].union(_find_fixed(expressions, below[0]).shift(width))
            case rl.Emit(mapping=mapping):
                return Fixed(
                    *(frozenset(n for n, at in enumerate(mapping) if at in some)
                      for some in (below[0].columns, below[0].wrong))
                )  # fmt: skip
            case rl.Join(condition=condition) if rel.how == "inner" or rel.how in OUTER:
                left, right = below[0], below[1].shift(len(rel.left.schema))
                if rel.how in OUTER:
                    right = Fixed(right.columns, right.columns)
                if rel.how == "outer":
                    left = Fixed(left.columns, left.columns)
                both = left.union(right)
                return (
                    Fixed(both.columns | _columns_fixed_by(condition, both.columns), both.wrong)
                    if rel.how == "inner"
                    else both
                )
            case rl.Cross():
                return below[0].union(below[1].shift(len(rel.left.schema)))
            case rl.Aggregate(keys=keys):
                return _find_fixed(keys, below[0])
            case rl.Set():
                return reduce(Fixed.union, below)
            case _:
                return below[0] if below else Fixed()


def _find_fixed(expressions: Sequence[Expression], below: Fixed) -> Fixed:
    fixed = [n for n, each in enumerate(expressions) if _is_fixed(each, below.columns)]
    return Fixed(frozenset(fixed), frozenset(n for n in fixed if used_columns(expressions[n]) & below.wrong))


def used_columns(expression: Expression) -> set[int]:
    """Return the columns of the row that an expression refers to."""
    return {
        node.position
        for node in walk(expression, into_relations=False)
        if isinstance(node, FieldReference) and node.root == ROOT
    }


def _is_fixed(expression: Expression, fixed: frozenset[int]) -> bool:
    """Whether an expression depends on constants alone."""
    return used_columns(expression) <= fixed


def _columns_fixed_by(condition: Expression, fixed: frozenset[int]) -> frozenset[int]:
    """Return the columns that a condition makes constants."""
    found: set[int] = set()
    for part in (*conjuncts(condition), *conjuncts(condition)):
        match part:
            case FieldReference(position=at):
                found.add(at)
            case ScalarFunction(arguments=(FieldReference(position=at),)):
                found.add(at)
            case ScalarFunction(arguments=(Expression() as one, Expression() as other)) if (
                part.function.standard_name in EQUALITIES
            ):
                for value, against in ((one, other), (other, one)):
                    if isinstance(value, FieldReference) and _is_fixed(against, fixed | found):
                        found.add(value.position)
    return frozenset(found)


def no_constant(key: Expression, rel: Rel, constants: Constants) -> Expression:
    """Return a sort key that the engine does not remove, even if it takes the key for a constant."""
    if not constants.may_be_wrong:
        return key
    fixed = constants.of(rel)
    if not used_columns(key) & fixed.wrong or not _is_fixed(key, fixed.columns):
        return key
    types = rel.schema.types
    witnesses = [n for n, type_ in enumerate(types) if n not in fixed.columns and isinstance(type_, TEXTS)]
    if not witnesses:
        return key
    texts = [Cast(column(rel, at), t.String(nullable=types[at].nullable)) for at in witnesses[:MAX_WITNESSES]]
    # A text with an end is never empty; but that engines do not see.
    never = equal(call("string", "concat", *texts, Literal("|", t.String())), Literal("", t.String()))
    return case_when([(never, Literal(None, key.type.as_nullable()))], key)
