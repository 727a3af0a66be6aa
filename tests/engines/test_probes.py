"""What the installed DataFusion does, held against its profile: a new version shows here what it does otherwise."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
import yaml

from substrait_dsl.catalog.dialects import read_dialect
from substrait_dsl.engines.profile import load_profile
from tests.engines.probes import KINDS, Probed, datafusion, dialect_of, differences, probe

ROUNDED = (
    *("acosh:fp64", "asinh:fp32", "asinh:fp64", "atan2:fp32_fp32", "atan2:fp64_fp64", "atanh:fp32", "atanh:fp64"),
    *("power:fp32_fp32", "power:fp64_fp64", "power:i64_i64", "tanh:fp32", "tanh:fp64"),
)
LOGARITHMS = (
    *("ln:fp32", "ln:fp64", "ln:i64", "log10:fp32", "log10:fp64", "log10:i64", "log2:fp32", "log2:fp64", "log2:i64"),
    *("logb:fp64_fp64", "logb:i64_i64"),
)

LEFT_OUT: Mapping[str, frozenset[str]] = {
    "k & -k is folded to 0": frozenset(f"arithmetic bitwise_and:i{n}_i{n}" for n in (8, 16, 32, 64)),
    "the last digit is that of the library for C": frozenset(
        {*(f"arithmetic {key}" for key in ROUNDED), *(f"logarithmic {key}" for key in LOGARITHMS)}
    ),
    "the cases of the specification are too few to tell overflow, NULL and halves": frozenset(
        {
            *("arithmetic factorial:i32", "arithmetic factorial:i64", "arithmetic sqrt:fp32", "arithmetic sqrt:fp64"),
            *("arithmetic sqrt:i64", "arithmetic_decimal negate:dec", "arithmetic_decimal power:dec_dec"),
            *("arithmetic_decimal sqrt:dec", "list cardinality:list", "rounding round:fp32_i32"),
            *("rounding round:fp64_i32", "rounding round:i16_i32", "rounding round:i8_i32"),
            *("rounding_decimal floor:dec", "rounding_decimal round:dec_i32"),
        }
    ),
    "constants of other values of the type are not read": frozenset({"fixedchar<2>", "list<i32>"}),
}
"""What comes out as stated and is in no profile yet, by the reason."""


@pytest.fixture(scope="module")
def probed() -> Probed:
    return probe(datafusion())


@pytest.mark.usefixtures("datafusion")
def test_the_profile_has_nothing_that_the_engine_has_not(probed: Probed) -> None:
    lacking, further = differences(probed, load_profile("datafusion"))
    assert lacking == set()
    assert further <= {name for some in LEFT_OUT.values() for name in some}


@pytest.mark.usefixtures("datafusion")
def test_aggregates_and_windows_are_probed(probed: Probed) -> None:
    """As many as the profile has under their own names, but those of dates and points in time, of which no case is."""
    profile = load_profile("datafusion")
    for kind in ("aggregate function", "window function"):
        known = probed.right(kind)
        assert len(known) >= {"aggregate function": 20, "window function": 15}[kind]
        assert {(urn, key) for each, urn, key in profile.functions if each == kind} & known
    assert probed.aggregates["extension:io.substrait:functions_arithmetic", "std_dev:req_fp64"] == {"rejected": 14}


@pytest.mark.usefixtures("datafusion")
def test_what_is_written_is_a_dialect_file(probed: Probed) -> None:
    text = dialect_of("DataFusion", probed)
    read = read_dialect(text, "probed.yaml")
    assert read.functions is not None
    for kind in KINDS:
        found = {(each.urn, f"{each.name}:{one}") for each in read.functions[kind] for one in each.signatures or ()}
        assert found == probed.right(kind)
    assert yaml.safe_load(text)["metadata"]["casts"]["i8?"]["i64?"] == ["-128", "127"]
