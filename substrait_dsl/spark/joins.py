"""Joins: Spark's own where it has them, subqueries for the others.

A mark join is a column that tells whether a match exists; a single join is a scalar subquery that counts its matches.
Both look rows of one input up in the other, which becomes text inside a subquery.

Specification: https://substrait.io/relations/logical_relations/#join-operation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Literal

import attrs

from substrait_dsl.algebra.expressions import Expression, FieldReference, OuterReference, ScalarFunction
from substrait_dsl.algebra.expressions.references import ROOT
from substrait_dsl.algebra.node import walk
from substrait_dsl.algebra.relations.joins import COMPARISON_URN, conjuncts
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.hosts import Host, fenced, host
from substrait_dsl.spark.marks import Key, Test, mark
from substrait_dsl.spark.relations import filtered
from substrait_dsl.spark.subqueries import is_subquery
from substrait_dsl.spark.tables import Item, JoinHow, Rows

if TYPE_CHECKING:
    from substrait_dsl.algebra.node import Node, Rel
    from substrait_dsl.algebra.relations import Cross, Join
    from substrait_dsl.algebra.rules import JoinType
    from substrait_dsl.spark.lowering import Lowering

Side = Literal["left", "right"]


@attrs.frozen
class Plan:
    """How a join type is lowered: from which side, and Spark's join or what else."""

    stream: Side
    """The side that rows are matched for; the other is looked up."""
    method: JoinHow | Literal["mark", "single"]


PLANS: Mapping[JoinType, Plan] = {
    "inner": Plan("left", "inner"),
    "outer": Plan("left", "full"),
    "left": Plan("left", "left"),
    "right": Plan("left", "right"),
    "left_semi": Plan("left", "leftsemi"),
    "right_semi": Plan("right", "leftsemi"),
    "left_anti": Plan("left", "leftanti"),
    "right_anti": Plan("right", "leftanti"),
    "left_single": Plan("left", "single"),
    "right_single": Plan("right", "single"),
    "left_mark": Plan("left", "mark"),
    "right_mark": Plan("right", "mark"),
}
