"""Function options: those that the function has, said once, in plans that are read as in those that are built."""

from __future__ import annotations

import pytest
from substrait import algebra_pb2 as pb

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import FunctionOption
from substrait_dsl.algebra.node import walk
from substrait_dsl.errors import InvalidArgumentError, InvalidChoiceError, PlanFormatError, UnsupportedError
from substrait_dsl.proto.plan import decode_plan
from substrait_dsl.spark.expressions.functions import function_to_sql
from tests.proto.plans import ARITHMETIC, T, add, col, encoded_relation, message, total
from tests.proto.reading import Change, below_root, changed, found, refused_at, root
from tests.support import f, refused, table

a, b = col(T, 0), col(T, 1)
ADD = "add:i64_i64"
SUM = r.Aggregate(T, (), (), (ex.Measure(total(a)),), ("n",))
ADDED = r.Project(T, (add(a, b),), ("x",))
TOTALS = ex.WindowFunction(ex.WindowCall(ex.FunctionId(ARITHMETIC, "sum:i64"), (a,), t.I64(nullable=True)))
CALLS: dict[str, tuple[r.Rel, Change, str]] = {
    "scalar": (ADDED, lambda m: m.project.expressions[0].scalar_function, "project.expressions[0].scalar_function"),
    "aggregate": (SUM, lambda m: m.aggregate.measures[0].measure, "aggregate.measures[0].measure"),
    "window": (
        r.Project(T, (TOTALS,), ("x",)),
        lambda m: m.project.expressions[0].window_function,
        "project.expressions[0].window_function",
    ),
    "window of a relation": (
        r.Window(T, (TOTALS.call,), (), (), ("x",)),
        lambda m: m.window.window_functions[0],
        "window.window_functions[0]",
    ),
}
UNKNOWN: dict[str, tuple[str, tuple[str, ...]]] = {
    'name: "overfow" preference: "ERROR"': (".options[0]", ("option of", "'overfow'", '"overflow"')),
    'name: "overflow" preference: "ERROR" preference: "WRAP"': (
        ".options[0]",
        ("value of option overflow of", "'WRAP'", '"SILENT"'),
    ),
}
UNKNOWN_AS_READ = dict(zip(UNKNOWN, (("overfow", ("ERROR",)), ("overflow", ("ERROR", "WRAP"))), strict=True))
OPTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    'name: "overflow"': (".options[0]", ("overflow", "no preference")),
}


@pytest.mark.parametrize(("rel", "of", "path"), CALLS.values(), ids=CALLS)
def test_options_are_those_of_the_function(rel: r.Rel, of: Change, path: str) -> None:
    def say(*options: str) -> Change:
        return lambda m: of(m).options.extend(message(pb.FunctionOption, text) for text in options)  # type: ignore[attr-defined]

    for text, (place, said) in UNKNOWN.items():
        got = found(rel, say(text), *said, "kept unchanged", path=path + place)
        (kept,) = [option for node in walk(got) if (options := getattr(node, "options", ())) for option in options]
        assert kept == FunctionOption(*UNKNOWN_AS_READ[text])
        assert encoded_relation(got) == changed(rel, say(text)).relations[-1].root.input
    for text, (place, said) in OPTIONS.items():
        with refused_at(path + place, PlanFormatError, *said):
            decode_plan(changed(rel, say(text)))
    twice = 'name: "overflow" preference: "ERROR"', 'name: "OVERFLOW" preference: "SILENT"'
    with pytest.raises(PlanFormatError, match="is given twice") as caught:
        decode_plan(changed(rel, say(*twice)))
    assert path.startswith(below_root(caught.value.path))
    _, findings = root(changed(rel, say('name: "Overflow" preference: "error"')))
    assert findings == []


def test_options_are_spelled_as_the_file_spells_them() -> None:
    def shouted(rel: pb.Rel) -> None:
        rel.project.expressions[0].scalar_function.options.add(name="OVERFLOW", preference=["saturate", "Error"])

    got, _ = root(changed(ADDED, shouted))
    assert isinstance(got, r.Project)
    (read,) = got.expressions
    assert isinstance(read, ex.ScalarFunction)
    assert read.options == (FunctionOption("overflow", ("SATURATE", "ERROR")),)


def test_options_of_functions_that_nobody_knows_are_kept() -> None:
    options = (FunctionOption("Mode", ("a", "B")), FunctionOption("other", ("a", "a")))
    for function in (
        ex.FunctionId("extension:a:b", ADD),
        ex.FunctionId(ARITHMETIC, "plus:i64_i64"),
        ex.FunctionId("", "g"),
    ):
        rel = r.Project(T, (ex.ScalarFunction(function, (a,), t.I64(), options),), ("x",))
        got, _ = root(changed(rel, lambda m: None))
        assert got == rel


def test_options_are_checked_when_they_are_built() -> None:
    rows = table("a: i64")
    for options, error, said in (
        ({"overflow": []}, InvalidArgumentError, "the option overflow says no preference"),
        ({"overflow": "ERROR", "OVERFLOW": "SILENT"}, InvalidArgumentError, "OVERFLOW of add is given twice"),
        ({"overfow": "ERROR"}, InvalidChoiceError, "overfow"),
        ({"overflow": "WRAP"}, InvalidChoiceError, "WRAP"),
    ):
        with refused(error, said):
            rows.project(x=lambda r, options=options: f.add(r.a, 1, **options))
    with refused(InvalidArgumentError, "mode of g is given twice"):
        twice = (FunctionOption("Mode", ("a",)), FunctionOption("mode", ("b",)))
        ex.ScalarFunction(ex.FunctionId("extension:a:b", "g:"), (), t.I64(), twice)


def test_spark_refuses_an_option_that_it_does_not_know() -> None:
    """As SQL text, before anything runs."""
    for name, value in (("overfow", "ERROR"), ("overflow", "WRAP")):
        plan = changed(ADDED, lambda m: None)
        call = plan.relations[-1].root.input.project.expressions[0].scalar_function
        call.options.add(name=name, preference=[value])
        got, _ = root(plan)
        (kept,) = [node for node in walk(got) if isinstance(node, ex.ScalarFunction)]
        with refused(UnsupportedError, f"Spark cannot run add with the option {name} = {value} exactly"):
            function_to_sql(kept, ("a", "b"))
