"""Exchange: the input's columns; five kinds, partition counts and targets."""

from __future__ import annotations

import pytest

from substrait_dsl.algebra import relations as r
from substrait_dsl.errors import InvalidArgumentError, TypeMismatchError
from tests.nodes import DETAIL, col, i32, leaf, part, plus
from tests.support import refused

INPUT = leaf("n: i32?, wide: i64, list: list<i32?>, longs: list<i64>, s: struct<i32>")

KINDS: dict[str, r.ExchangeKind] = {
    "scatter": r.Scatter((col(INPUT, "wide"), part(INPUT, 4, 0))),
    "single bucket": r.SingleBucket(plus(col(INPUT, "n"), i32(1))),
    "multi bucket": r.MultiBucket(col(INPUT, "list")),
    "broadcast": r.Broadcast(),
    "round robin": r.RoundRobin(),
    "exact round robin": r.RoundRobin(exact=True),
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("count", [None, 1, 7])
def test_the_output_has_the_columns_of_the_input(kind: r.ExchangeKind, count: int | None) -> None:
    assert r.Exchange(INPUT, kind, count).schema == INPUT.schema


def test_exact_and_approximate_are_different() -> None:
    assert r.Exchange(INPUT, KINDS["round robin"]) != r.Exchange(INPUT, KINDS["exact round robin"])


def test_buckets_have_the_types_of_the_specification() -> None:
    with refused(TypeMismatchError, "number of a bucket is an i32", "i64"):
        r.SingleBucket(col(INPUT, "wide"))
    with refused(TypeMismatchError, "list<i32>", "list<i64>"):
        r.MultiBucket(col(INPUT, "longs"))
    with refused(TypeMismatchError, "list<i32>", "this is i32?"):
        r.MultiBucket(col(INPUT, "n"))


def test_a_scatter_goes_by_fields() -> None:
    with refused(InvalidArgumentError, "at least one field"):
        r.Scatter(())
    with refused(InvalidArgumentError, "not by other expressions"):
        r.Scatter((plus(col(INPUT, "n"), i32(1)),))


def test_buckets_are_constrained_to_a_count_that_is_given() -> None:
    """Specification: "when not defined, single or multi bucket expressions should not be constrained to count"."""
    for constrained in (
        r.SingleBucket(col(INPUT, "n"), constrained=True),
        r.MultiBucket(col(INPUT, "list"), constrained=True),
    ):
        assert r.Exchange(INPUT, constrained, 3).partition_count == 3
        with refused(InvalidArgumentError, "constrained", "need a partition count"):
            r.Exchange(INPUT, constrained)


@pytest.mark.parametrize("count", [0, -1])
def test_there_is_a_partition(count: int) -> None:
    with refused(InvalidArgumentError, "at least 1", str(count)):
        r.Exchange(INPUT, r.Broadcast(), count)


def test_targets_name_partitions_that_exist() -> None:
    """Specification: "A partition may be sent to 0..N locations. Value can either be a URI or arbitrary value"."""
    targets = (r.ExchangeTarget("host:1", (0, 1)), r.ExchangeTarget(DETAIL, (1,)), r.ExchangeTarget("host:2"))
    assert r.Exchange(INPUT, r.Broadcast(), 2, targets).targets == targets
    assert r.Exchange(INPUT, r.Broadcast(), None, (r.ExchangeTarget("host:1", (9,)),)).partition_count is None
    with refused(InvalidArgumentError, "no partition 2", "there are 2"):
        r.Exchange(INPUT, r.Broadcast(), 2, (r.ExchangeTarget("host:1", (0, 2)),))
    with refused(InvalidArgumentError, "no partition -1"):
        r.Exchange(INPUT, r.Broadcast(), None, (r.ExchangeTarget("host:1", (-1,)),))
