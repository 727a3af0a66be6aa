"""The legacy encoding: older readers find what they know, and what is read back is the plan that was written."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import pytest
from google.protobuf import text_format

import substrait_dsl as sd
from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.anchors import canonical_plan
from substrait_dsl.algebra.expressions import DaySeconds, literal
from substrait_dsl.algebra.plan import AlgebraPlan
from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.errors import InvalidArgumentError, InvalidChoiceError, PlanFormatError, UnsupportedError
from substrait_dsl.proto.extended import encode_extended_expression
from substrait_dsl.proto.legacy import messages_of, modern_plan
from substrait_dsl.proto.legacy_fields import add_legacy_fields, uri_of, with_known_fields
from substrait_dsl.proto.legacy_plan import urn_of
from substrait_dsl.proto.legacy_schema import PACKAGE, REMOVED_FIELDS, old_plan_class
from substrait_dsl.proto.plan import encode_plan, from_bytes, to_bytes
from tests.proto import corpus
from tests.proto.plans import GENERIC, T, add, col, count_rows, gt, i64, outer, plan_of, table
from tests.support import refused

A, B, S = (col(T, position) for position in range(3))
LEFT = sd.read_named("l", {"k": "i64", "x": "i64?"})
RIGHT = sd.read_named("r", {"k": "i64", "y": "i64?"})


def project(*expressions: ex.Expression) -> r.Rel:
    return r.Project(T, expressions, tuple(f"x{position}" for position in range(len(expressions))))


def over(offset: ex.Expression, counted: Any = "rows") -> r.Rel:
    call = ex.WindowCall(
        ex.FunctionId(GENERIC, "count:"), (), t.I64(), (), ex.Bound("preceding", offset), ex.CURRENT_ROW, counted
    )
    return project(ex.WindowFunction(call, (), (ex.SortKey(A, "asc_nulls_last"),)))


def grouped(keys: tuple[ex.Expression, ...], sets: tuple[tuple[int, ...], ...]) -> r.Rel:
    names = tuple(f"k{position}" for position in range(len(keys)))
    return r.Aggregate(T, keys, sets, (), names + (("set",) if len(sets) > 1 else ()))


def interval(days: int, seconds: int, subseconds: int, precision: int) -> ex.Literal:
    return literal(DaySeconds(days, seconds, subseconds), t.IntervalDay(precision))  # type: ignore[type-var]  # known only now


def rows(*fields: ex.Expression) -> r.Rel:
    schema = NamedStruct(tuple(Field(f"c{position}", each.type) for position, each in enumerate(fields)))
    return r.Read(schema, r.VirtualTable((r.Record(fields), r.Record(fields))))


EXISTS = r.Filter(T, ex.SetPredicate("exists", r.Filter(T, gt(A, outer(1, 0, t.I64())))), anchor=1)

PLANS: dict[str, r.Rel] = {
    "fetch": r.Fetch(T, i64(2), i64(3)),
    "fetch of all": r.Fetch(T),
    "fetch of the most": r.Fetch(T, i64(2**63 - 1)),
    "fetch of NULL": r.Fetch(T, i64(None), i64(None)),
    "fetch of 32 bits": r.Fetch(T, literal(2, t.I32()), literal(0, t.I32())),
    "groups": grouped((S, A), ((0, 1),)),
    "grouping sets": grouped((S, A), ((0,), (0, 1), ())),
    "computed key": grouped((add(A, A),), ((0,),)),
    "all rows": r.Aggregate(T, (), (), (ex.Measure(count_rows()),), ("n",)),
    "virtual table": rows(i64(1), literal("x", t.String(nullable=True)), literal(float("nan"), t.FP64())),
    "empty virtual table": r.Read(T.schema, r.VirtualTable(())),
    "hash join": LEFT.hash_join(RIGHT, "k")._rel,
    "merge join": LEFT.merge_join(RIGHT, "k")._rel,
    "subquery": EXISTS,
    "window of rows": over(i64(2)),
    "window of a range": over(literal(2, t.I64()), "range"),
    "interval": project(interval(1, 2, 345, 3), interval(1, 2, -345, 6), interval(1, 2, 3000, 9), interval(1, 2, 0, 9)),
    "types": r.Read(NamedStruct((Field("p", corpus.POINT),)), r.NamedTable(("p",))),
}


@pytest.mark.parametrize("name", PLANS)
def test_what_is_read_back_is_equal(name: str) -> None:
    plan = plan_of(PLANS[name])
    data = to_bytes(encode_plan(plan, encoding="legacy"))
    again, findings = from_bytes(data)
    assert canonical_plan(again) == canonical_plan(plan)
    assert not findings
    assert to_bytes(encode_plan(again, encoding="legacy")) == data


def equal_or_refused(plan: AlgebraPlan) -> bool:
    try:
        data = to_bytes(encode_plan(plan, encoding="legacy"))
    except UnsupportedError:
        return False
    again, _ = from_bytes(data)
    assert canonical_plan(again) == canonical_plan(plan)
    return True


def test_tpch_is_read_back_as_it_was_written() -> None:
    assert [equal_or_refused(plan) for plan in corpus.tpch()] == [True] * 22


def test_all_that_a_plan_can_say_is_equal_or_refused() -> None:
    assert {equal_or_refused(plan) for plan in corpus.whole()} == {True, False}


def test_json_has_the_legacy_fields() -> None:
    plan = LEFT.limit(3).to_plan()
    text = plan.to_json(encoding="legacy")
    assert '"count": "3"' in text
    assert sd.Plan.from_json(text) == plan


# --- the table of removed fields


def test_every_removed_field_is_written_or_has_its_reason() -> None:
    whole: list[Any] = [encode_plan(plan_of(rel), encoding="legacy") for rel in PLANS.values()]
    whole.append(encode_extended_expression(corpus.extended()[0], encoding="legacy"))
    written = {
        (message.DESCRIPTOR.full_name.removeprefix(PACKAGE), field.name)
        for each in whole
        for message, _ in messages_of(with_known_fields(each))
        for field, _ in message.ListFields()
    }
    removed = {(field.message, field.name): field.unwritten for field in REMOVED_FIELDS}
    assert {name for name, reason in removed.items() if reason is None} == written & removed.keys()
    assert all(reason is None or len(reason) > 20 for reason in removed.values())


def fields(rel: r.Rel) -> Any:
    """The relation of a plan, in a message that knows the legacy fields."""
    return with_known_fields(encode_plan(plan_of(rel), encoding="legacy")).relations[0].root.input


def test_a_fetch_has_numbers() -> None:
    numbers = [(fields(PLANS[name]).fetch.offset, fields(PLANS[name]).fetch.count) for name in list(PLANS)[:5]]
    assert numbers == [(3, 2), (0, 2**63 - 1), (0, 2**63 - 1), (0, 2**63 - 1), (0, 2)]


def test_groupings_have_expressions() -> None:
    aggregate = fields(PLANS["grouping sets"]).aggregate
    said = [
        [each.selection.direct_reference.struct_field.field for each in grouping.grouping_expressions]
        for grouping in aggregate.groupings
    ]
    assert said == [[2], [2, 0], []]


def test_joins_have_keys_of_both_sides() -> None:
    join = fields(PLANS["hash join"]).hash_join
    assert (len(join.left_keys), len(join.right_keys), len(join.keys)) == (1, 1, 1)


def test_extensions_have_uris() -> None:
    said = with_known_fields(encode_plan(plan_of(PLANS["computed key"]), encoding="legacy"))
    assert [(each.extension_uri_anchor, each.uri) for each in said.extension_uris] == [
        (1, "/functions_arithmetic.yaml")
    ]
    assert said.extensions[0].extension_function.extension_uri_reference == 1
    assert uri_of("extension:acme:functions_arithmetic") == "extension:acme:functions_arithmetic"


def test_an_interval_has_microseconds() -> None:
    said = [each.literal.interval_day_to_second.microseconds for each in fields(PLANS["interval"]).project.expressions]
    assert said == [345_000, -345, 3, 0]


def test_outer_rows_are_counted_out_to() -> None:
    (reference,) = [
        message
        for message, _ in messages_of(encode_plan(plan_of(EXISTS), encoding="legacy"))
        if message.DESCRIPTOR.name == "OuterReference"
    ]
    assert text_format.MessageToString(reference) == "steps_out: 1\n"


def test_fields_may_be_left_out() -> None:
    message = encode_plan(plan_of(PLANS["virtual table"]))
    add_legacy_fields(message, omitted=("ReadRel.VirtualTable.values",))
    assert not with_known_fields(message).relations[0].root.input.read.virtual_table.values


# --- what has no legacy form

REFUSED: dict[str, tuple[r.Rel, str]] = {
    "a limit that is computed": (r.Fetch(T, ex.DynamicParameter(t.I64(), 1)), "the count of a fetch"),
    "an offset that is computed": (r.Fetch(T, i64(1), ex.DynamicParameter(t.I64(), 1)), "the offset of a fetch"),
    "keys in another order": (grouped((A, S), ((1,), (0, 1))), "the keys of an aggregate"),
    "a key twice": (grouped((A, A), ((0, 1),)), "the keys of an aggregate"),
    "a row that is computed": (rows(add(i64(1), i64(2))), "a row of a virtual table"),
    "keys compared otherwise": (
        r.HashJoin(T, T, "inner", (r.JoinKey(A, A, "is_not_distinct_from"),)),
        "the keys of a join",
    ),
    "a bound that is no integer": (over(ex.DynamicParameter(t.I64(), 1)), "the offset of a bound"),
    "nanoseconds": (project(interval(0, 0, 1, 9)), "an interval"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_older_readers_would_take_for_something_else_is_refused(name: str) -> None:
    rel, said = REFUSED[name]
    encode_plan(plan_of(rel))
    with refused(UnsupportedError, said, "legacy encoding", "older readers would"):
        encode_plan(plan_of(rel), encoding="legacy")


def test_the_legacy_encoding_has_no_numbers_of_rows() -> None:
    plan = LEFT.to_plan()
    assert plan.to_bytes(encoding="legacy", outer_references="steps_out") == plan.to_bytes(encoding="legacy")
    with refused(InvalidArgumentError, "to_proto", "rel_reference", "steps_out"):
        plan.to_bytes(encoding="legacy", outer_references="rel_reference")
    with refused(InvalidChoiceError, "to_proto", "encoding", '"legacy"'):
        plan.to_bytes(encoding="old")  # type: ignore[arg-type]


# --- both forms in one plan


def both(text: str) -> bytes:
    plan: Any = old_plan_class()()
    plan.version.minor_number = 106
    data: bytes = text_format.Parse(f"relations {{ rel {{ {text} }} }}", plan).SerializeToString()
    return data


VIRTUAL = "read { virtual_table { values { fields { fp64: nan } } expressions { fields { literal { fp64: %s } } } } }"
INTERVAL = "project { expressions { literal { interval_day_to_second { %s } } } }"


@pytest.mark.parametrize(
    ("agreeing", "contradicting"),
    [
        (
            "fetch { count: 2 count_expr { literal { i64: 2 } } }",
            "fetch { count: 2 count_expr { literal { i64: 3 } } }",
        ),
        (
            "fetch { count: -1 count_expr { literal { null { i64 {} } } } }",
            "fetch { count: 1 count_expr { literal { null { i64 {} } } } }",
        ),
        (
            "fetch { offset: 2 offset_expr { literal { i32: 2 } } }",
            "fetch { offset: 0 offset_expr { literal { i32: 2 } } }",
        ),
        (
            "fetch { count: 2 count_expr { literal { i64: 2 } } }",
            "fetch { count: 2 count_expr { dynamic_parameter { type { i64 {} } } } }",
        ),
        (
            VIRTUAL % "nan",
            VIRTUAL % "1",
        ),
        (
            INTERVAL % "seconds: 1 precision: 3 subseconds: 5 microseconds: 5000",
            INTERVAL % "seconds: 1 precision: 3 subseconds: 5 microseconds: 5",
        ),
        (
            INTERVAL % "seconds: 1 precision: 6 subseconds: 7 microseconds: 7",
            INTERVAL % "seconds: 1 subseconds: 7 microseconds: 5",
        ),
    ],
)
def test_both_forms_have_to_agree(agreeing: str, contradicting: str) -> None:
    modern_plan(both(agreeing))
    with refused(PlanFormatError, "must agree, and differ"):
        modern_plan(both(contradicting))


ARITHMETIC = "extension:io.substrait:functions_arithmetic"


def declared(urn: str, uri: str, references: str = "extension_urn_reference: 1 extension_uri_reference: 2") -> bytes:
    """A plan whose one function is of an extension by its URN, and by its URI."""
    plan: Any = text_format.Parse(
        f"""version {{ minor_number: 80 }}
        extension_urns {{ extension_urn_anchor: 1 urn: "{urn}" }}
        extension_uris {{ extension_uri_anchor: 2 uri: "{uri}" }}
        extensions {{ extension_function {{ {references} function_anchor: 5 name: "add:i64_i64" }} }}""",
        old_plan_class()(),
    )
    data: bytes = plan.SerializeToString()
    return data


@pytest.mark.parametrize(
    ("urn", "uri"),
    [
        (ARITHMETIC, "/functions_string.yaml"),
        (
            f"{ARITHMETIC}_decimal",
            "https://github.com/substrait-io/substrait/blob/main/extensions/functions_arithmetic.yaml",
        ),
        ("extension:io.substrait:functions_new", "functions_arithmetic.yaml"),
    ],
)
def test_an_extension_is_not_two_of_the_specification(urn: str, uri: str) -> None:
    data = declared(urn, uri)
    with refused(PlanFormatError, f'"{urn}" by its URN', f'by its URI "{uri}"', "extensions[0].extension_function"):
        modern_plan(data)
    by_uri = modern_plan(declared(urn, uri, "extension_uri_reference: 2"))  # who says one of them means that one
    assert urn_by_which(by_uri) == urn_of(uri)
    assert urn_by_which(modern_plan(declared(urn, uri, "extension_urn_reference: 1"))) == urn


def urn_by_which(plan: Any) -> str:
    """The URN of the extension that the one function of a plan is of."""
    used = plan.extensions[0].extension_function.extension_urn_reference
    (found,) = (each.urn for each in plan.extension_urns if each.extension_urn_anchor == used)
    return str(found)


@pytest.mark.parametrize(
    ("urn", "uri"),
    [
        (ARITHMETIC, "/functions_arithmetic.yaml"),
        (ARITHMETIC, "https://example.com/mirror/of_arithmetic.yaml"),
        ("extension:com.example:functions_arithmetic", "/functions_arithmetic.yaml"),
        ("extension:com.example:sums", "https://example.com/sums.yaml"),
    ],
)
def test_the_urn_is_meant_where_the_uri_may_name_the_same(urn: str, uri: str) -> None:
    (found,) = modern_plan(declared(urn, uri)).extension_urns
    assert found.urn == urn


# --- a second reader

TABLE = [1, 2, 1, 3]

ON_ARROW: dict[str, tuple[r.Rel, list[int]]] = {
    "limit": (r.Fetch(table("t", a=t.I64()), i64(2)), [1, 2]),
    "offset": (r.Fetch(table("t", a=t.I64()), None, i64(3)), [3]),
    "limit and offset": (r.Fetch(table("t", a=t.I64()), i64(2), i64(1)), [2, 1]),
    "no rows": (r.Fetch(table("t", a=t.I64()), i64(0)), []),
    "groups": (
        r.Aggregate(read := table("t", a=t.I64()), (col(read, 0),), ((0,),), (), ("a",)),
        [1, 2, 3],
    ),
}
"""Plans over one column, whose rows arithmetic tells."""

_ARROW = """
import pickle, sys
import pyarrow as pa, pyarrow.substrait as substrait
plans, rows = pickle.load(sys.stdin.buffer)
table = pa.table({"a": pa.array(rows, pa.int64())})
def run(data):
    return substrait.run_query(pa.py_buffer(data), table_provider=lambda names, schema: table, use_threads=False)
sys.stdout.buffer.write(pickle.dumps({name: run(data).read_all()["a"].to_pylist() for name, data in plans.items()}))
"""


def run_on_arrow(plans: dict[str, bytes]) -> dict[str, list[int]]:
    """The rows that Acero gives, in a process of its own: plans of a version that it does not know may end it."""
    done = subprocess.run(
        [sys.executable, "-c", _ARROW], input=pickle.dumps((plans, TABLE)), capture_output=True, timeout=120
    )
    assert done.returncode == 0, done.stderr.decode()
    found: dict[str, list[int]] = pickle.loads(done.stdout)
    return found


def test_arrow_gives_the_rows() -> None:
    """Its reader is of version 0.44: it knows none of the fields that replaced the legacy ones."""
    plans = {name: to_bytes(encode_plan(plan_of(rel), encoding="legacy")) for name, (rel, _) in ON_ARROW.items()}
    assert run_on_arrow(plans) == {name: expected for name, (_, expected) in ON_ARROW.items()}
    spec = {"limit": to_bytes(encode_plan(plan_of(ON_ARROW["limit"][0])))}
    assert run_on_arrow(spec) == {"limit": []}  # what the encoding is for
