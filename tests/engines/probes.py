"""Makes the dialect part of a profile anew, from what an installed engine does: functions, constants and casts.

Run from the repository's root: ``python -m tests.engines.probes datafusion > probed.yaml``, or ``acero``, or ``duckdb
--packages FOLDER``; with ``--profile`` it writes the library's profile for that version. What is probed is sent as it
is written, not lowered. A signature of a function is listed if all cases of the specification for it, without options,
come out as stated, and those of `aggregate_probes`. What comes out otherwise stands under ``metadata``, and so does
what casts give. `differences` holds that against a profile.
"""

from __future__ import annotations

import argparse
import datetime as dt
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import attrs
import yaml

import substrait_dsl as sd
from substrait_dsl import functions
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.expressions import AggregateFunction as Aggregated
from substrait_dsl.algebra.expressions import FunctionId, Literal, Measure, WindowCall
from substrait_dsl.algebra.node import walk
from substrait_dsl.algebra.plan import AlgebraPlan, Root
from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.engines.profile import Profile, load_profile
from substrait_dsl.errors import SubstraitDslError
from tests.catalog.cases import Case
from tests.engines.aggregate_probes import ANYTHING, aggregate_probes
from tests.engines.corpus_forms import LITERALS, column_of
from tests.engines.probed_engines import Run, datafusion, in_process
from tests.engines.processes import Crashed, Engine
from tests.engines.runners import Rows, canonical_rows
from tests.engines.test_function_cases import plan_of
from tests.spark.test_functions import is_expected, runnable

f: Any = functions
SPEC = "extension:io.substrait:functions_"

CASTED: dict[str, tuple[Any, ...]] = {
    "boolean?": (True, None),
    "i8?": (-128, 127),
    "i64?": (0, 127, 128, 2**53 + 1),
    "fp64?": (0.5, -2.5, 1e20, float("nan")),
    "decimal<10,2>?": (Decimal("2.50"), Decimal("-0.05"), Decimal("99999999.99")),
    "string?": ("1", " 1 ", "1.5", "x", "2020-01-01"),
    "date?": (dt.date(2020, 2, 29),),
    "precision_timestamp<6>?": (dt.datetime(1969, 12, 31, 23, 59, 59, 999999),),
}
"""Values whose casts tell engines apart, by their types."""

TARGETS = (
    "boolean?",
    "i8?",
    "i32?",
    "i64?",
    "fp32?",
    "fp64?",
    "decimal<5,1>?",
    "string?",
    "date?",
    "precision_timestamp<3>?",
)


@attrs.frozen
class Probed:
    """What an engine does."""

    functions: Mapping[tuple[str, str], Mapping[str, int]]
    """By the URN and the key of a scalar function how many cases are right, wrong and rejected, and how many crash."""
    aggregates: Mapping[tuple[str, str], Mapping[str, int]]
    """The same for aggregate functions."""
    windows: Mapping[tuple[str, str], Mapping[str, int]]
    """The same for window functions."""
    constants: Mapping[str, str]
    """By the type what becomes of a constant of it: right, wrong, rejected or a crash."""
    casts: Mapping[str, Mapping[str, list[str]]]
    """By the types that are cast from and to what becomes of the values."""

    def right(self, kind: str = "scalar function") -> frozenset[tuple[str, str]]:
        """The functions of a kind whose cases are all right."""
        return frozenset(each for each, counted in self.of_kind(kind).items() if set(counted) == {"right"})

    def of_kind(self, kind: str) -> Mapping[tuple[str, str], Mapping[str, int]]:
        """What is known of the functions of a kind, as profiles call it."""
        kinds = {"scalar function": self.functions, "aggregate function": self.aggregates}
        return kinds.get(kind, self.windows)


def probe(run: Run) -> Probed:
    """Find out what an engine does, by a function that runs a plan."""
    functions, aggregates, windows = (_counted(cases(run)) for cases in (_cases, _aggregate_cases, _window_cases))
    constants = {
        kind: _worst(_outcome(run, column_of(kind, value), [(value,)]) for value in values)
        for kind, values in LITERALS.items()
    }
    casts = {
        source: {target: _casts(run, source, target) for target in TARGETS if target != source} for source in CASTED
    }
    return Probed(functions, aggregates, windows, constants, casts)


def window_outcomes(run: Run) -> Mapping[tuple[str, str], Mapping[str, int]]:
    """What becomes of the cases of window functions, by the URN and the key of each."""
    return _counted(_window_cases(run))


Counted = dict[tuple[str, str], dict[str, int]]


def _counted(cases: Iterator[tuple[FunctionId, str]]) -> Counted:
    found: Counted = {}
    for function, happened in cases:
        found.setdefault((function.urn, function.key), defaultdict(int))[happened] += 1
    return found


def _aggregate_cases(run: Run) -> Iterator[tuple[FunctionId, str]]:
    """The specification's cases of aggregate functions, each over the rows of its table, and those of small columns."""
    for small in aggregate_probes():
        relation = small.relation()
        (call,) = (node for node in walk(relation._rel) if isinstance(node, Aggregated))
        happened = _outcome(run, relation, [(small.expected,)])
        yield call.function, "right" if small.expected is ANYTHING and happened != "crash" else happened
    for each in runnable()[0]:
        table = each.case.table
        if each.case.kind != "aggregate" or each.case.options or table is None or not isinstance(each.call, Aggregated):
            continue
        kinds = [type_.as_nullable() for type_ in table.types]
        rows = tuple(rl.Record(tuple(map(Literal, row, kinds))) for row in table.rows)
        columns = NamedStruct(tuple(Field(f"c{number}", type_) for number, type_ in enumerate(kinds)))
        read = rl.Read(columns, rl.VirtualTable(rows))
        made = rl.Aggregate(read, (), (), (Measure(each.call),), ("value",))
        yield each.call.function, _happened(run, AlgebraPlan((Root(made, ("value",)),)), each.case)


ORDERED: Any = sd.read_virtual([(1, 1), (2, 1), (3, 2), (4, 3)], {"k": "i64", "p": "i64"})
"""Rows that are told apart by `k`, and by `p` all but the first two."""

WINDOWS: dict[str, tuple[Callable[[Any], Any], list[Any]]] = {
    "row_number": (lambda r: f.row_number().over(order_by="k"), [1, 2, 3, 4]),
    "rank": (lambda r: f.rank().over(order_by="p"), [1, 1, 3, 4]),
    "dense_rank": (lambda r: f.dense_rank().over(order_by="p"), [1, 1, 2, 3]),
    "percent_rank": (lambda r: f.percent_rank().over(order_by="k"), [0.0, 1 / 3, 2 / 3, 1.0]),
    "cume_dist": (lambda r: f.cume_dist().over(order_by="p"), [0.5, 0.5, 0.75, 1.0]),
    "ntile": (lambda r: f.ntile(2).over(order_by="k"), [1, 1, 2, 2]),
    "lag": (lambda r: f.lag(r.p).over(order_by="k"), [None, 1, 1, 2]),
    "lead": (lambda r: f.lead(r.p).over(order_by="k"), [1, 2, 3, None]),
    "first_value": (lambda r: f.first_value(r.k).over(order_by="k"), [1, 1, 1, 1]),
    "last_value": (lambda r: f.last_value(r.k).over(order_by="k", rows=(None, 0)), [1, 2, 3, 4]),
    "nth_value": (lambda r: f.nth_value(r.k, 2).over(order_by="k", rows=(None, 0)), [None, 2, 2, 2]),
    "count": (lambda r: f.count().over(order_by="k", rows=(None, 0)), [1, 2, 3, 4]),
    "sum": (lambda r: f.sum(r.k).over(partition_by="p"), [3, 3, 3, 4]),
    "min": (lambda r: f.min(r.k).over(order_by="k", rows=(None, 0)), [1, 1, 1, 1]),
    "max": (lambda r: f.max(r.p).over(order_by="k", rows=(None, 0)), [1, 1, 2, 3]),
}
"""Window functions, and their values in the order of `k`."""


def _window_cases(run: Run) -> Iterator[tuple[FunctionId, str]]:
    """A case of each window function: the specification has few, and none of frames."""
    for make, values in WINDOWS.values():
        relation = ORDERED.select("k", v=make)
        (call,) = (node for node in walk(relation._rel) if isinstance(node, WindowCall))
        expected = list(zip([1, 2, 3, 4], values, strict=True))
        yield call.function, _outcome(run, relation, expected, in_order=False)


def _happened(run: Run, plan: AlgebraPlan, case: Case) -> str:
    """What becomes of a plan with one value, which a case states."""
    fails = case.expected in ("ERROR", "UNDEFINED")
    try:
        ((value,),) = run(plan)
    except BaseException as error:  # panics of Rust are no Exception
        happened = _failure(error)
        return "right" if fails and happened == "rejected" else happened
    return "right" if is_expected(value, case) else "wrong"


def _cases(run: Run) -> Iterator[tuple[FunctionId, str]]:
    for each in runnable()[0]:
        if each.case.kind != "scalar" or each.case.options:
            continue
        yield each.call.function, _happened(run, plan_of(each), each.case)


def _outcome(run: Run, relation: sd.Relation[Any], expected: Rows, *, in_order: bool = True) -> str:
    try:
        rows = canonical_rows(run(relation.to_plan()._algebra))
    except BaseException as error:
        return _failure(error)
    right = canonical_rows(expected)
    return "right" if (rows == right if in_order else sorted(rows) == sorted(right)) else "wrong"


def _worst(outcomes: Iterator[str]) -> str:
    return min(outcomes, key=("crash", "wrong", "rejected", "right").index)


def _casts(run: Run, source: str, target: str) -> list[str]:
    """What the values of a type become, each in a plan of its own."""
    return [_cast(run, source, target, value) for value in CASTED[source]]


def _cast(run: Run, source: str, target: str, value: Any) -> str:
    table = sd.read_virtual([(value,)], {"v": source})
    try:
        ((made,),) = run(table.select(c=lambda r: r.v.cast(target)).to_plan()._algebra)
    except BaseException as error:
        return _failure(error)
    return repr(made)


def _failure(error: BaseException) -> str:
    """What a failure of the engine is called. Raises what is none."""
    if isinstance(error, SubstraitDslError | KeyboardInterrupt | SystemExit):
        raise error
    return "crash" if isinstance(error, Crashed) else "rejected"


KINDS = ("scalar function", "aggregate function", "window function")


def dialect_of(name: str, probed: Probed) -> str:
    """A dialect file of what an engine does."""
    urns = sorted({urn for kind in KINDS for urn, _ in probed.of_kind(kind)})
    sources = {urn: urn.removeprefix(SPEC) for urn in urns}
    return yaml.safe_dump(
        {
            "name": name,
            "metadata": {
                "constants": dict(probed.constants),
                "casts": {source: dict(targets) for source, targets in probed.casts.items()},
                **{f"other_{kind.replace(' ', '_')}s": _others(probed, kind) for kind in KINDS},
            },
            "dependencies": {source: urn for urn, source in sources.items()},
            **{f"supported_{kind.replace(' ', '_')}s": list(_listed(probed, kind)) for kind in KINDS},
        },
        sort_keys=False,
        allow_unicode=True,
        width=120,
    )


def _listed(probed: Probed, kind: str) -> Iterator[dict[str, Any]]:
    """The functions whose cases are all right, as a dialect lists them."""
    listed: dict[tuple[str, str], list[str]] = defaultdict(list)
    for urn, key in sorted(probed.right(kind)):
        function, _, signature = key.partition(":")
        listed[urn, function].append(signature)
    for (urn, function), signatures in listed.items():
        yield {"source": urn.removeprefix(SPEC), "name": function, "supported_impls": signatures}


def _others(probed: Probed, kind: str) -> dict[str, dict[str, int]]:
    """What becomes of the cases of the other functions."""
    return {
        f"{urn.removeprefix(SPEC)} {key}": dict(counted)
        for (urn, key), counted in sorted(probed.of_kind(kind).items())
        if (urn, key) not in probed.right(kind)
    }


def differences(probed: Probed, profile: Profile) -> tuple[set[str], set[str]]:
    """What a profile has that the engine does not, and what the engine has that the profile does not.

    Functions that lowering writes another way by a rule of the profile are not compared.
    """
    lacking: set[str] = set(_rejected_casts(probed, profile))
    further: set[str] = set()
    for kind in KINDS:
        has = {(urn, key) for each, urn, key in profile.functions if each == kind}
        right = set(probed.right(kind))
        lacking |= _names(kind, {each for each in has if each in probed.of_kind(kind)} - right, profile)
        further |= _names(kind, right - has, profile)
    constants = {kind for kind, happened in probed.constants.items() if happened == "right"}
    listed = {kind for kind in LITERALS if sd.parse_type(kind).keyword in profile.literals}
    return lacking | (listed - constants), further | (constants - listed)


def _names(kind: str, some: set[tuple[str, str]], profile: Profile) -> set[str]:
    start = "" if kind == "scalar function" else f"{kind} "
    return {
        f"{start}{urn.removeprefix(SPEC)} {key}"
        for urn, key in some
        if key.partition(":")[0] not in profile.function_rules
    }


def _rejected_casts(probed: Probed, profile: Profile) -> Iterator[str]:
    """The casts of a profile that the engine rejects for all values."""
    for source, targets in probed.casts.items():
        for target, made in targets.items():
            kinds = [sd.parse_type(each).keyword for each in (source, target)]
            if kinds[1] in profile.casts.get(kinds[0], ()) and set(made) == {"rejected"}:
                yield f"cast {kinds[0]} to {kinds[1]}"


BY_SHAPE: Mapping[str, Mapping[str, frozenset[str]]] = {
    "datafusion": {
        "lowering cuts the fraction off": frozenset(f"aggregate function arithmetic avg:i{n}" for n in (8, 16, 32, 64)),
        "lowering divides the sum by the count": frozenset({"aggregate function arithmetic_decimal avg:dec"}),
    },
    "acero": {
        "lowering writes whole numbers as decimals by counting digits": frozenset({"cast i64 to decimal"}),
        "only quotients call it, with the option by which it rounds": frozenset({"rounding_decimal round:dec_i32"}),
        "lowering casts texts": frozenset(f"precision_timestamp{kind}" for kind in ("<0>", "<6>", "_tz<6>")),
    },
    "duckdb": {
        "lowering calls functions of the engine for these constants": frozenset(
            {"binary", "varchar<5>", *(f"precision_timestamp{kind}" for kind in ("<0>", "<6>", "_tz<6>"))}
        ),
        "lowering casts a constant of i32": frozenset({"i16"}),
        "lowering calls functions of the engine": frozenset({"cast date to precision_timestamp"}),
    },
}
"""What a profile has, and the engine does otherwise than is stated: lowering never sends it as it is written."""


def profile_of(engine: str, name: str, version: str, probed: Probed) -> str:
    """The profile that the library has of an engine, for another version, with comments on what that does otherwise."""
    (file,) = (each for each in SHIPPED.glob("*.yaml") if each.name.rpartition("-")[0] == engine)
    text = file.read_text(encoding="utf-8")
    base = load_profile(engine)
    lacking, further = differences(probed, base)
    lacking -= {each for some in BY_SHAPE.get(engine, {}).values() for each in some}
    head = [f"# The profile of {base}, held against what {name} {version} does as plans are written."]
    for what, found in ((LACKING, lacking), (FURTHER, further)):
        head += [f"# {what}", *(f"#   {each}" for each in sorted(found) or ["nothing"])]
    text = re.sub(r"(?m)^name: .*$", f"name: {name} {version}", text, count=1)
    text = re.sub(r"(?m)^  version: .*$", f"  version: '{version}'", text, count=1)
    return "\n".join(head) + f"\n{text}"


LACKING = "What it does otherwise than this says: take it out, or give it a rule under function_rules."
FURTHER = "What comes out right, and this does not have: add what is right for all values."
SHIPPED = Path(sd.__file__).parent / "engines" / "profiles"


def main(arguments: Sequence[str]) -> None:
    """Print what an engine does: as a dialect, or by ``--profile`` as a profile, with comments."""
    parser = argparse.ArgumentParser(prog="python -m tests.engines.probes", description=main.__doc__)
    parser.add_argument("engine", nargs="?", default="datafusion", choices=("datafusion", "acero", "duckdb"))
    parser.add_argument("--packages", type=Path, help="a folder that pip install --target made; DuckDB needs one")
    parser.add_argument("--profile", action="store_true", help="the profile of the library, for this version")
    given = parser.parse_args(arguments)
    if given.engine == "duckdb" and given.packages is None:
        parser.error("duckdb needs --packages, a folder with duckdb and duckdb-extension-substrait of one version")
    if given.packages is not None and not given.packages.is_dir():
        parser.error(f"there is no folder {given.packages}")
    if given.packages is not None and given.engine == "datafusion":
        parser.error("DataFusion is probed in this process: install its version in the environment")
    name = {"datafusion": "DataFusion", "acero": "Acero", "duckdb": "DuckDB"}[given.engine]
    version = version_of("pyarrow" if given.engine == "acero" else given.engine, given.packages)
    if given.engine == "datafusion":
        probed = probe(datafusion())
    else:
        with Engine(given.engine, given.packages) as engine:
            probed = probe(in_process(engine))
    text = profile_of(given.engine, name, version, probed) if given.profile else dialect_of(f"{name} {version}", probed)
    print(text, end="")


def version_of(package: str, packages: Path | None) -> str:
    """The version of a package, of a folder of packages if there is one."""
    found = distributions(name=package, path=[str(packages)]) if packages else distributions(name=package)
    versions = [each.version for each in found]
    if not versions:
        raise SystemExit(f"there is no package {package} in {packages or 'this environment'}")
    return versions[0]


if __name__ == "__main__":
    main(sys.argv[1:])
