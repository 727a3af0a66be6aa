"""No field of a plan is skipped because nobody knows it, and no input breaks the reader."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from google.protobuf import json_format, text_format
from google.protobuf.message import DecodeError, Message
from hypothesis import given
from hypothesis import strategies as st
from substrait import algebra_pb2 as pb
from substrait.extended_expression_pb2 import ExtendedExpression
from substrait.plan_pb2 import Plan

from substrait_dsl.errors import PlanFormatError
from substrait_dsl.proto.legacy import modern_extended_expression, modern_plan, modern_plan_from_json
from substrait_dsl.proto.legacy_schema import NEW_FIELDS, PACKAGE, old_class, old_plan_class
from substrait_dsl.proto.paths import parts
from substrait_dsl.proto.plan import from_bytes
from tests.support import refused

UNKNOWN = 19999


def varint(number: int) -> bytes:
    """A number as protobuf writes it: seven bits a byte, the lowest first."""
    low, rest = number & 0x7F, number >> 7
    return bytes([low | 0x80]) + varint(rest) if rest else bytes([low])


def field(number: int, wire_type: int = 0, value: bytes = b"\x01") -> bytes:
    return varint(number << 3 | wire_type) + value


# --- the way to each message


READERS: dict[type[Any], Callable[[bytes], object]] = {
    Plan: modern_plan,
    ExtendedExpression: modern_extended_expression,
}


def ways(kind: type[Any]) -> dict[str, tuple[Any, ...]]:
    """A shortest way of fields from a plan, or an extended expression, to each message, of today and of then."""
    root: Any = old_class(kind).DESCRIPTOR
    found: dict[str, tuple[Any, ...]] = {root.full_name: ()}
    queue = [root]
    for message in queue:
        for each in message.fields:
            if each.message_type is not None and each.message_type.full_name not in found:
                found[each.message_type.full_name] = (*found[message.full_name], each)
                queue.append(each.message_type)
    return found


WAYS = {kind: ways(kind) for kind in READERS}
ALL = [*((Plan, name) for name in WAYS[Plan]), *((ExtendedExpression, name) for name in WAYS[ExtendedExpression])]


def with_message(kind: type[Any], message: str, content: bytes) -> tuple[bytes, str | None]:
    """A plan, or an extended expression, that holds a message with this content, and the path of the message."""
    whole: Any = old_class(kind)()
    current = whole
    steps = []
    for each in WAYS[kind][message]:
        current = getattr(current, each.name)
        if each.is_repeated:
            current = current.add()
            steps.append(f"{each.name}[0]")
        else:
            current.SetInParent()
            steps.append(each.name)
    current.MergeFromString(content)
    return whole.SerializeToString(), ".".join(steps) or None


@pytest.mark.parametrize(("kind", "message"), ALL)
def test_an_unknown_field_in_any_message(kind: type[Any], message: str) -> None:
    data, path = with_message(kind, message, field(UNKNOWN))
    with pytest.raises(PlanFormatError) as caught:
        READERS[kind](data)
    assert f"{message} has the unknown field {UNKNOWN}" in caught.value.message
    assert caught.value.path == path


@pytest.mark.parametrize(
    "content",
    [
        field(UNKNOWN, 0, b"\x00"),
        field(UNKNOWN, 1, bytes(8)),
        field(UNKNOWN, 2, b"\x00"),
        field(UNKNOWN, 3, field(UNKNOWN, 4, b"")),
        field(UNKNOWN, 5, bytes(4)),
        field(2**29 - 1),
        field(1) + field(UNKNOWN),  # behind a field of another type, which is unknown as well
    ],
)
def test_unknown_fields_of_any_type(content: bytes) -> None:
    data, path = with_message(Plan, "substrait.FilterRel", content)
    with refused(PlanFormatError, "substrait.FilterRel has the unknown field", f"(at {path})"):
        modern_plan(data)


@pytest.mark.parametrize("depth", [0, 29, 30, 31, 32, 45])
@pytest.mark.parametrize("version", [0, 50, 106])
def test_unknown_fields_at_any_depth(depth: int, version: int) -> None:
    """Protobuf's own DiscardUnknownFields looks at 64 levels, which are 31 filters, and finds nothing below."""
    plan = Plan()
    plan.version.minor_number = version
    rel = plan.relations.add().rel
    for _ in range(depth):
        rel = rel.filter.input
    rel.filter.condition.MergeFromString(field(UNKNOWN))
    path = "relations[0].rel" + ".filter.input" * depth + ".filter.condition"
    with refused(PlanFormatError, f"unknown field {UNKNOWN}", f"(at {path})"):
        modern_plan(plan.SerializeToString())


def filtered(rel: pb.Rel) -> Iterator[Message]:
    yield rel.filter.input
    yield from filtered(rel.filter.input)


def joined(rel: pb.Rel) -> Iterator[Message]:
    yield rel.join.right
    yield from joined(rel.join.right)


def called(rel: pb.Rel) -> Iterator[Message]:
    expression = rel.filter.condition
    while True:
        expression.scalar_function.arguments.add().type.i64.SetInParent()
        expression = expression.scalar_function.arguments.add().value
        yield expression


def listed(rel: pb.Rel) -> Iterator[Message]:
    literal = rel.project.expressions.add().literal
    while True:
        literal.list.values.add().i64 = 1
        literal = literal.list.values.add()
        yield literal


def typed(rel: pb.Rel) -> Iterator[Message]:
    kind = rel.read.base_schema.struct.types.add()
    while True:
        kind.struct.types.add().i64.SetInParent()
        kind = kind.struct.types.add()
        yield kind


def asked(rel: pb.Rel) -> Iterator[Message]:
    while True:
        rel.filter.input.read.common.hint.stats.row_count = 1
        rel = rel.filter.condition.subquery.set_predicate.tuples
        yield rel


def is_read(plan: Plan) -> bool:
    try:
        Plan.FromString(plan.SerializeToString())
    except DecodeError:
        return False
    return True


def everything(message: Message, path: str = "") -> Iterator[tuple[Message, str]]:
    yield message, path
    for step, part in parts(message):
        yield from everything(part, f"{path}.{step}".removeprefix("."))


@pytest.mark.parametrize("deepen", [filtered, joined, called, listed, typed, asked])
def test_an_unknown_field_at_every_place_of_a_plan_as_deep_as_can_be(deepen: Callable[[pb.Rel], Any]) -> None:
    """Protobuf drops unknown fields from so many levels only, which is not to be noticed."""
    plan = Plan()
    plan.version.minor_number = 106
    last: Message | None = None
    for added in deepen(plan.relations.add().root.input):
        added.SetInParent()
        if not is_read(plan):
            break
        last = added
    assert last is not None
    last.Clear()
    assert is_read(plan)
    for message, path in list(everything(plan)):
        message.MergeFromString(field(UNKNOWN))
        with refused(PlanFormatError, f"unknown field {UNKNOWN}", path and f"(at {path})"):
            modern_plan(plan.SerializeToString())
        message.DiscardUnknownFields()
    assert modern_plan(plan.SerializeToString()) == plan


def test_the_second_of_many() -> None:
    plan = Plan()
    for _ in range(3):
        plan.relations.add().root.names.append("a")
    plan.relations[1].root.MergeFromString(field(UNKNOWN))
    with refused(PlanFormatError, "(at relations[1].root)"):
        modern_plan(plan.SerializeToString())


@pytest.mark.parametrize("new", NEW_FIELDS, ids=lambda new: f"{new.message}.{new.name}")
def test_fields_of_newer_versions(new: Any) -> None:
    kind = next(kind for kind in READERS if PACKAGE + new.message in WAYS[kind])
    data, path = with_message(kind, PACKAGE + new.message, field(new.number))
    with pytest.raises(PlanFormatError) as caught:
        READERS[kind](data)
    assert caught.value.path == path
    for said in (new.name, f"({new.number})", f"newer ({new.since})", "0.106.0"):
        assert said in caught.value.message


def test_an_unknown_field_in_a_plan_of_a_newer_version() -> None:
    plan = Plan()
    plan.version.minor_number = 900
    plan.version.MergeFromString(field(UNKNOWN))
    with refused(
        PlanFormatError, f"unknown field {UNKNOWN}", "the plan is of version 0.900.0", "knows version 0.106.0"
    ):
        from_bytes(plan.SerializeToString())


# --- JSON


def nested(depth: int) -> str:
    return '{"filter":{"input":' * depth + "{}" + "}}" * depth


LITERAL = '{"relations":[{"rel":{"project":{"expressions":[{"literal":{%s}}]}}}]}'
AT_LITERAL = "relations[0].rel.project.expressions[0].literal"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ("no JSON",)),
        ("nonsense", ("no JSON", "line 1")),
        ('// a comment\n\n// another\n{"relations', ("no JSON", "line 4")),
        ("[]", ("expected an object", "a list")),
        ("null", ("expected an object", "null")),
        ('"plan"', ("expected an object", '"plan"')),
        ('{"relatoins": []}', ('"relatoins"', 'did you mean "relations"?')),
        ('{"relations": 1}', ("expected a list", "1", "(at relations)")),
        ('{"relations": [1]}', ("expected an object", "substrait.PlanRel", "(at relations[0])")),
        ('{"relations": [null]}', ("expected an object", "null", "(at relations[0])")),
        ('{"relations": [{"rel": {"filter": {"foo": 1}}}]}', ('"foo"', "FilterRel", "(at relations[0].rel.filter)")),
        ('{"version": []}', ("expected an object", "a list", "(at version)")),
        ('{"version": {"majorNumber": "x"}}', ("an integer of", '"x"', "(at version.majorNumber)")),
        ('{"version": {"majorNumber": -1}}', ("from 0 on", "-1", "(at version.majorNumber)")),
        ('{"version": {"majorNumber": 1e400}}', ("an integer of", "Infinity", "(at version.majorNumber)")),
        ('{"version": {"majorNumber": {}}}', ("an integer of", "an object", "(at version.majorNumber)")),
        ('{"version": {"producer": 5}}', ("text", "5", "(at version.producer)")),
        (r'{"version": {"producer": "\ud800"}}', ("Unicode text", "(at version.producer)")),
        ('{"expectedTypeUrls": ["a", 5]}', ("text", "5", "(at expectedTypeUrls[1])")),
        (LITERAL % '"binary": "%%"', ("base64", '"%%"', f"(at {AT_LITERAL}.binary)")),
        (LITERAL % '"boolean": 1', ("true or false", f"(at {AT_LITERAL}.boolean)")),
        (LITERAL % '"i32": 3000000000', ("32 bits", "3000000000", f"(at {AT_LITERAL}.i32)")),
        (LITERAL % '"i32": 1, "i64": 1', ("literal_type", f"(at {AT_LITERAL})")),
        (
            '{"relations": [{"rel": {"join": {"type": "JOIN_TYPE_FULL"}}}]}',
            ("substrait.JoinRel.JoinType", '"JOIN_TYPE_FULL"', "(at relations[0].rel.join.type)"),
        ),
        ('{"relations": [], "relations": []}', ("duplicate", "relations")),
        (
            '{"advancedExtensions": {"enhancement": {"@type": "x/foo.Bar"}}}',
            ("x/foo.Bar", "(at advancedExtensions.enhancement)"),
        ),
        ('{"relations": [{"detachedRels": []}]}', ('"detachedRels"', "newer (0.107)", "(at relations[0])")),
        ('{"named_lambdas": []}', ('"named_lambdas"', "newer (0.107)")),
        (f'{{"relations": [{{"rel": {nested(60)}}}]}}', ("too deep",)),
        (f'{{"relations": [{{"rel": {nested(10_000)}}}]}}', ("too deep",)),
        ("[" * 10_000, ("too deep",)),
        ('{"relations":' * 100_000, ("too deep",)),
        (f'{{"version": {{"majorNumber": {"9" * 5000}}}}}', ("no JSON",)),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_what_is_no_plan_in_json(text: str, said: tuple[str, ...]) -> None:
    with refused(PlanFormatError, *said):
        modern_plan_from_json(text)


@pytest.mark.parametrize("key", ["expectedTypeUrls", "expected_type_urls"])
def test_json_in_either_style_of_names(key: str) -> None:
    assert modern_plan_from_json(f'// a comment\n{{"{key}": ["a"], "version": null}}') == Plan(expected_type_urls=["a"])


@pytest.mark.parametrize("text", ["+/8=", "-_8=", "+/8", "-_8"])
def test_bytes_in_either_base64(text: str) -> None:
    plan = modern_plan_from_json(LITERAL % f'"binary": "{text}"')
    assert plan.relations[0].rel.project.expressions[0].literal.binary == b"\xfb\xff"


# --- anything


OLD = text_format.Parse(
    """
    extension_uris { extension_uri_anchor: 1 uri: "/functions_arithmetic.yaml" }
    extensions { extension_function { extension_uri_reference: 1 function_anchor: 1 name: "add:i64_i64" } }
    relations { root { names: "a" input { fetch { offset: 1 count: 2 input { aggregate {
      groupings { grouping_expressions { scalar_function { args { literal { timestamp: 5 } }
        args { enum { specified: "DAY" } } output_type { time {} } } } }
      input { hash_join { left_keys {} right_keys {}
        left { read { virtual_table { values { fields { interval_day_to_second { microseconds: 3 } } } } } }
        right { read { local_files { items { format: FILE_FORMAT_PARQUET } } } } } } } } } } } }
    """,
    old_plan_class()(),
)
BYTES = OLD.SerializeToString()
JSON = json_format.MessageToJson(OLD, indent=None)


def test_the_plan_that_is_spoilt_below_is_good() -> None:
    assert modern_plan(BYTES) == modern_plan_from_json(JSON)


def read(data: bytes | str) -> None:
    """Read a plan, or find that it is none; whatever is read is wholly of today."""
    try:
        plan = modern_plan(data) if isinstance(data, bytes) else modern_plan_from_json(data)
    except PlanFormatError:
        return
    copy = Plan()
    copy.CopyFrom(plan)
    copy.DiscardUnknownFields()  # these plans are low
    assert copy.SerializeToString(deterministic=True) == plan.SerializeToString(deterministic=True)


@given(st.binary(max_size=100))
def test_any_bytes(data: bytes) -> None:
    read(data)


@given(st.integers(0, len(BYTES) - 1), st.integers(0, 3), st.binary(max_size=3))
def test_bytes_that_are_spoilt(start: int, length: int, instead: bytes) -> None:
    read(BYTES[:start] + instead + BYTES[start + length :])


@pytest.mark.parametrize("end", range(1, len(BYTES)))
def test_bytes_that_are_cut_short(end: int) -> None:
    """Cut between two fields of the plan it is a shorter plan, anywhere else it is none."""
    ends = set()
    position = 0
    while position < len(BYTES):  # every field of a plan that is set here has a length of less than 16384
        low, high = BYTES[position + 1], BYTES[position + 2]
        position += 2 + low if low < 0x80 else 3 + (low & 0x7F) + (high << 7)
        ends.add(position)
    if end in ends:
        read(BYTES[:end])
    else:
        with refused(PlanFormatError, "these bytes are no Substrait plan"):
            modern_plan(BYTES[:end])


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["rel", "input", "@type"]), inner),
    max_leaves=4,
)


@given(st.data())
def test_json_that_is_spoilt(data: st.DataObject) -> None:
    plan = json.loads(JSON)
    current = plan
    while True:
        key = data.draw(st.sampled_from(sorted(current) if isinstance(current, dict) else range(len(current))))
        inner = current[key]
        if not inner or not isinstance(inner, dict | list) or data.draw(st.booleans()):
            break
        current = inner
    current[key] = data.draw(VALUES)
    read(json.dumps(plan))


def test_large_plans_are_read_in_time_that_grows_with_them() -> None:
    """A quadratic step over this many parts would take minutes."""
    size = 10_000
    plan: Any = old_plan_class()()
    aggregate = plan.relations.add().rel.aggregate
    for number in range(size):
        expression = aggregate.groupings.add().grouping_expressions.add()
        expression.literal.i64 = number
        if number % 2:
            aggregate.groupings[number].expression_references.append(number // 2)
            aggregate.grouping_expressions.add().CopyFrom(expression)
        plan.extension_uris.add(extension_uri_anchor=number, uri=f"/{number}.yaml")
        plan.extension_urns.add(extension_urn_anchor=size + number, urn=f"extension:test:{number}")
        plan.extensions.add().extension_function.extension_uri_reference = number
    modern = modern_plan(plan.SerializeToString())
    assert len(modern.relations[0].rel.aggregate.grouping_expressions) == size
    assert len({each.extension_urn_anchor for each in modern.extension_urns}) == 2 * size
