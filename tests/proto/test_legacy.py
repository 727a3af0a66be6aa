"""Plans of earlier versions, as bytes and as JSON, mean today what they meant then."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from google.protobuf import json_format
from google.protobuf.descriptor_pb2 import DescriptorProto
from substrait import algebra_pb2 as pb
from substrait.extended_expression_pb2 import ExtendedExpression
from substrait.plan_pb2 import Plan

from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra.findings import Finding
from substrait_dsl.errors import PlanFormatError
from substrait_dsl.proto.legacy import modern_plan, modern_plan_from_json
from substrait_dsl.proto.legacy_schema import PACKAGE, REMOVED_FIELDS
from substrait_dsl.proto.plan import to_bytes, to_json
from tests.proto.old_plans import URIS, expression, modern, old, relation, type_
from tests.proto.plans import T, col, encoded, gt, i64, message
from tests.support import refused

# --- the table of what was removed


def messages_of_today() -> dict[str, DescriptorProto]:
    """Every message that a plan or an extended expression can hold, by its full name."""
    found: dict[str, Any] = {}
    stack: list[Any] = [Plan.DESCRIPTOR, ExtendedExpression.DESCRIPTOR]
    while stack:
        kind = stack.pop()
        if kind.full_name not in found:
            found[kind.full_name] = DescriptorProto()
            kind.CopyToProto(found[kind.full_name])
            stack.extend(field.message_type for field in kind.fields if field.message_type is not None)
    return found


def test_every_reserved_number_is_in_the_table() -> None:
    reserved = {
        (name, number)
        for name, kind in messages_of_today().items()
        for span in kind.reserved_range
        for number in range(span.start, span.end)
    }
    assert {(PACKAGE + field.message, field.number) for field in REMOVED_FIELDS} == reserved


def test_every_reserved_name_is_in_the_table() -> None:
    reserved = {(name, field) for name, kind in messages_of_today().items() for field in kind.reserved_name}
    assert reserved  # today's messages do not give the names of all of them
    assert reserved <= {(PACKAGE + field.message, field.name) for field in REMOVED_FIELDS}


OLD_ROWS = pa.table({"a": pa.array([1, 2, 1, 3], pa.int64())})
OLD_READ = """read { base_schema { names: "a" struct { types { i64 { nullability: NULLABILITY_NULLABLE } } } }
  named_table { names: "t" } }"""
OLD_FIELD = "selection { direct_reference { struct_field { field: 0 } } root_reference {} }"
FIRST_FIELD = "common { emit { output_mapping: 1 } }"


@pytest.mark.parametrize(
    ("rel", "rows"),
    [
        (f"fetch {{ input {{ {OLD_READ} }} offset: 1 count: 2 }}", [2, 1]),
        (f"fetch {{ input {{ {OLD_READ} }} offset: 1 }}", []),  # an unset count is 0
        (f"aggregate {{ input {{ {OLD_READ} }} groupings {{ grouping_expressions {{ {OLD_FIELD} }} }} }}", [1, 2, 3]),
        (
            f"project {{ {FIRST_FIELD} input {{ {OLD_READ} }} expressions {{ literal {{ time: 5 }} }} }}",
            pa.array([5] * 4, pa.time64("us")).to_pylist(),
        ),
        (
            f"project {{ {FIRST_FIELD} input {{ {OLD_READ} }} expressions {{ literal {{ timestamp: 5 }} }} }}",
            pa.array([5] * 4, pa.timestamp("us")).to_pylist(),
        ),
        (
            f"project {{ {FIRST_FIELD} input {{ {OLD_READ} }} expressions {{ literal {{ timestamp_tz: 5 }} }} }}",
            pa.array([5] * 4, pa.timestamp("us", "UTC")).to_pylist(),
        ),
    ],
)
def test_a_reader_of_then_agrees_on_the_old_messages(rel: str, rows: list[object]) -> None:
    """Arrow's reader is of version 0.44: it knows fields by their numbers, and what an unset one meant."""
    substrait = importlib.import_module("pyarrow.substrait")
    plan = old(f'relations {{ root {{ names: "x" input {{ {rel} }} }} }}', "0.44")
    reader = substrait.run_query(pa.py_buffer(plan.SerializeToString()), table_provider=lambda names, schema: OLD_ROWS)
    assert reader.read_all()["x"].to_pylist() == rows


# --- what is said otherwise today

LITERAL = "literal { %s }"
FIELD = "selection { direct_reference { struct_field { field: %d } } root_reference {} }"
A, B, C = (FIELD % position for position in range(3))
REFERENCE = "direct_reference { struct_field { field: %d } } root_reference {}"

TRANSLATED: dict[str, tuple[str, str]] = {
    "a virtual table": (
        relation("read { virtual_table { values { fields { i64: 1 } fields { string: 'x' } } values {} } }"),
        relation(
            """read { virtual_table {
              expressions { fields { literal { i64: 1 } } fields { literal { string: 'x' } } } expressions {} } }"""
        ),
    ),
    "the format of a file": (
        relation("read { local_files { items { uri_file: 'f' format: FILE_FORMAT_PARQUET } } }"),
        relation("read { local_files { items { uri_file: 'f' parquet {} } } }"),
    ),
    "grouping expressions: columns in order of appearance": (
        relation(
            f"""aggregate {{
              groupings {{ grouping_expressions {{ {B} }} grouping_expressions {{ {A} }} }}
              groupings {{ grouping_expressions {{ {A} }} grouping_expressions {{ {C} }} }}
              groupings {{}} }}"""
        ),
        relation(
            f"""aggregate {{
              groupings {{ expression_references: [0, 1] }} groupings {{ expression_references: [1, 2] }} groupings {{}}
              grouping_expressions {{ {B} }} grouping_expressions {{ {A} }} grouping_expressions {{ {C} }} }}"""
        ),
    ),
    "grouping expressions said in both ways": (
        relation(
            f"""aggregate {{
              groupings {{ grouping_expressions {{ {B} }} expression_references: 1 }}
              grouping_expressions {{ {A} }} grouping_expressions {{ {B} }} }}"""
        ),
        relation(
            f"""aggregate {{ groupings {{ expression_references: 1 }}
              grouping_expressions {{ {A} }} grouping_expressions {{ {B} }} }}"""
        ),
    ),
    "grouping expressions that differ in old fields only": (
        relation(
            """aggregate {
              groupings { grouping_expressions { literal { time: 5 } } }
              groupings { grouping_expressions { literal { precision_time { precision: 6 value: 5 } } } } }"""
        ),
        relation(
            """aggregate { groupings { expression_references: 0 } groupings { expression_references: 0 }
              grouping_expressions { literal { precision_time { precision: 6 value: 5 } } } }"""
        ),
    ),
    **{
        f"the keys of a {join}": (
            relation(
                f"""{join} {{ left_keys {{ {REFERENCE % 0} }} left_keys {{ {REFERENCE % 1} }}
                  right_keys {{ {REFERENCE % 2} }} right_keys {{ {REFERENCE % 3} }} }}"""
            ),
            relation(
                f"""{join} {{
                  keys {{ left {{ {REFERENCE % 0} }} right {{ {REFERENCE % 2} }}
                    comparison {{ simple: SIMPLE_COMPARISON_TYPE_EQ }} }}
                  keys {{ left {{ {REFERENCE % 1} }} right {{ {REFERENCE % 3} }}
                    comparison {{ simple: SIMPLE_COMPARISON_TYPE_EQ }} }} }}"""
            ),
        )
        for join in ("hash_join", "merge_join")
    },
    **{
        f"the arguments of a {call}": (
            expression(f"{call} {{ args {{ enum {{ specified: 'DAY' }} }} args {{ {A} }} args {{ {B} }} }}"),
            expression(
                f"""{call} {{
                  arguments {{ enum: 'DAY' }} arguments {{ value {{ {A} }} }} arguments {{ value {{ {B} }} }} }}"""
            ),
        )
        for call in ("scalar_function", "window_function")
    },
    "the arguments of a measure": (
        relation(f"aggregate {{ measures {{ measure {{ args {{ {A} }} }} }} }}"),
        relation(f"aggregate {{ measures {{ measure {{ arguments {{ value {{ {A} }} }} }} }} }}"),
    ),
    "arguments inside arguments": (
        expression(f"scalar_function {{ args {{ scalar_function {{ args {{ {A} }} }} }} }}"),
        expression(
            f"scalar_function {{ arguments {{ value {{ scalar_function {{ arguments {{ value {{ {A} }} }} }} }} }} }}"
        ),
    ),
    "arguments said in both ways": (
        expression(f"scalar_function {{ args {{ {A} }} arguments {{ value {{ {A} }} }} }}"),
        expression(f"scalar_function {{ arguments {{ value {{ {A} }} }} }}"),
    ),
    "an enum as an expression among arguments": (
        expression("scalar_function { arguments { value { enum { specified: 'DAY' } } } arguments { enum: 'MONTH' } }"),
        expression("scalar_function { arguments { enum: 'DAY' } arguments { enum: 'MONTH' } }"),
    ),
    "an enum as a message: field 1, text of 6 bytes": (
        expression(r"scalar_function { arguments { enum: '\n\006SECOND' } }"),
        expression("scalar_function { arguments { enum: 'SECOND' } }"),
    ),
    **{
        f"the literal {then}": (
            expression(LITERAL % f"{then}: 1234567 nullable: true type_variation_reference: 3"),
            expression(LITERAL % f"{now} {{ precision: 6 value: 1234567 }} nullable: true type_variation_reference: 3"),
        )
        for then, now in (
            ("time", "precision_time"),
            ("timestamp", "precision_timestamp"),
            ("timestamp_tz", "precision_timestamp_tz"),
        )
    },
    "the literal time 0": (
        expression(LITERAL % "time: 0"),
        expression(LITERAL % "precision_time { precision: 6 }"),
    ),
    "microseconds of an interval": (
        expression(LITERAL % "interval_day_to_second { days: 1 seconds: 2 microseconds: -3 }"),
        expression(LITERAL % "interval_day_to_second { days: 1 seconds: 2 precision: 6 subseconds: -3 }"),
    ),
    "no microseconds of an interval": (
        expression(LITERAL % "interval_day_to_second { days: 1 }"),
        expression(LITERAL % "interval_day_to_second { days: 1 precision: 6 }"),
    ),
    "an interval of precision 0 that says so": (
        expression(LITERAL % "interval_day_to_second { days: 1 precision: 0 }"),
        expression(LITERAL % "interval_day_to_second { days: 1 precision: 0 }"),
    ),
    **{
        f"the type {then}": (
            type_(f"{then} {{ nullability: NULLABILITY_NULLABLE type_variation_reference: 7 }}"),
            type_(f"{now} {{ precision: 6 nullability: NULLABILITY_NULLABLE type_variation_reference: 7 }}"),
        )
        for then, now in (
            ("time", "precision_time"),
            ("timestamp", "precision_timestamp"),
            ("timestamp_tz", "precision_timestamp_tz"),
        )
    },
    "the type of an interval": (
        type_("interval_day { nullability: NULLABILITY_REQUIRED }"),
        type_("interval_day { nullability: NULLABILITY_REQUIRED precision: 6 }"),
    ),
    "a user-defined type": (
        type_("user_defined_type_reference: 4"),
        type_("user_defined { type_reference: 4 nullability: NULLABILITY_REQUIRED }"),
    ),
    "a type in a literal": (
        expression(LITERAL % "null { list { type { time {} } } }"),
        expression(LITERAL % "null { list { type { precision_time { precision: 6 } } } }"),
    ),
}


@pytest.mark.parametrize("case", TRANSLATED)
def test_what_was_said_is_said_otherwise(case: str) -> None:
    then, now = TRANSLATED[case]
    assert modern(then) == message(Plan, now)


def test_every_removed_field_is_translated_in_some_test() -> None:
    tested = {("substrait.ExtendedExpression", "extension_uris")}  # in tests/proto/test_extended.py
    for then in [*(then for then, _ in TRANSLATED.values()), URIS, relation("fetch { offset: 1 count: 1 }")]:
        stack: list[Any] = [old(then)]
        while stack:
            current = stack.pop()
            for field, value in current.ListFields():
                tested.add((current.DESCRIPTOR.full_name, field.name))
                if field.message_type is not None:
                    stack.extend(value if field.is_repeated else [value])
    assert {(PACKAGE + field.message, field.name) for field in REMOVED_FIELDS} <= tested


@pytest.mark.parametrize(
    ("key", "then", "now"),
    [
        ("join", "JOIN_TYPE_SEMI", "JOIN_TYPE_LEFT_SEMI"),
        ("join", "JOIN_TYPE_ANTI", "JOIN_TYPE_LEFT_ANTI"),
        ("join", "JOIN_TYPE_SINGLE", "JOIN_TYPE_LEFT_SINGLE"),
        ("write", "OUTPUT_MODE_MODIFIED_TUPLES", "OUTPUT_MODE_MODIFIED_RECORDS"),
    ],
)
def test_former_names_in_json(key: str, then: str, now: str) -> None:
    field = "type" if key == "join" else "output"
    plan = modern_plan_from_json(f'{{"relations": [{{"rel": {{"{key}": {{"{field}": "{then}"}}}}}}]}}')
    assert plan == message(Plan, relation(f"{key} {{ {field}: {now} }}"))


def json_of(arguments: list[object], kind: str = "scalarFunction") -> str:
    expressions = [{kind: {"arguments": arguments}}]
    return json.dumps({"relations": [{"rel": {"project": {"expressions": expressions}}}]})


A_CALL = {"value": {"scalarFunction": {"arguments": [{"enum": {"specified": "MONTH"}}, {"enum": "DAY"}]}}}


@pytest.mark.parametrize("kind", ["scalarFunction", "scalar_function", "windowFunction"])
def test_an_enum_was_an_object_in_json(kind: str) -> None:
    findings: list[Finding] = []
    text = json_of([{"enum": {"specified": "SECOND"}}, A_CALL, {"enum": {"unspecified": {}}}], kind)
    name = kind.replace("F", "_f")
    assert modern_plan_from_json(text, findings) == message(
        Plan,
        expression(
            f"""{name} {{ arguments {{ enum: 'SECOND' }} arguments {{ value {{ scalar_function {{
              arguments {{ enum: 'MONTH' }} arguments {{ enum: 'DAY' }} }} }} }} }}"""
        ),
    )
    ((told, path),) = [(each.message, each.path) for each in findings]
    assert told.startswith("argument 2 leaves an option open")
    assert path == f"relations[0].rel.project.expressions[0].{name}"


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ({"enum": {"specifid": "X"}}, ('has no field "specifid"', 'did you mean "specified"')),
        ({"enum": {"specified": 1}}, ("for specified, not 1",)),
        ({"enum": ["X"]}, ("for enum, not a list",)),
        ({"enum": {"specified": "X"}, "value": {}}, ("for enum, not an object",)),
        ({"enum": {"specified": "X"}, "type": {"i64": {}}}, ("multiple", "arg_type")),
    ],
)
def test_an_object_that_is_no_enum_is_refused(argument: object, said: tuple[str, ...]) -> None:
    with refused(PlanFormatError, *said):
        modern_plan_from_json(json_of([argument]))


def test_a_key_that_an_object_has_twice_is_refused() -> None:
    with refused(PlanFormatError, 'duplicate key "count"'):
        modern_plan_from_json('{"relations": [{"rel": {"fetch": {"count": "1", "count": "2"}}}]}')


# --- what an unset field meant


@pytest.mark.parametrize(
    ("version", "then", "now"),
    [
        ("0.50", "offset: 2 count: 3", "offset_expr { literal { i64: 2 } } count_expr { literal { i64: 3 } }"),
        ("0.50", "count: -1", ""),
        ("0.50", "offset: 2 count: -1", "offset_expr { literal { i64: 2 } }"),
        ("0.50", "offset: 0 count: 3", "count_expr { literal { i64: 3 } }"),
        ("0.62", "", "count_expr { literal { i64: 0 } }"),
        ("0.62", "offset: 2", "offset_expr { literal { i64: 2 } } count_expr { literal { i64: 0 } }"),
        ("0.62", "offset_expr { literal { i64: 2 } }", "offset_expr { literal { i64: 2 } }"),  # a field of 0.63
        ("0.63", "", ""),
        ("0.63", "offset: 2", "offset_expr { literal { i64: 2 } }"),
        ("0.63", "count: 0", "count_expr { literal { i64: 0 } }"),
        ("0.63", "count_expr { literal { i64: 4 } }", "count_expr { literal { i64: 4 } }"),
        ("0.0", "offset: 2 count: 0", "offset_expr { literal { i64: 2 } } count_expr { literal { i64: 0 } }"),
        ("0.0", "", ""),  # nothing in this plan is old
        ("0.106", "", ""),
        ("0.106", "count: 3", "count_expr { literal { i64: 3 } }"),
    ],
)
def test_fetch(version: str, then: str, now: str) -> None:
    assert modern(relation(f"fetch {{ {then} }}"), version) == message(Plan, relation(f"fetch {{ {now} }}"))


@pytest.mark.parametrize("rel", ["fetch { offset: 2 }", "fetch { input { read { virtual_table { values {} } } } }"])
def test_a_fetch_without_a_count_in_an_old_plan_of_unknown_version(rel: str) -> None:
    with refused(PlanFormatError, "0.63", "does not set its version", "(at relations[0].rel.fetch)"):
        modern(relation(rel), "0.0")


@pytest.mark.parametrize(("version", "bounds"), [("0.31", "BOUNDS_TYPE_ROWS"), ("0.32", "BOUNDS_TYPE_UNSPECIFIED")])
def test_windows_counted_records_before_they_had_a_type_of_bounds(version: str, bounds: str) -> None:
    plan = modern(expression("window_function { lower_bound { preceding { offset: 1 } } }"), version)
    assert plan.relations[0].rel.project.expressions[0].window_function.bounds_type == (
        pb.Expression.WindowFunction.BoundsType.Value(bounds)
    )


@pytest.mark.parametrize(("version", "precise"), [("0.96", True), ("0.0", True), ("0.97", False)])
def test_the_type_of_an_interval_without_precision(version: str, precise: bool) -> None:
    plan = modern(type_("interval_day {}"), version)
    assert plan.relations[0].rel.read.base_schema.struct.types[0].interval_day.HasField("precision") is precise


@pytest.mark.parametrize(("version", "precision"), [("0.97", 6), ("0.0", 6), ("0.98", 0)])
def test_an_interval_without_precision(version: str, precision: int) -> None:
    plan = modern(expression(LITERAL % "interval_day_to_second { days: 1 }"), version)
    assert plan.relations[0].rel.project.expressions[0].literal.interval_day_to_second.precision == precision


# --- what cannot be said today


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            expression("enum { specified: 'DAY' }"),
            ("enum", "means nothing", "(at relations[0].rel.project.expressions[0])"),
        ),
        (relation("fetch { offset: -1 }"), ("-1", "(at relations[0].rel.fetch)")),
        (relation("fetch { count: -2 }"), ("-2",)),
        (relation("fetch { count: 2 count_expr { literal { i64: 3 } } }"), ("count and count_expr", "differ")),
        (relation("hash_join { left_keys {} }"), ("1 left keys and 0 right keys", "(at relations[0].rel.hash_join)")),
        (
            relation(f"merge_join {{ left_keys {{ {REFERENCE % 0} }} right_keys {{ {REFERENCE % 0} }} keys {{}} }}"),
            ("left_keys and keys", "differ"),
        ),
        (
            expression(f"scalar_function {{ args {{ {A} }} arguments {{ value {{ {B} }} }} }}"),
            ("args and arguments", "(at relations[0].rel.project.expressions[0].scalar_function)"),
        ),
        (
            relation("read { virtual_table { values { fields { i64: 1 } } expressions {} } }"),
            ("values and expressions", "(at relations[0].rel.read.virtual_table)"),
        ),
        (
            relation(
                f"""aggregate {{ groupings {{ grouping_expressions {{ {A} }} expression_references: 0 }}
                  grouping_expressions {{ {B} }} }}"""
            ),
            ("references", "(at relations[0].rel.aggregate)"),
        ),
        (relation("read { local_files { items { format: 9 } } }"), ("format 9", "items[0]")),
        (relation("read { local_files { items { format: FILE_FORMAT_PARQUET orc {} } } }"), ("PARQUET", "orc")),
        (
            "extension_uris { uri: 'a' } extension_uris { uri: 'b' }",
            ("anchor 0", "(at extension_uris[1])"),
        ),
        (
            """extension_uris { extension_uri_anchor: 1 uri: '/a/b.yaml' }
              extension_uris { extension_uri_anchor: 2 uri: '/a.b.yaml' }
              extensions { extension_function { extension_uri_reference: 1 } }
              extensions { extension_function { extension_uri_reference: 2 } }""",
            ("/a/b.yaml", "/a.b.yaml", "extension:unknown:a.b"),
        ),
    ],
)
def test_refused(text: str, said: tuple[str, ...]) -> None:
    with refused(PlanFormatError, *said):
        modern_plan(old(text).SerializeToString())


def test_arguments_that_nest_too_deeply_for_today() -> None:
    """A call inside a call is two levels of messages with args and three with arguments: of 100, 4 are the plan's."""
    plan = old(relation("project {}"))
    inner = plan.relations[0].rel.project.expressions.add()
    for _ in range(30):
        inner = inner.scalar_function.args.add()
    modern_plan(plan.SerializeToString())
    for _ in range(10):
        inner = inner.scalar_function.args.add()
    with refused(PlanFormatError, "in current messages", "more than 100 deep"):
        modern_plan(plan.SerializeToString())


def test_what_is_read_by_a_reading_is_told() -> None:
    findings: list[Finding] = []
    call = "scalar_function { args { enum { unspecified {} } } args { literal { i64: 1 } } }"
    plan = modern(expression(call), findings=findings)
    assert plan == message(Plan, expression("scalar_function { arguments { value { literal { i64: 1 } } } }"))
    assert [finding.path for finding in findings] == ["relations[0].rel.project.expressions[0].scalar_function"]
    assert "argument 0" in findings[0].message

    findings.clear()
    join = relation("hash_join { type: JOIN_TYPE_LEFT post_join_filter { literal { boolean: true } } }")
    assert modern(join, findings=findings) == message(Plan, join)  # spec decision 50
    assert [finding.path for finding in findings] == ["relations[0].rel.hash_join"]

    findings.clear()
    modern(join.replace("LEFT", "INNER"), findings=findings)
    assert findings == []


# --- whole plans


def test_plans_of_today_stay_as_they_are() -> None:
    rel: r.Rel = T
    for number in range(300):  # as deep as messages go
        rel = r.Filter(rel, gt(col(rel, 0), i64(number)))
    for plan in (encoded(T), encoded(rel)):
        assert modern_plan(to_bytes(plan)) == plan
        assert modern_plan_from_json(to_json(plan)) == plan


def test_plans_of_other_producers(shared: Path) -> None:
    plans = sorted((shared / "third_party_plans" / "plans").glob("*.json"))
    assert len(plans) == 64
    for path in plans:
        findings: list[Finding] = []
        text = path.read_text(encoding="utf-8")
        plan = modern_plan_from_json(text, findings)
        assert findings == [], path.name
        # protobuf reads the same plan when it may skip what it does not know: so much is left as it was
        stem = "\n".join(line for line in text.splitlines() if not line.startswith("//"))
        skipped = json_format.Parse(stem, Plan(), ignore_unknown_fields=True)
        assert [len(each.root.names) for each in plan.relations] == [len(each.root.names) for each in skipped.relations]
        declared = {each.extension_urn_anchor for each in plan.extension_urns}
        assert {each.extension_function.extension_urn_reference for each in plan.extensions} <= declared, path.name
        assert text.count('"count"') == str(plan).count("count_expr"), path.name
