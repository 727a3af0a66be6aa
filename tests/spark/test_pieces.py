"""The pieces that long plans are cut into: none is too long for Spark's parser, and little is left to single steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.relations import Exchange
from substrait_dsl.spark.relations.column_pruning import parents_first, relations_inside
from substrait_dsl.spark.relations.sql_fragments import MIN_FRAGMENT_SIZE, Fragments

T = sd.read_named("t", {"a": "i64"})
MOST = 64


def chain(steps: int, start: Any = T) -> Any:
    for step in range(steps):
        start = start.filter(sd.col("a") > step)
    return start


def self_joined(times: int) -> Any:
    rel = T
    for _ in range(times):
        rel = rel.cross(rel).select(a=lambda r: r[0])
    return rel


def with_subqueries(steps: int) -> Any:
    rel = T
    for _ in range(steps):
        rel = rel.filter(sd.exists(chain(9)))
    return rel


def texts(rel: Rel, pieces: Fragments) -> tuple[dict[int, int], int]:
    """For each text, by the relation that it ends with, how many relations it has; and how many relations are none."""
    found: dict[int, int] = {}
    apart: set[int] = set()
    stack = [rel]
    while stack:
        end = stack.pop()
        if id(end) in found or id(end) in apart:
            continue
        edges = list(relations_inside(end))
        if pieces.is_text(end):
            edges = pieces.edges(end, lambda rel: rel.inputs)
            found[id(end)] = in_text(end, {id(edge) for edge in edges})
        else:
            apart.add(id(end))
        stack.extend(edges)
    return found, len(apart)


def in_text(rel: Rel, edges: set[int]) -> int:
    """How many relations stand in the text of a relation, each as often as it does."""
    counts: dict[int, int] = {}
    for node in reversed(parents_first(rel)):
        counts[id(node)] = 1 if id(node) in edges else 1 + sum(counts[id(inside)] for inside in relations_inside(node))
    return counts[id(rel)]


@pytest.mark.parametrize(
    ("build", "wanted"),
    [
        (lambda: chain(10), 0),
        (lambda: chain(1000), 0),
        (lambda: self_joined(15), 0),
        (lambda: with_subqueries(100), 0),
        (
            lambda: T.union_all(*(chain(1) for _ in range(200))),
            202,
        ),  # the union, the filters, and what all of them read
        (lambda: T.union_all(*(chain(20) for _ in range(200))), 2),
        (lambda: chain(100, chain(100).exchange(sd.round_robin())), 1),
    ],
    ids=["short", "long", "self joins", "subqueries", "many small inputs", "many inputs", "an exchange"],
)
def test_no_text_is_too_long(build: Callable[[], Any], wanted: int) -> None:
    root = build()._rel
    found, apart = texts(root, Fragments(parents_first(root), MOST, is_exchange))
    assert all(MIN_FRAGMENT_SIZE <= length <= MOST for length in found.values())
    assert apart == wanted


@pytest.mark.parametrize("build", [chain, with_subqueries, self_joined])
def test_nothing_is_text_where_none_may_be(build: Callable[[int], Any]) -> None:
    root = build(5)._rel
    pieces = Fragments(parents_first(root), 0, is_exchange)
    assert not any(map(pieces.is_text, parents_first(root)))


def is_exchange(rel: Rel) -> bool:
    return isinstance(rel, Exchange)
