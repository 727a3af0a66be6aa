"""Random pipelines whose rows on Spark have the order, and the distribution, that their properties claim.

How many there are, and which, two environment variables say: ``CLAIMS_PIPELINES`` and ``CLAIMS_SEED``.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl.errors import SubstraitDslError, UnsupportedError
from tests.differential.claims import broken_claim, is_one_order, is_ordered, is_promised
from tests.differential.engines import failure, spark_engines
from tests.differential.expressions import Column
from tests.differential.measures import Rel
from tests.differential.pipelines import Pipelines, pairs_of
from tests.spark.rows import values
from tests.support import f

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PIPELINES = int(os.environ.get("CLAIMS_PIPELINES", "150"))
SEED = int(os.environ.get("CLAIMS_SEED", "1"))


class Claims(Pipelines):
    """Builds pipelines that claim much: relations that make an order or a distribution, and such as keep them."""

    def pipeline(self) -> Rel:
        """A pipeline that begins with an order, an exchange or both."""
        relation = self.start(())
        for first in self.random.choice(([Claims.order], [Claims.spread], [Claims.order, Claims.spread])):
            relation = first(self, relation, (), 0)
        for _ in range(self.random.randint(1, 4)):
            if len(relation.schema) > 8:
                relation = relation.emit(self.random.sample(range(len(relation.schema)), 6))
            step = self.random.choices(tuple(WEIGHTS), tuple(WEIGHTS.values()))[0]
            made = step(self, relation, (), 0)
            if made is not None:
                relation = made
                self.kept.append(made)
        return relation

    def positions(self, relation: Rel, most: int) -> list[int]:
        width = len(relation.schema)
        return self.random.sample(range(width), min(width, self.random.randint(1, most)))

    def order(self, relation: Rel, outer: Sequence[Column], depth: int) -> Rel:
        """A sort that does not tell all rows apart."""
        directions = (sd.asc, sd.desc, lambda key, nulls: sd.clustered(key))
        keys = [
            self.random.choice(directions)(number, nulls=self.random.choice(("first", "last")))
            for number in self.positions(relation, 3)
        ]
        return self.sized(relation.sort(*keys), self.size(relation))

    def spread(self, relation: Rel, outer: Sequence[Column], depth: int) -> Rel:
        """An exchange."""
        many = self.random.choice((None, 1, 2, 5))
        kind = self.random.choice((sd.scatter(*self.positions(relation, 2)), sd.round_robin()))
        return self.sized(relation.exchange(kind, partition_count=many), self.size(relation))

    def streaming(self, relation: Rel, outer: Sequence[Column], depth: int) -> Rel:
        """A streaming aggregate of one grouping set or several, each of them the beginning of the next."""
        chosen = self.positions(relation, 3)
        ordered = relation.sort(*(self.random.choice((sd.asc, sd.desc))(number) for number in chosen))
        lengths = [self.random.randint(0, len(chosen)) for _ in range(self.random.randint(0, 2))]
        sets = [tuple(range(length)) for length in (*lengths, len(chosen))]
        self.random.shuffle(sets)
        count: dict[str, Any] = {self.name(): f.count()}
        keys = [self.named(number) for number in chosen]
        return ordered.aggregate(*keys, grouping_sets=sets, method="streaming", **count)

    def ranks(self, relation: Rel, outer: Sequence[Column], depth: int) -> Rel:
        """A window, which keeps the order, or does not."""
        method: Any = self.random.choice(("consistent_partition", "hashing"))
        made: dict[str, Any] = {self.name(): f.rank()}
        partition, key = self.positions(relation, 1), self.positions(relation, 1)
        return self.sized(
            relation.window(partition_by=partition, order_by=key, method=method, **made), self.size(relation)
        )

    def first(self, relation: Rel, outer: Sequence[Column], depth: int) -> Rel:
        """The first rows of an order that may have ties."""
        if self.chance(0.5):
            return self.sized(relation.fetch(self.random.choice((1, 4, 9)), self.random.choice((0, 1))), 9)
        return self.sized(relation.top_n(5, *self.positions(relation, 2), with_ties=self.chance(0.5)), 9)

    def merge(self, relation: Rel, outer: Sequence[Column], depth: int) -> Rel | None:
        """A merge join of sorted inputs."""
        other = self.start(())
        pairs = pairs_of(relation, other)
        if not pairs or self.size(relation) > 100:
            return None
        a, b = self.random.choice(pairs)
        joined = relation.sort(a).merge_join(other.sort(b), [sd.join_key(a, b)], self.random.choice(("inner", "left")))
        return self.sized(joined, 2 * self.size(relation))

    def capture(self, relation: Rel, outer: Sequence[Column], depth: int) -> Rel:
        made = relation.merging_capture() if self.chance(0.7) else relation.simple_capture()
        return self.sized(made, self.size(relation))


WEIGHTS: dict[Callable[[Claims, Rel, Sequence[Column], int], Rel | None], int] = {
    Claims.order: 2, Claims.spread: 3, Claims.streaming: 6, Claims.ranks: 2, Claims.first: 2, Claims.merge: 2,
    Claims.capture: 1, Claims.filter: 3, Claims.project: 3, Claims.emit: 2, Claims.expand: 2, Claims.unnest: 2,
    Claims.aggregate: 1, Claims.join: 2, Claims.cross: 1, Claims.set_op: 1, Claims.lateral: 1, Claims.distinct: 1,
}  # fmt: skip


def pipeline(number: int) -> Rel:
    """The pipeline of this number."""
    return Claims(Random(f"claims/{SEED}/{number}")).pipeline()


@pytest.fixture(scope="module")
def sessions(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> list[SparkSession]:
    """Sessions with several partitions, in which Spark joins by sorting, or sends small tables to all tasks."""
    found = spark_engines(spark, tmp_path_factory.mktemp("tables"), [("parquet", True), ("cache", False)])
    for session in found:
        session.conf.set("spark.sql.shuffle.partitions", "3")
    return found


def test_rows_keep_what_properties_claim(sessions: list[SparkSession]) -> None:
    counted: Counter[str] = Counter()
    broken = []
    for number in range(PIPELINES):
        try:
            relation = pipeline(number)
        except SubstraitDslError:  # two columns of the name, or an order that a streaming operator cannot use
            counted["not built"] += 1
            continue
        properties = relation.properties
        counted["ordered"] += bool(properties.ordering)
        counted["ordered as a whole"] += bool(properties.ordering) and is_one_order(relation._rel)
        counted["distributed"] += properties.distribution is not None and is_promised(relation._rel)
        if not properties.ordering and (properties.distribution is None or not is_promised(relation._rel)):
            continue
        try:
            what = broken_claim(relation, sessions[number % len(sessions)])
        except UnsupportedError:
            counted["refused"] += 1
            continue
        except Exception as error:
            found = failure(error)
            if isinstance(found, str):
                broken.append(f"--- pipeline {number}\n{relation}\n{found}")
            continue
        if what is not None:
            broken.append(f"--- pipeline {number}\n{relation}\n{what}")
    print(counted)
    assert not broken, f"{len(broken)} of {PIPELINES}\n" + "\n\n".join(broken[:5])
    assert counted["not built"] + counted["refused"] <= PIPELINES // 10, counted
    assert min(counted[kind] for kind in ("ordered", "ordered as a whole", "distributed")) >= PIPELINES // 20, counted


# --- the check itself

ORDERS: list[tuple[list[Any], str, bool]] = [
    ([1, 2, 2, 3], "asc_nulls_first", True),
    ([1, 3, 2], "asc_nulls_first", False),
    ([None, None, 1], "asc_nulls_first", True),
    ([1, None], "asc_nulls_first", False),
    ([1, None], "asc_nulls_last", True),
    (["NaN", float("inf"), 0.0, None], "desc_nulls_last", True),
    ([None, 0.0, 1.0], "desc_nulls_first", False),
    ([2, 2, 1, None], "clustered", True),
    ([2, 1, 2], "clustered", False),
    (["B", "a", "é", "\uff22", "𝄞"], "asc_nulls_first", True),
]


@pytest.mark.parametrize(("column", "direction", "expected"), ORDERS)
def test_an_order_is_told(column: list[Any], direction: Any, expected: bool) -> None:
    assert is_ordered([(value,) for value in column], [sd.OrderKey((0,), direction)]) is expected


def test_an_order_within_equal_rows_is_told() -> None:
    keys = [sd.OrderKey((0,), "clustered"), sd.OrderKey((1,), "desc_nulls_first")]
    assert is_ordered([(2, 5), (2, 4), (1, 9)], keys)
    assert not is_ordered([(2, 4), (2, 5), (1, 9)], keys)


def test_a_distribution_is_promised_beneath_rows_of_each_row() -> None:
    moved: Any = values({"a": "i64", "b": "i64"}, (1, 2)).exchange(sd.scatter("a"))
    assert is_promised(moved.filter(lambda r: r.b > 0).select("a")._rel)
    assert not is_promised(moved.sort("b")._rel)
    assert not is_promised(moved.filter(lambda r: sd.exists(moved.filter(lambda q: q.b == r.b)))._rel)
