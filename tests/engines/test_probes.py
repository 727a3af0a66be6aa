"""What the installed engines do, held against their profiles: a new version shows here what it does otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import pytest
import yaml

from substrait_dsl.catalog.dialects import read_dialect
from substrait_dsl.engines.lowering.plan import lower_plan
from substrait_dsl.engines.profile import load_profile
from substrait_dsl.errors import UnsupportedError
from tests.engines import probed_engines
from tests.engines.aggregate_probes import ANYTHING, AggregateProbe, aggregate_probes
from tests.engines.probed_engines import Lower, Run, as_written
from tests.engines.probes import (
    BY_SHAPE,
    FURTHER,
    KINDS,
    Probed,
    dialect_of,
    differences,
    main,
    probe,
    profile_of,
    window_outcomes,
)
from tests.engines.processes import Engine, Refused
from tests.engines.runners import canonical_rows
from tests.engines.test_function_cases import lower_checked

ROUNDED = (
    *("acosh:fp64", "asinh:fp32", "asinh:fp64", "atan2:fp32_fp32", "atan2:fp64_fp64", "atanh:fp32", "atanh:fp64"),
    *("power:fp32_fp32", "power:fp64_fp64", "power:i64_i64", "tanh:fp32", "tanh:fp64"),
)
LOGARITHMS = (
    *("ln:fp32", "ln:fp64", "ln:i64", "log10:fp32", "log10:fp64", "log10:i64", "log2:fp32", "log2:fp64", "log2:i64"),
    *("logb:fp64_fp64", "logb:i64_i64"),
)

TOO_FEW = (
    *("factorial:i32", "factorial:i64", "sqrt:fp32", "sqrt:fp64", "sqrt:i64"),
    *("power:dec_dec", "negate:dec", "sqrt:dec", "cardinality:list", "round:fp32_i32", "round:fp64_i32"),
    *("round:i16_i32", "round:i8_i32", "floor:dec", "round:dec_i32"),
)

LEFT_OUT: Mapping[str, Mapping[str, frozenset[str]]] = {
    "datafusion": {
        "k & -k is folded to 0": frozenset(f"bitwise_and:i{n}_i{n}" for n in (8, 16, 32, 64)),
        "the last digit is that of the library for C": frozenset({*ROUNDED, *LOGARITHMS}),
        "the cases of the specification are too few to tell overflow, NULL and halves": frozenset(TOO_FEW),
        "constants of other values of the type are not read": frozenset({"fixedchar<2>", "list<i32>"}),
        "whether it may be NULL an option says, which is not read": frozenset({"any_value:any"}),
    },
    "acero": {
        "the last digit is that of the library for C": frozenset({*ROUNDED, *LOGARITHMS}),
        "the cases of the specification are too few to tell overflow, NULL and halves": frozenset(TOO_FEW),
        "the type is not known of columns": frozenset({"fixedbinary<2>", "varchar<5>", "list<i32>"}),
    },
}
"""What comes out as stated and is in no profile yet, by the engine and the reason."""


@pytest.fixture(scope="module", params=["acero", "datafusion"])
def engine(request: pytest.FixtureRequest) -> str:
    """The name of an engine."""
    return str(request.param)


@pytest.fixture(scope="module")
def runner(engine: str, acero: Engine, datafusion: None) -> Callable[[Lower], Run]:
    """What runs plans on the engine, once something is done to them."""
    return partial(probed_engines.in_process, acero) if engine == "acero" else probed_engines.datafusion


@pytest.fixture(scope="module")
def probed(runner: Callable[[Lower], Run]) -> Probed:
    return probe(runner(as_written))


def test_the_profile_has_nothing_that_the_engine_has_not(engine: str, probed: Probed) -> None:
    lacking, further = differences(probed, load_profile(engine))
    assert lacking == {name for some in BY_SHAPE[engine].values() for name in some}
    left_out = {name for some in LEFT_OUT[engine].values() for name in some}
    assert {name for name in further if name.rpartition(" ")[2] not in left_out and name not in left_out} == set()


MIN_RIGHT = {
    "acero": {"scalar function": 90, "aggregate function": 24, "window function": 0},
    "datafusion": {"scalar function": 150, "aggregate function": 20, "window function": 15},
}
"""How many functions of each kind have no case that comes out otherwise than stated, at least."""


@pytest.mark.parametrize("kind", KINDS)
def test_functions_of_all_kinds_are_probed(kind: str, engine: str, probed: Probed) -> None:
    """The profile has some of them under their own names, where the engine has any."""
    known = probed.right(kind)
    assert len(known) >= MIN_RIGHT[engine][kind]
    own = {(urn, key) for each, urn, key in load_profile(engine).functions if each == kind}
    assert bool(own & known) is bool(MIN_RIGHT[engine][kind])
    assert probed.aggregates["extension:io.substrait:functions_arithmetic", "std_dev:req_fp64"] == {"rejected": 14}


def test_what_columns_tell_apart_is_found(engine: str, probed: Probed) -> None:
    """Whole averages with a fraction, on both; of NaN and other numbers Acero takes the largest of the others."""
    aggregates = {key: dict(counted) for (_, key), counted in probed.aggregates.items()}
    assert aggregates["avg:i8"]["wrong"] == 3
    assert ("wrong" in aggregates["max:fp64"]) is (engine == "acero")
    assert aggregates["sum:dec"] == {"right": 14}


def small_aggregates(run: Run, probes: Sequence[AggregateProbe]) -> tuple[int, set[str], list[str]]:
    """How many come out as expected, which functions and types are refused, and what comes out otherwise."""
    right, refused, wrong = 0, set[str](), list[str]()
    for each in probes:
        try:
            rows = run(each.relation().to_plan()._algebra)
        except UnsupportedError:
            refused.add(f"{each.name}:{each.type}")
            continue
        except Refused as error:  # by the engine, which may fail where anything is right
            rows = [] if each.expected is ANYTHING else [(str(error),)]
        if each.expected is ANYTHING or canonical_rows(rows) == canonical_rows([(each.expected,)]):
            right += 1
        else:
            wrong.append(f"{each}: {rows}")
    return right, refused, wrong


def test_aggregates_of_small_columns_are_right_or_refused(engine: str, runner: Callable[[Lower], Run]) -> None:
    """As lowering writes them."""
    run = runner(partial(lower_plan, profile=load_profile(engine)))
    _, refused, wrong = small_aggregates(run, list(aggregate_probes()))
    assert wrong == []
    assert refused == ({"any_value:string", "avg:fp32"} if engine == "acero" else {"any_value:string"})


def test_what_is_written_is_a_dialect_file(engine: str, probed: Probed) -> None:
    text = dialect_of(engine, probed)
    read = read_dialect(text, "probed.yaml")
    assert read.functions is not None
    for kind in KINDS:
        found = {(each.urn, f"{each.name}:{one}") for each in read.functions[kind] for one in each.signatures or ()}
        assert found == probed.right(kind)
    assert yaml.safe_load(text)["metadata"]["casts"]["i8?"]["i64?"] == ["-128", "127"]


def test_the_reader_of_duckdb_has_no_windows(duckdb_substrait: Engine) -> None:
    """Each window function is rejected, which is what the profile says by having none."""
    windows = window_outcomes(probed_engines.in_process(duckdb_substrait))
    assert len(windows) >= 15
    assert {outcome for counted in windows.values() for outcome in counted} == {"rejected"}
    assert not any(kind == "window function" for kind, _, _ in load_profile("duckdb").functions)


TYPES_ON_DUCKDB = ("i8", "i64", "fp64", "decimal<10,2>", "boolean", "string")
"""Those whose aggregates are run there."""


def test_aggregates_of_small_columns_are_right_or_refused_on_duckdb(duckdb_substrait: Engine) -> None:
    probes = [each for each in aggregate_probes() if each.type in TYPES_ON_DUCKDB]
    run = probed_engines.in_process(duckdb_substrait, partial(lower_checked, engine="duckdb"))
    right, refused, wrong = small_aggregates(run, probes)
    assert wrong == []
    assert refused == {"any_value:string", "avg:i8"}
    assert right >= len(probes) // 2


def test_a_profile_of_another_version_says_what_is_otherwise(tmp_path: Path) -> None:
    """The library's, whose differences are comments: it is read as a profile, and plans are lowered to it."""
    urn = "extension:io.substrait:functions_arithmetic"
    found = {"lag:any": {"wrong": 1}, "rank:": {"right": 1}, "made_up:": {"right": 1}}
    windows = {(urn, key): counted for key, counted in found.items()}
    text = profile_of("datafusion", "DataFusion", "54.0.0", Probed({}, {}, windows, {"i8": "wrong"}, {}))
    path = tmp_path / "datafusion-54.yaml"
    path.write_text(text)
    profile = load_profile(path)
    assert (profile.name, str(profile)) == ("datafusion-54.0.0", "DataFusion 54.0.0")
    assert profile.functions == load_profile("datafusion").functions
    comments = [line for line in text.splitlines() if line.startswith("#")]
    assert "#   window function arithmetic lag:any" in comments[: comments.index(f"# {FURTHER}")]
    assert "#   window function arithmetic made_up:" in comments[comments.index(f"# {FURTHER}") :]
    assert not any("rank" in line for line in comments)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["duckdb"], "needs --packages"),
        (["acero", "--packages", "nowhere"], "there is no folder nowhere"),
        (["datafusion", "--packages", "."], "install its version in the environment"),
        (["spark"], "invalid choice: 'spark'"),
    ],
)
def test_the_program_says_what_it_needs(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(arguments)
    assert words in capsys.readouterr().err
