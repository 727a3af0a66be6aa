"""``python -m tests.mutations``: breaks the rule of each row, and says which rows nothing catches."""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence

import attrs

from tests.coverage_rows import NOT_OFFERED, PATH, ROWS, TEST, Row
from tests.mutations.breaks import Break, breaks_of, breaks_of_messages, breaks_of_rules, words_in, written_break
from tests.mutations.places import place_of
from tests.mutations.running import load_the_rest, run
from tests.mutations.written import WRITTEN

MOST = 6
"""How many breaks of a rule are tried until a test catches one."""


@attrs.frozen
class Result:
    """What became of the breaks of one row."""

    row: Row
    outcome: str
    tried: tuple[str, ...]
    """The breaks that were not caught, and the last one."""


def named_tests(row: Row) -> list[str]:
    """What to give to pytest, but for the directories of tests that all run Spark."""
    named = [
        f"{file}{f'::{name}' if name else ''}{f'[{case}]' if case else ''}"
        for file, name, case in TEST.findall(row.test)
    ]
    return [test for test in named if not test.startswith(("tests/spark/", "tests/lake/"))]


def breaks_for(row: Row) -> Iterator[Break]:
    """The breaks of a row's rule: the written one; else those of what it names, the likeliest first."""
    if row.id in WRITTEN:
        yield written_break(*WRITTEN[row.id])
        return
    wanted = words_in(f"{row.id} {row.asks} {row.where} {row.test}")
    of_places: list[list[Break]] = []
    for path in PATH.findall(row.where):
        place = place_of(path)
        if place is not None:
            yield from breaks_of_rules(place, row.asks)
        breaks = () if place is None else (*breaks_of(place), *breaks_of_messages(place))
        of_places.append(
            sorted(_one_of_each(breaks), key=lambda each: -len(each.words & wanted) / (len(each.words) + 3))
        )
    for together in itertools.zip_longest(*of_places):
        yield from (each for each in together if each is not None)


def _one_of_each(breaks: Sequence[Break]) -> list[Break]:
    """The breaks in turns of their operators, so that none of these comes first by its number alone."""
    queues: dict[str, list[Break]] = {}
    for each in breaks:
        queues.setdefault(each.operator, []).append(each)
    return [each for turn in itertools.zip_longest(*queues.values()) for each in turn if each is not None]


def result_of(row: Row, tests: Sequence[str], most: int) -> Result:
    """Break the rule of a row until one of the tests catches it."""
    if not tests:
        return Result(row, "tests on Spark only", ())
    tried: list[str] = []
    missed = crashed = 0
    for edit in breaks_for(row):
        outcome = run(tests, edit)
        tried.append(f"{outcome}: {edit.module}:{edit.line} {edit.what}")
        if outcome == "no tests":
            return Result(row, "tests on Spark only", ())
        if outcome == "caught":
            return Result(row, "caught", tuple(tried))
        missed += outcome == "missed"
        crashed += outcome == "crashed"
        if missed >= most or crashed >= most:
            break
    return Result(row, "missed" if missed else "crashed" if crashed else "not broken", tuple(tried))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutations", description=__doc__)
    parser.add_argument("rows", nargs="*", help="the rows to break, such as 000:131; all, if none is named")
    parser.add_argument("--most", type=int, default=MOST, help="how many breaks of a rule to try")
    parser.add_argument("--part", default="1/1", help="which part of the rows: 2/4 is the second of four")
    parser.add_argument("--verbose", action="store_true", help="say for each row which breaks were tried")
    parser.add_argument("--test", action="append", help="a test to run instead of those that the rows name")
    given = parser.parse_args()
    number, parts = map(int, given.part.split("/"))
    offered = [row for row in ROWS if NOT_OFFERED.fullmatch(row.where) is None]
    chosen = [row for row in offered if not given.rows or row.id in given.rows][number - 1 :: parts]
    unknown = sorted({*given.rows} - {row.id for row in offered})
    if unknown:
        parser.error(f"there are no such rows, or they are not offered: {', '.join(unknown)}")
    load_the_rest()
    named = {row.id: given.test or named_tests(row) for row in chosen}
    tests = sorted({test for each in named.values() for test in each})
    if tests and run(tests, None) not in ("missed", "no tests"):
        print("the tests fail as everything is")
        return 2
    started = time.monotonic()  # the clock on the wall: processes that wait for others take time, too
    counts: Counter[str] = Counter()
    for row in chosen:
        result = result_of(row, named[row.id], given.most)
        counts[result.outcome] += 1
        if given.verbose or result.outcome not in ("caught", "tests on Spark only"):
            print(f"{row.id}: {result.outcome}: {row.asks}", *result.tried, sep="\n    ", flush=True)
    print(
        f"{len(chosen)} rows in {time.monotonic() - started:.0f} s:",
        *(f"{n} {what}" for what, n in counts.items()),
        sep=" ",
    )
    return int(any(what not in ("caught", "tests on Spark only") for what in counts))


if __name__ == "__main__":
    sys.exit(main())
