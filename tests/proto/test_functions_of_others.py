"""What is known of a producer, and of the specification's functions, is not applied to those of another extension.

Somebody else's function of the same name means what its own extension says, whoever wrote the plan.
"""

from __future__ import annotations

import pytest

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import FunctionId, literal
from substrait_dsl.algebra.findings import Finding
from substrait_dsl.catalog import Catalog, standard_catalog
from substrait_dsl.errors import PlanFormatError, UnsupportedError
from substrait_dsl.proto.plan import decode_plan, encode_plan
from substrait_dsl.spark.expressions.call_validation import require_meaning
from substrait_dsl.spark.expressions.functions import function_to_sql
from tests.proto.plans import col, plan_of, table
from tests.support import refused

URN = "extension:com.example:mine"
KNOWN = standard_catalog().with_extension(
    """%YAML 1.2
---
urn: extension:com.example:mine
scalar_functions:
  - name: divide
    impls: [{args: [{name: x, value: i32}, {name: y, value: i32}], return: fp64}]
  - name: logb
    impls: [{args: [{name: x, value: fp64}], return: fp64}]
  - name: not_equal
    impls: [{args: [{name: x, value: string}, {name: y, value: string}], return: boolean}]
  - name: lt
    impls: [{args: [{name: x, value: string}, {name: y, value: string}], return: boolean}]
  - name: like
    impls:
      - args: [{name: x, value: string}, {name: y, value: string}]
        return: boolean
      - args: [{name: x, value: string}, {name: y, value: string}, {name: z, value: string}]
        return: boolean
  - name: trim
    impls: [{args: [{name: x, value: string}, {name: mode, value: string}], return: string}]
  - name: lpad
    impls:
      - args: [{name: x, value: string}, {name: length, value: i32}, {name: mode, value: string}]
        return: string
  - name: round
    impls: [{args: [{name: x, value: fp64}, {name: mode, value: i32}], return: fp64}]
aggregate_functions:
  - name: avg
    impls:
      - args: [{name: x, value: i32}]
        return: fp64
      - args: [{name: x, value: "decimal<P,S>"}]
        return: "decimal<P,S>"
  - name: sum
    impls:
      - args: [{name: x, value: i32}]
        return: "decimal<38,0>"
      - args: [{name: x, value: "decimal<P,S>"}]
        return: "decimal<P,S>"
  - name: string_agg
    impls: [{args: [{name: x, value: string}, {name: y, value: string}], return: string}]
"""
)
T = table("t", i=t.I32(), s=t.String(), x=t.FP64(), d=t.Decimal(9, 2))
I, S, X, D = (col(T, n) for n in range(4))
PATTERN = ex.literal("a%", t.String())
NONE = ex.literal(None, t.String(nullable=True))


def scalar(key: str, type_: t.Type, *arguments: ex.Expression, urn: str = URN) -> r.Rel:
    """A projection of a call of a scalar function."""
    call = ex.ScalarFunction(ex.FunctionId(urn, key), arguments, type_)
    return r.Emit(r.Project(T, (call,), ("y",)), (len(T.schema),))


def aggregate(key: str, type_: t.Type, *arguments: ex.Expression, urn: str = URN) -> r.Rel:
    """An aggregate of a call of an aggregate function."""
    call = ex.AggregateFunction(ex.FunctionId(urn, key), arguments, type_)
    return r.Aggregate(T, (), (), (ex.Measure(call),), ("y",))


def read(rel: r.Rel, producer: str, minor: int = 85, catalog: Catalog = KNOWN) -> tuple[r.Rel, tuple[Finding, ...]]:
    """A relation as it is read from a plan of a producer."""
    message = encode_plan(plan_of(rel))
    message.version.producer, message.version.minor_number = producer, minor
    plan, findings = decode_plan(message, catalog)
    return plan.roots[0].input, findings


CALLS = {
    "datafusion logb": ("datafusion", scalar("logb:fp64", t.FP64(), X)),
    "datafusion like": ("datafusion", scalar("like:str_str", t.Boolean(), S, ex.literal("a\\%", t.String()))),
    "datafusion escape": ("datafusion", scalar("like:str_str_str", t.Boolean(nullable=True), S, S, NONE)),
    "datafusion avg": ("datafusion", aggregate("avg:dec", t.Decimal(9, 2), D)),
    "datafusion sum": ("datafusion", aggregate("sum:dec", t.Decimal(9, 2), D)),
    "datafusion string_agg": ("datafusion", aggregate("string_agg:str_str", t.String(), S, S)),
    "ibis divide": ("ibis-substrait", scalar("divide:i32_i32", t.FP64(), I, I)),
    "ibis avg": ("ibis-substrait", aggregate("avg:i32", t.FP64(), I)),
    "duckdb not_equal": ("DuckDB", scalar("not_equal:str_str", t.Boolean(), S, PATTERN)),
    "duckdb avg": ("DuckDB", aggregate("avg:i32", t.FP64(), I)),
    "duckdb sum": ("DuckDB", aggregate("sum:i32", t.Decimal(38, 0), I)),
}


@pytest.mark.parametrize("catalog", [KNOWN, standard_catalog()], ids=["known", "unknown"])
@pytest.mark.parametrize(("producer", "rel"), CALLS.values(), ids=CALLS)
def test_a_call_of_anothers_function_is_read_as_it_came(producer: str, rel: r.Rel, catalog: Catalog) -> None:
    got, findings = read(rel, producer, 53 if producer == "DuckDB" else 85, catalog)
    assert got == rel
    assert "producer-meaning" not in [str(each.code) for each in findings]
    assert "like-escape" not in [str(each.code) for each in findings]


def test_a_window_function_of_another_is_read_as_it_came() -> None:
    call = ex.WindowCall(ex.FunctionId(URN, "avg:dec"), (D,), t.Decimal(9, 2))
    rel = r.Emit(r.Project(T, (ex.WindowFunction(call),), ("y",)), (len(T.schema),))
    assert read(rel, "datafusion")[0] == rel


def test_the_specifications_function_is_the_producers_beside_one_of_that_name() -> None:
    """The extension is said, so that another one with the name makes no difference."""
    rel = scalar("divide:i32_i32", t.FP64(), I, I, urn="extension:io.substrait:functions_arithmetic")
    got, findings = read(rel, "ibis-substrait")
    assert "producer-meaning" in [str(each.code) for each in findings]
    assert [str(type_) for type_ in got.schema.types] == ["fp64"]


def test_the_specifications_average_is_the_producers_beside_one_of_that_name() -> None:
    arithmetic = "extension:io.substrait:functions_arithmetic"
    got, _ = read(aggregate("avg:i32", t.FP64(nullable=True), I, urn=arithmetic), "ibis-substrait")
    assert isinstance(got, r.Aggregate)
    (measure,) = got.measures
    assert measure.function.function == ex.FunctionId(arithmetic, "avg:fp64")
    assert measure.function.output_type == t.FP64(nullable=True)


def test_a_predicate_of_another_gives_what_its_extension_says() -> None:
    rel = scalar("lt:str_str", t.String(), S, S)
    with refused(PlanFormatError, "lt:str_str is declared to give string; by its definition it gives boolean"):
        read(rel, "DuckDB", 53)


WITHOUT_LAST = {
    "trim": scalar("trim:str_str", t.String(), S),
    "lpad": scalar("lpad:str_i32_str", t.String(), S, I),
    "round": scalar("round:fp64_i32", t.FP64(), X),
    "by name": scalar("trim", t.String(), S),
}


@pytest.mark.parametrize("rel", WITHOUT_LAST.values(), ids=WITHOUT_LAST)
def test_defaults_of_arguments_are_not_those_of_anothers_function(rel: r.Rel) -> None:
    got, findings = read(rel, "another")
    assert got == rel
    assert "function-unknown" in [str(each.code) for each in findings]


@pytest.mark.parametrize("arguments", [(), (literal(1, t.I64()),), (literal(1, t.I64()), literal("x", t.String()))])
def test_a_call_of_too_few_arguments_is_not_told_to_cast_them(arguments: tuple[ex.Literal, ...]) -> None:
    """As ibis writes ``coalesce`` of what it leaves out."""
    coalesce = FunctionId("extension:io.substrait:functions_comparison", "coalesce:any")
    with pytest.raises(UnsupportedError, match=r"no meaning: coalesce:any does not take \(") as error:
        require_meaning([ex.ScalarFunction(coalesce, arguments, t.I64(nullable=True))])
    assert (error.value.hint is None) is (len(arguments) < 2)


def test_a_function_that_no_extension_has_means_nothing_that_is_known() -> None:
    def unknown(urn: str, name: str) -> str:
        call = ex.ScalarFunction(FunctionId(urn, name), (literal("x", t.String()),), t.String())
        with pytest.raises(UnsupportedError) as error:
            function_to_sql(call, ["'x'"])
        return str(error.value)

    for name in ("md5", "get_field", "array_element"):
        assert f"{name}(string): no extension of the specification has one of that name" in unknown("", name)
    assert "no extension" not in unknown("extension:acme:texts", "md5")  # somebody else's, who knows what it means
    assert "no extension" not in unknown("", "strptime_date")  # the specification has it
