"""Names of extensions in texts of plans: a type is read as the one that was written, and looked up at once."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest
from substrait import algebra_pb2 as pb
from substrait.plan_pb2 import Plan
from substrait.type_pb2 import Type

import substrait_dsl as sd
from substrait_dsl.errors import PlanFormatError, UnsupportedError
from substrait_dsl.proto.plan_text.plan import read_plan, write_plan
from tests.support import count_calls

WORDS = (
    "boolean", "i8", "i16", "i32", "i64", "fp32", "fp64", "string", "binary", "date", "interval_year", "uuid",
    "fixedchar", "varchar", "fixedbinary", "decimal", "precisiontime", "precisiontimestamp", "precisiontimestamptz",
    "interval_day", "interval_compound", "time", "timestamp", "timestamp_tz", "list", "map", "struct", "nstruct",
    "u8", "u16", "u32", "u64", "derived", "null", "true", "false", "if_then",
)  # fmt: skip
"""The words of ``GRAMMAR.md`` for types, and other words of it."""

REQUIRED, NULLABLE = Type.NULLABILITY_REQUIRED, Type.NULLABILITY_NULLABLE


def user_type(anchor: int, nullability: Type.Nullability.ValueType, *parameters: Type) -> Type:
    body = Type.UserDefined(type_reference=anchor, nullability=nullability)
    body.type_parameters.extend(Type.Parameter(data_type=each) for each in parameters)
    return Type(user_defined=body)


def plan_with(names: Sequence[str], urns: Sequence[int]) -> Plan:
    """A plan that declares types, by the numbers of their URNs, with columns and literals of them."""
    plan, _ = read_plan("=== Plan\nRoot[]\n  Read[t => a:i64]\n")
    for urn in sorted(set(urns)):
        plan.extension_urns.add(extension_urn_anchor=urn, urn=f"extension:acme:types{urn}")
    read = plan.relations[0].root.input.read
    types = read.base_schema.struct.types
    del types[:], read.base_schema.names[:]
    for anchor, (name, urn) in enumerate(zip(names, urns, strict=True), start=1):
        declaration = plan.extensions.add().extension_type
        declaration.type_anchor, declaration.extension_urn_reference, declaration.name = anchor, urn, name
        one = user_type(anchor, NULLABLE)
        types.extend([one, user_type(anchor, REQUIRED, one), Type(list=Type.List(type=one, nullability=NULLABLE))])
    read.base_schema.names.extend(f"c{n}" for n in range(len(types)))
    literals = [pb.Expression(literal=pb.Expression.Literal(null=each)) for each in types if each.HasField("list")]
    project = pb.ProjectRel(input=plan.relations[0].root.input, expressions=literals)
    project.common.direct.SetInParent()
    plan.relations[0].root.input.project.CopyFrom(project)
    plan.relations[0].root.names.extend(f"x{n}" for n in range(len(types) + len(literals)))
    return plan


def any_case(rng: random.Random, word: str) -> str:
    return "".join(rng.choice((c.lower(), c.upper())) for c in word)


def test_types_of_any_name_come_back() -> None:
    """The words of the specification in any case, with more behind them, and several of one name."""
    rng = random.Random(5)
    for _ in range(150):
        words = [any_case(rng, rng.choice(WORDS)) + rng.choice(("", "", "", "x", "_x", "8")) for _ in range(6)]
        names = words + rng.sample(words, 2)
        plan = plan_with(names, rng.choices((1, 2), k=len(names)))
        text = write_plan(plan)
        assert read_plan(text)[0] == plan, text


@pytest.mark.parametrize("name", ["Date", "STRING", "I64", "Uuid", "Time", "Timestamp", "Boolean", "Interval_Year"])
def test_a_type_that_differs_by_capitals_is_no_type_of_the_specification(name: str) -> None:
    plan = sd.Plan.from_proto(plan_with([name], [1]))
    assert f"c0:u!{name}?" in plan.to_text()
    assert sd.Plan.from_text(plan.to_text()) == plan
    # The program writes such a type without "u!", and reads it so.
    of_program = plan.to_text().replace("u!", "")
    assert sd.Plan.from_text(of_program) == plan
    assert sd.Plan.from_text(of_program.replace(f"c0:{name}?", f"c0:{name}#1?")) == plan


def test_words_in_capitals_are_types_of_the_specification_where_none_is_declared() -> None:
    plan = sd.Plan.from_text("=== Plan\nRoot[a, b]\n  Read[t => a:I64?, b:Date]\n")
    assert [str(field.type) for field in plan.roots[0].schema] == ["i64?", "date"]


def test_a_mark_of_types_that_is_part_of_a_name_is_refused() -> None:
    """``u!x`` in a text is the type ``x``: another one."""
    with pytest.raises(UnsupportedError, match='the type "u!x": "u!" in front of a name is no part of it') as refused:
        write_plan(plan_with(["u!x"], [1]))
    assert refused.value.path == "extensions[0].extension_type"


def declaring(count: int, name: Callable[[int], str], call: Callable[[int], str]) -> str:
    """The text of a plan that declares so many functions, and calls each."""
    numbers = range(1, count + 1)
    return "".join(
        (
            "=== Extensions\nURNs:\n",
            *(f"  @{n}: extension:acme:x{n}\n" for n in numbers),
            "Functions:\n",
            *(f"  #{n} @{n}: {name(n)}\n" for n in numbers),
            "=== Plan\n",
            f"Project[{', '.join(f'{call(n)}($0):i64' for n in numbers)}]\n  Read[t => a:i64]\n",
        )
    )


@pytest.mark.parametrize(
    ("name", "call"),
    [
        (lambda n: f"f{n}:i64", lambda n: f"f{n}"),
        (lambda n: f"f:x{n}", lambda n: f"f:x{n}"),
        (lambda n: "f:i64", lambda n: f"f#{n}"),
        (lambda n: "f:i64", lambda n: f"f@{n}"),
    ],
    ids=["names", "signatures", "anchors", "URNs"],
)
def test_the_work_to_look_names_up_grows_with_their_number(
    name: Callable[[int], str], call: Callable[[int], str]
) -> None:
    def calls(declarations: int) -> int:
        return count_calls(lambda: write_plan(read_plan(declaring(declarations, name, call))[0]))

    assert calls(400) < 4.5 * calls(100)


def test_a_name_of_many_is_looked_up_by_all_that_is_said() -> None:
    text = declaring(3, lambda n: "f:i64", lambda n: f"f@{n}")
    message, _ = read_plan(text)
    expressions = message.relations[0].rel.project.expressions
    assert [each.scalar_function.function_reference for each in expressions] == [1, 2, 3]
    assert read_plan(write_plan(message))[0] == message
    for wrong, error in (
        ("f@4", 'no function "f" is of the URN 4'),
        ("f#2@1", "function 2 is of the URN 2, not of 1"),
        ("g#2", 'function 2 is declared as "f:i64", not as "g"'),
        ("f", '3 functions are called "f"'),
    ):
        with pytest.raises(PlanFormatError, match=error):
            read_plan(text.replace("f@2", wrong))
