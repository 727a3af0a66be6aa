"""Rows with a match by an equality and something else: DuckDB 1.1.3 takes others, too, if that is not lowered."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

import substrait_dsl as sd
from substrait_dsl import functions
from tests.engines.processes import Engine

f: Any = functions
Relation = sd.Relation[Any]
Row = tuple[Any, ...]

FEW: dict[str, list[Row]] = {
    "l": [(None, 2), (0, 2), (None, None), (None, None)],
    "r": [(0, 0, 0), (1, 0, 3), (2, 0, 2)],
}
MANY: dict[str, list[Row]] = {
    "l": [(n % 7, n * 37 % 101) for n in range(300)] + [(None, 1), (3, None), (3, None)],
    "r": [(n, n % 7, n * 13 % 50 - 3) for n in range(200)] + [(200, None, 90), (201, 3, None), (201, 3, None)],
}
COLUMNS: dict[str, list[str]] = {"l": ["g", "d"], "r": ["id", "h", "e"]}
L: dict[str, Relation] = {name: sd.read_named(f"l_{name}", {"g": "i64?", "d": "i64?"}) for name in ("few", "many")}
R: dict[str, Relation] = {
    name: sd.read_named(f"r_{name}", {"id": "i64?", "h": "i64?", "e": "i64?"}) for name in ("few", "many")
}
SIZES = {"few": FEW, "many": MANY}


def compares(test: Callable[[Any, Any], Any]) -> Callable[[Row, Row], bool]:
    """Whether g equals h and a comparison of d and e is true: with a NULL neither is."""

    def is_match(left: Row, right: Row) -> bool:
        (g, d), (_, h, e) = left, right
        return None not in (g, h, d, e) and g == h and bool(test(d, e))

    return is_match


Case = tuple[Callable[[Any, Any], Any], Callable[[Row, Row], bool]]


def comparison(name: str) -> Case:
    test = getattr(operator, name)
    return lambda a, b: (a.g == b.h) & test(a.d, b.e), compares(test)


CONDITIONS: dict[str, Case] = {
    **{name: comparison(name) for name in ("lt", "le", "gt", "ge", "ne")},
    "computed": (lambda a, b: (a.g == b.h) & (a.d + b.e < 40), compares(lambda d, e: d + e < 40)),
    "either": (
        lambda a, b: (a.g == b.h) & ((a.d < b.e) | (a.d == b.e + 1)),
        compares(lambda d, e: d < e or d == e + 1),
    ),
    "distinct": (
        lambda a, b: (a.g == b.h) & f.is_distinct_from(a.d, b.e),
        lambda a, b: None not in (a[0], b[1]) and a[0] == b[1] and a[1] != b[2],
    ),
    "of one side": (
        lambda a, b: (a.g == b.h) & (a.d < 5) & (b.e > 40),
        compares(lambda d, e: d < 5 and e > 40),
    ),
}


@pytest.fixture(scope="module")
def engine(duckdb_substrait: Engine) -> Engine:
    duckdb_substrait.add_tables(
        {
            f"{side}_{size}": pa.table(
                {name: pa.array([row[at] for row in rows[side]], pa.int64()) for at, name in enumerate(COLUMNS[side])}
            )
            for size, rows in SIZES.items()
            for side in ("l", "r")
        }
    )
    return duckdb_substrait


def found(engine: Engine, relation: Relation) -> Counter[Row]:
    table = engine.run(relation.to_plan().to_bytes(engine="duckdb"))
    return Counter(zip(*(column.to_pylist() for column in table.columns), strict=True))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", CONDITIONS)
def test_rows_with_and_without_a_match(name: str, size: str, engine: Engine) -> None:
    condition, is_match = CONDITIONS[name]
    left, right = SIZES[size]["l"], SIZES[size]["r"]
    with_match = [any(is_match(a, b) for a in left) for b in right]
    kept = Counter(row for row, is_kept in zip(right, with_match, strict=True) if is_kept)
    others = Counter(right) - kept
    l, r = L[size], R[size]

    def matches(b: Any) -> Any:
        return sd.exists(l.filter(lambda a: condition(a, b)))

    assert found(engine, r.filter(matches)) == kept
    assert found(engine, r.join(l, lambda b, a: condition(a, b), "left_semi")) == kept
    assert found(engine, l.join(r, condition, "right_semi")) == kept
    assert found(engine, r.filter(lambda b: ~matches(b))) == others
    assert found(engine, l.join(r, condition, "right_anti")) == others
    marked = Counter((*row, is_kept) for row, is_kept in zip(right, with_match, strict=True))
    assert found(engine, r.select("id", "h", "e", m=matches)) == marked


def test_what_is_due_is_known_of_a_semi_join_in_sql() -> None:
    """200 rows, of which DuckDB takes all; 180 have a match."""
    left, right = ([row for row in MANY[side] if None not in row] for side in ("l", "r"))
    assert (len(left), len(right)) == (300, 200)
    assert sum(any(a[0] == b[1] and a[1] < b[2] for a in left) for b in right) == 180


def test_the_report_says_what_the_engine_would_do() -> None:
    said = {
        name: {each.code: each.severity for each in R["few"].join(L["few"], on, "left_semi").check("duckdb").findings}
        for name, on in (
            ("comparison", lambda b, a: (a.g == b.h) & (a.d < b.e)),
            ("one side", lambda b, a: (a.g == b.h) & (a.d < 3)),
        )
    }
    assert said["comparison"]["semi-join"] == "wrong rows"
    assert "semi-join" not in said["one side"]
