"""What people write by habit of plans, their trees and their changes gets an error that says what to write here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl.errors import (
    InvalidArgumentError,
    SubstraitDslError,
    TypeMismatchError,
    UnknownAttributeError,
    UnknownFieldError,
)
from tests.support import columns, refused, table

PACKAGE: Any = sd
O: Any = table("id: i64, region: string", "o")
WRITE: Any = O.write("t")
LISTS: Any = table("xs: list<i64>", "lists")
SUBTREE: Any = sd.subtree(O)
PLAN: Any = O.to_plan()
CHANGING: Any = sd.Plan(sd.subtree(WRITE), sd.read_named("t", O.schema))

HABITS: list[tuple[Callable[[], object], type[SubstraitDslError], str]] = [
    (lambda: SUBTREE.filter(lambda r: r.id > 1), UnknownAttributeError, "write relation.filter"),
    (lambda: PLAN.diff, UnknownAttributeError, "write substrait_dsl.diff(one, other)"),
    (lambda: SUBTREE.columns, UnknownAttributeError, "write relation.columns"),
    (lambda: SUBTREE.collect(None), UnknownAttributeError, "write Plan(subtree, ...).execute(spark)"),
    (lambda: SUBTREE.schemas, UnknownAttributeError, "write relation.schema"),
    (lambda: O.union_all(SUBTREE), InvalidArgumentError, "the relation of a subtree is subtree.relation"),
    (lambda: PACKAGE.elements([0, 2]), InvalidArgumentError, "give them one by one: elements(0, 2)"),
    (lambda: PACKAGE.elements((7,)), InvalidArgumentError, "give them one by one: elements(7)"),
    (lambda: PACKAGE.elements(range(9)), InvalidArgumentError, "one by one: elements(0, 1, 2, ...)"),
    (lambda: PACKAGE.elements("a"), InvalidArgumentError, "positions of elements are integers from 0 on, got 'a'"),
    (lambda: PACKAGE.elements(True), InvalidArgumentError, "positions of elements are integers from 0 on, got True"),
    (lambda: PACKAGE.elements(first="a"), InvalidArgumentError, "first is a number of elements"),
    (lambda: PACKAGE.element(1), UnknownAttributeError, "write elements(0, 2)"),
    (lambda: PACKAGE.write_files, UnknownAttributeError, "write Relation.write(files_target("),
    (lambda: PACKAGE.write_csv, UnknownAttributeError, 'write Relation.write(files_target("out", "csv"))'),
    (lambda: PACKAGE.write_table, UnknownAttributeError, "write Relation.write(name)"),
    (lambda: O.write_files("out"), UnknownAttributeError, 'write write(files_target(uri, "parquet"))'),
    (lambda: O.requirements(), UnknownAttributeError, "write to_plan().requirements(...)"),
    (lambda: O.to_json(), UnknownAttributeError, "write to_plan().to_json(...)"),
    (lambda: O.findings, UnknownAttributeError, "write to_plan().findings"),
    (lambda: O.from_bytes(b""), UnknownAttributeError, "write substrait_dsl.Plan.from_bytes(...)"),
    (lambda: O.partitionBy("region"), UnknownAttributeError, 'write write(files_target("out/{x}/{y}", "parquet"))'),
    (lambda: O.partitionBy("region"), UnknownAttributeError, 'exchange(scatter("x")) to spread rows by it'),
    (lambda: PACKAGE.Plan([O, SUBTREE]), InvalidArgumentError, "give them one by one: *[...]"),
    (lambda: PACKAGE.Plan(CHANGING.trees), InvalidArgumentError, "give them one by one: *[...]"),
    (lambda: PACKAGE.Plan(CHANGING), InvalidArgumentError, "the trees of a plan are *plan.trees"),
    (lambda: CHANGING.with_roots(CHANGING), InvalidArgumentError, "the trees of a plan are *plan.trees"),
    (lambda: O.union_all(CHANGING), InvalidArgumentError, "the relations that it returns plan.roots"),
    (lambda: PACKAGE.Plan("o"), InvalidArgumentError, 'write read_named("o", schema)'),
    (
        lambda: LISTS.select(y=lambda r: r.xs.keep(sd.elements(first=1))),
        TypeMismatchError,
        'struct_of(xs=x).keep({"xs": elements(first=5)})["xs"]',
    ),
    (lambda: LISTS.select(y=lambda r: r.xs.keep("a")), TypeMismatchError, "keep takes parts of a struct"),
    (lambda: WRITE.filter(lambda r: r.region == "EU"), UnknownFieldError, 'output="modified_records"'),
    (lambda: WRITE.select("id"), UnknownFieldError, 'output="modified_records"'),
    (lambda: O.write("t", "delete").sort("id"), UnknownFieldError, 'output="modified_records"'),
]


@pytest.mark.parametrize(("habit", "error", "advice"), HABITS, ids=[advice for _, _, advice in HABITS])
def test_advice(habit: Callable[[], object], error: type[SubstraitDslError], advice: str) -> None:
    with refused(error, advice):
        habit()


def test_the_advice_can_be_taken() -> None:
    assert sd.Plan(*CHANGING.trees) == CHANGING
    assert O.write("t", output="modified_records").filter(lambda r: r.region == "EU").columns == O.columns
    assert SUBTREE.relation.columns == O.columns
    kept = LISTS.select(y=lambda r: sd.struct_of(xs=r.xs).keep({"xs": sd.elements(first=1)})["xs"])
    assert columns(kept) == "y: list<i64>"
    with pytest.raises(AttributeError):
        SUBTREE._made  # noqa: B018  # what Python looks for may be missing


VERBS = ("collect", "show", "filter", "write", "union_all", "colect")


@pytest.mark.parametrize("verb", VERBS)
def test_verbs_of_a_plan_with_changes_evaluate_all_trees(verb: str) -> None:
    """A root by itself has other rows: the trees before it change what it reads."""
    read = sd.read_named("t", O.schema)
    changing = [CHANGING, sd.Plan(WRITE, read), sd.Plan(read, O, WRITE), sd.Plan.from_bytes(CHANGING.to_bytes())]
    for plan in changing:
        with refused(UnknownAttributeError, f'"{verb}"', "execute(spark)", "running(spark)", "a root by itself"):
            getattr(plan, verb)
    with refused(UnknownAttributeError, "execute(spark), which makes the changes: the plan returns no rows"):
        getattr(sd.Plan(sd.subtree(WRITE)), verb)
    for plan in (
        sd.Plan(O),
        sd.Plan(O, O.limit(1)),
        sd.Plan(WRITE),
    ):  # no tree is before the root, or it changes nothing
        with refused(UnknownAttributeError, "write roots[0]."):
            getattr(plan, verb)
