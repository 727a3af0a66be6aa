"""What the installed engines do, held against their profiles: a new version shows here what it does otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import pytest
import yaml

from substrait_dsl.catalog.dialects import read_dialect
from substrait_dsl.engines.lowering.plan import lower_plan
from substrait_dsl.engines.profile import load_profile
from substrait_dsl.errors import UnsupportedError
from tests.engines import probed_engines
from tests.engines.aggregate_probes import ANYTHING, aggregate_probes
from tests.engines.probed_engines import Lower, Run, as_written
from tests.engines.probes import KINDS, Probed, dialect_of, differences, probe
from tests.engines.processes import Engine
from tests.engines.runners import canonical_rows

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

BY_SHAPE: Mapping[str, Mapping[str, frozenset[str]]] = {
    "datafusion": {
        "lowering cuts the fraction off": frozenset(f"aggregate function arithmetic avg:i{n}" for n in (8, 16, 32, 64)),
        "lowering divides the sum by the count": frozenset({"aggregate function arithmetic_decimal avg:dec"}),
    },
    "acero": {
        "lowering writes whole numbers as decimals by counting digits": frozenset({"cast i64 to decimal"}),
        "only quotients call it, with the option by which it rounds": frozenset({"rounding_decimal round:dec_i32"}),
    },
}
"""What a profile has, and the engine does otherwise than is stated: lowering never sends it as it is written."""


@pytest.fixture(scope="module", params=["acero", "datafusion"])
def engine(request: pytest.FixtureRequest) -> str:
    """The name of an engine."""
    return str(request.param)


@pytest.fixture(scope="module")
def runner(engine: str, acero: Engine, datafusion: None) -> Callable[[Lower], Run]:
    """What runs plans on the engine, once something is done to them."""
    return partial(probed_engines.acero, acero) if engine == "acero" else probed_engines.datafusion


@pytest.fixture(scope="module")
def probed(runner: Callable[[Lower], Run]) -> Probed:
    return probe(runner(as_written))


def test_the_profile_has_nothing_that_the_engine_has_not(engine: str, probed: Probed) -> None:
    lacking, further = differences(probed, load_profile(engine))
    assert lacking == {name for some in BY_SHAPE[engine].values() for name in some}
    left_out = {name for some in LEFT_OUT[engine].values() for name in some}
    assert {name for name in further if name.rpartition(" ")[2] not in left_out and name not in left_out} == set()


LEAST_RIGHT = {
    "acero": {"scalar function": 90, "aggregate function": 24, "window function": 0},
    "datafusion": {"scalar function": 150, "aggregate function": 20, "window function": 15},
}
"""How many functions of each kind have no case that comes out otherwise than stated, at least."""


@pytest.mark.parametrize("kind", KINDS)
def test_functions_of_all_kinds_are_probed(kind: str, engine: str, probed: Probed) -> None:
    """The profile has some of them under their own names, where the engine has any."""
    known = probed.right(kind)
    assert len(known) >= LEAST_RIGHT[engine][kind]
    own = {(urn, key) for each, urn, key in load_profile(engine).functions if each == kind}
    assert bool(own & known) is bool(LEAST_RIGHT[engine][kind])
    assert probed.aggregates["extension:io.substrait:functions_arithmetic", "std_dev:req_fp64"] == {"rejected": 14}


def test_what_columns_tell_apart_is_found(engine: str, probed: Probed) -> None:
    """Whole averages with a fraction, on both; of NaN and other numbers Acero takes the largest of the others."""
    aggregates = {key: dict(counted) for (_, key), counted in probed.aggregates.items()}
    assert aggregates["avg:i8"]["wrong"] == 3
    assert ("wrong" in aggregates["max:fp64"]) is (engine == "acero")
    assert aggregates["sum:dec"] == {"right": 14}


def test_aggregates_of_small_columns_are_right_or_refused(engine: str, runner: Callable[[Lower], Run]) -> None:
    """As lowering writes them."""
    run = runner(partial(lower_plan, profile=load_profile(engine)))
    refused: set[str] = set()
    wrong: list[str] = []
    for each in aggregate_probes():
        try:
            rows = run(each.relation().to_plan()._algebra)
        except UnsupportedError:
            refused.add(f"{each.name}:{each.type}")
            continue
        if each.expected is not ANYTHING and canonical_rows(rows) != canonical_rows([(each.expected,)]):
            wrong.append(f"{each}: {rows}")
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
