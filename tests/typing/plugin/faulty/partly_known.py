"""Calls with one argument that is wrong and another that nobody knows; values that loops and branches assign."""

from typing import Any, ClassVar, Final, Literal

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import items

NAMES = ("part", "prat")


def with_unknown_arguments(key: sd.SortKey, name: str, size: int, conditions: list[sd.Expr[sd.Boolean]]) -> None:
    items.sort(key, "prat")
    # E: sort: there is no column "prat"; there are "order", "part", "quantity"; did you mean
    #    "part"?  [substrait-unknown-field]
    items.select(name, "prat")
    # E: select: there is no column "prat"; there are "order", "part", "quantity"; did you mean
    #    "part"?  [substrait-unknown-field]
    items.select(name, sum=sd.when(sd.col("part") > 1).then("a").otherwise(1))
    # E: select, column "sum": the branches of an if must have one type: there is string and i64; cast them to one
    #    type  [substrait-type-mismatch]
    items.filter(*conditions, sd.col("prat") > 1)
    # E: filter: there is no column "prat"; there are "order", "part", "quantity"; did you mean
    #    "part"?  [substrait-unknown-field]
    items.group_by(name, "prat")
    # E: group_by: there is no column "prat"; there are "order", "part", "quantity"; did you mean
    #    "part"?  [substrait-unknown-field]
    items.drop(name, "prat")
    # E: drop: there is no column "prat"; there are "order", "part", "quantity"; did you mean
    #    "part"?  [substrait-unknown-field]
    items.top_n(size, key, "prat")
    # E: top_n: there is no column "prat"; there are "order", "part", "quantity"; did you mean
    #    "part"?  [substrait-unknown-field]
    items.window(partition_by=name, order_by="prat", place=f.rank())
    # E: window, order_by: there is no column "prat"; there are "order", "part", "quantity"; did you mean
    #    "part"?  [substrait-unknown-field]
    items.fetch(size, offset=-1)
    # E: fetch: the offset of a fetch must not be negative, got -1  [substrait-invalid-argument]
    items.fetch(-1, offset=size)
    # E: fetch: the count of a fetch must not be negative, got -1  [substrait-invalid-argument]


def of_any_relation(rows: sd.Relation[Any], size: int) -> None:
    rows.fetch(size, offset=-1)
    # E: fetch: the offset of a fetch must not be negative, got -1  [substrait-invalid-argument]
    rows.limit(-1)
    # E: limit: the count of a fetch must not be negative, got -1  [substrait-invalid-argument]


def with_branches(order: Literal["up", "down"], is_small: bool) -> None:
    match order:
        case "up":
            key = sd.asc("part")
        case "down":
            key = sd.desc("prat")
    items.sort(key)
    # E: sort: there is no column "prat"; there are "order", "part", "quantity"; did you mean
    #    "part"?  [substrait-unknown-field]
    if is_small:
        name = "part"
    elif order == "up":
        name = "prat"
    else:
        raise ValueError
    items.select(name)
    # E: select: there is no column "prat"; there are "order", "part", "quantity"; did you mean
    #    "part"?  [substrait-unknown-field]


def with_loops() -> None:
    measures: dict[str, sd.Measure[Any, Any]] = {"rows": f.count()}
    for name in NAMES:
        measures[name] = f.sum(sd.col(name))
    items.group_by("order").agg(**measures)
    # E: agg, measure "prat": there is no column "prat"; there are "order", "part", "quantity"; did you mean
    #    "part"?  [substrait-unknown-field]
    conditions = []
    for name in NAMES:
        conditions.append(sd.col(name).is_null())  # noqa: PERF401  # the loop is what is tested
    items.filter(*conditions)
    # E: filter: there is no column "prat"; there are "order", "part", "quantity"; did you mean
    #    "part"?  [substrait-unknown-field]


class Drug(sd.Schema):
    doses: sd.List[sd.FP64]


def in_nested_lambdas(drugs: sd.Relation[Drug], least: str) -> None:
    drugs.filter(lambda d: f.any_match(d.doses, lambda dose: dose > least))
    # E: filter: no overload takes gt(fp64, str); str does not fit fp64: it takes a float, not a
    #    str  [substrait-function-not-found]


class Report:
    keys: ClassVar[list[str]] = ["part", "prat"]
    order: ClassVar[tuple[sd.SortKey, ...]] = (sd.desc("prat"),)
    name: Final = "prat"

    def of_instance(self) -> None:
        items.select(*self.keys)
        # E: select: there is no column "prat"; there are "order", "part", "quantity"; did you mean
        #    "part"?  [substrait-unknown-field]
        items.sort(*self.order)
        # E: sort: there is no column "prat"; there are "order", "part", "quantity"; did you mean
        #    "part"?  [substrait-unknown-field]
        items.drop(self.name)
        # E: drop: there is no column "prat"; there are "order", "part", "quantity"; did you mean
        #    "part"?  [substrait-unknown-field]

    @classmethod
    def of_class(cls) -> None:
        items.select(*cls.keys)
        # E: select: there is no column "prat"; there are "order", "part", "quantity"; did you mean
        #    "part"?  [substrait-unknown-field]
        items.drop(Report.name)
        # E: drop: there is no column "prat"; there are "order", "part", "quantity"; did you mean
        #    "part"?  [substrait-unknown-field]
