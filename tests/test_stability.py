"""Which relations have the same rows each time they are computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl import everyday
from substrait_dsl.algebra.stability import is_stable
from tests.support import f

ROWS = sd.read_named("t", {"k": "i64", "s": "string", "x": "i64"})


@pytest.mark.parametrize(
    ("measure", "stable"),
    [
        (lambda r: everyday.collect_list(r.s), False),
        (lambda r: everyday.collect_set(r.s), False),
        (lambda r: everyday.max_by(r.s, r.x), False),
        (lambda r: everyday.min_by(r.s, r.x), False),
        (lambda r: everyday.mode(r.s), False),
        (lambda r: f.any_value(r.s), False),
        (lambda r: f.sum(r.x), True),
        (lambda r: f.count(), True),
        (lambda r: everyday.collect_list(r.s).order_by("s"), True),
    ],
)
def test_an_aggregate_that_takes_any_of_several_is_not_stable(measure: Callable[[Any], Any], stable: bool) -> None:
    assert is_stable(ROWS.group_by("k").agg(y=measure)._rel) is stable
