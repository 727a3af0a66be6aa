"""Random plans over two tables: reads, changes and references in any order; and how Spark's rows are held to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, Any

import substrait_dsl as sd
from substrait_dsl.algebra.plan import AlgebraPlan
from tests.evaluation.interpreter import Row, Tables, run
from tests.support import f

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = {"k": "i64?", "v": "i64?"}
Name = tuple[str, ...]


class Programs:
    """Makes random plans.

    Args:
        random: where chance comes from.
        tables: the names of the tables.
        views: names that read a table, too, each with that of the table.
        changes_rows: whether single rows of the tables can be deleted and updated.
    """

    def __init__(
        self, random: Random, tables: Sequence[Name], views: Mapping[Name, Name], *, changes_rows: bool
    ) -> None:
        self._random = random
        self._tables = tables
        self._reads = [*tables, *views]
        self._writes = ["insert", "insert", "ctas", *(["delete", "delete"] if changes_rows else [])]
        self._changes_rows = changes_rows
        self._made: list[Any] = []

    def plan(self) -> sd.Plan:
        """A plan of four to seven trees: something is read, something is changed, something is read again."""
        some = [self._tree() for _ in range(self._random.randint(1, 3))]
        return sd.Plan(self._read(), *some[:1], self._changed(), *some[1:], self._relation(1))

    def rows(self) -> list[Row]:
        """The rows of a table or a virtual table."""
        count = self._random.choice([0, 1, 2, 3, 4])
        return [tuple(self._random.choices([None, 0, 1, 2, 2], k=len(COLUMNS))) for _ in range(count)]

    def _tree(self) -> Any:
        kind = self._random.choice(["root", "root", "change", "change", "subtree", "shared"])
        if kind == "root":
            relation = self._relation(2)
            return relation.aggregate(n=f.count()) if self._random.random() < 0.3 else relation
        if kind == "shared":
            return sd.subtree(self._keep(sd.shared(self._relation(2))))
        if kind == "subtree":
            return sd.subtree(self._relation(2))
        return self._changed()

    def _read(self) -> Any:
        """A root that reads a table, or a subtree that other trees are likely to refer to."""
        relation = self._keep(sd.read_named(self._random.choice(self._reads), COLUMNS))
        if self._random.random() < 0.5:
            relation = self._keep(sd.shared(relation.filter(lambda r: r.v > 0)))
            self._made *= 2
        return relation if self._random.random() < 0.7 else sd.subtree(relation)

    def _changed(self) -> Any:
        is_update = self._changes_rows and self._random.random() < 0.3
        change = self._update() if is_update else self._change("no_output", 1)
        return sd.subtree(change) if self._random.random() < 0.5 else change

    def _relation(self, depth: int) -> Any:
        kinds = ["read", "read", "values", "again", "again", "again"]
        if depth:
            kinds += ["filter", "project", "union", "union", "change", "shared"]
        match self._random.choice(kinds):
            case "read":
                return self._keep(sd.read_named(self._random.choice(self._reads), COLUMNS))
            case "again" if self._made:
                return self._random.choice(self._made)
            case "filter":
                return self._relation(depth - 1).filter(lambda r: r.v > self._random.randint(0, 1))
            case "project":
                return self._relation(depth - 1).select("k", v=lambda r: r.v + 1)
            case "union":
                return self._relation(depth - 1).union_all(self._relation(depth - 1))
            case "change":
                return self._keep(self._change("modified_records", depth - 1))
            case "shared":
                return self._keep(sd.shared(self._relation(depth - 1)))
            case _:
                return sd.read_virtual(self.rows(), COLUMNS)

    def _keep(self, relation: Any) -> Any:
        self._made.append(relation)
        return relation

    def _change(self, output: str, depth: int) -> Any:
        op = self._random.choice(self._writes)
        mode = {"create_mode": "replace_if_exists"} if op == "ctas" else {}
        return self._relation(depth).write(self._random.choice(self._tables), op, output=output, **mode)

    def _update(self) -> Any:
        values: Any = self._random.choice([{"v": 7}, {"v": lambda r: r.v + 1}, {"k": lambda r: r.v}])
        return sd.update(self._random.choice(self._tables), COLUMNS, values, where=lambda r: r.v > 0)


def check(programs: Programs, tables: Sequence[Name], views: Mapping[Name, Name], spark: SparkSession) -> str | None:
    """Run one plan on Spark and in the interpreter; gives what differs."""
    before: Tables = {name: programs.rows() for name in tables}
    for name, rows in before.items():
        set_rows(name, rows, spark)
    plan = programs.plan()
    expected, after = interpreted(plan._algebra, before, views)
    text = str(plan)
    again = sd.Plan.from_bytes(plan.to_bytes())
    if again != plan or interpreted(again._algebra, before, views) != (expected, after):
        return f"the plan that comes back is another one\n{text}\n---\n{again}"
    found = [bag(map(tuple, frame.collect())) for frame in again.execute(spark)]
    left = {name: bag(map(tuple, spark.table(".".join(name)).collect())) for name in tables}
    if (found, left) == (expected, after):
        return None
    return f"{before}\n{text}\nexpected {expected} and {after}\ngot {found} and {left}"


def interpreted(
    plan: AlgebraPlan, tables: Tables, views: Mapping[Name, Name]
) -> tuple[list[Counter[Row]], dict[Name, Counter[Row]]]:
    """The rows of the roots, and those of the tables afterwards."""
    state: Tables = {name: list(rows) for name, rows in tables.items()}
    state |= {view: state[name] for view, name in views.items()}
    roots = run(plan, state)
    return [bag(rows) for rows in roots], {name: bag(state[name]) for name in tables}


def bag(rows: Any) -> Counter[Row]:
    return Counter(rows)


def set_rows(name: Name, rows: Sequence[Row], spark: SparkSession) -> None:
    """Put rows in the place of those of a table, by Spark's own statement."""
    values = ", ".join(f"({', '.join('NULL' if value is None else str(value) for value in row)})" for row in rows)
    source = f"VALUES {values}" if rows else "SELECT 1L, 1L WHERE false"
    spark.sql(f"INSERT OVERWRITE {'.'.join(name)} {source}")
