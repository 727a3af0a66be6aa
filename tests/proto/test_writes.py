"""Writes, updates and data definitions as messages written by hand from algebra.proto, and back."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf.struct_pb2 import Struct
from substrait import algebra_pb2 as pb

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import literal
from substrait_dsl.algebra.extensions import AdvancedExtension, AnyMessage
from substrait_dsl.errors import PlanFormatError
from substrait_dsl.proto.plan import decode_plan
from substrait_dsl.proto.private_extensions import message_of
from tests.proto.plans import T, bare, col, encoded, encoded_relation, equal, gt, i64, message, outer, table
from tests.proto.reading import Change, changed, found, refused_at, rel_comes_back, root

DETAIL = AnyMessage("acme/Table", b"\1")
DETAIL_TEXT = 'detail { type_url: "acme/Table" value: "\\001" }'
EXTENSION = AdvancedExtension((DETAIL,))
EXTENSION_TEXT = 'advanced_extension { optimization { type_url: "acme/Table" value: "\\001" } }'
DIRECT = "common { direct {} }"
R = "nullability: NULLABILITY_REQUIRED"
N = "nullability: NULLABILITY_NULLABLE"
SCHEMA = (
    f'table_schema {{ names: "a" names: "b" names: "s" struct {{ types {{ i64 {{ {R} }} }} types {{ i64 {{ {N} }} }} '
    f"types {{ string {{ {R} }} }} {R} }} }}"
)
TABLE = r.NamedObject(("db", "x"))
INSERT = r.Write(T, TABLE, T.schema, "insert")
CTAS = r.Write(T, TABLE, T.schema, "ctas", create_mode="replace_if_exists")
TRUE = literal(True, t.Boolean())
UPDATE = r.Update(r.NamedTable(("x",)), T.schema, gt(col(T, 0), i64(1)), (r.Transformation(1, col(T, 0)),))
DEFAULTS = (i64(1), i64(None), literal("x", t.String()))
CREATE = r.Ddl(TABLE, "table", "create", T.schema, DEFAULTS)
VIEW = r.Ddl(TABLE, "view", "create_or_replace", T.schema, view_definition=T)
DROP = r.Ddl(TABLE, "table", "drop")


# --- writes


@pytest.mark.parametrize(("op", "number"), [("insert", 1), ("delete", 2), ("update", 3)])
@pytest.mark.parametrize(("output", "output_number"), [("no_output", 1), ("modified_records", 2)])
def test_a_write_always_says_schema_and_output(
    op: r.WriteOp, number: int, output: r.OutputMode, output_number: int
) -> None:
    rel = r.Write(T, r.NamedObject(("db", "x"), EXTENSION), T.schema, op, output)
    assert bare(rel) == message(
        pb.WriteRel,
        f'{DIRECT} named_table {{ names: "db" names: "x" {EXTENSION_TEXT} }} {SCHEMA} op: {number} '
        f"output: {output_number}",
    )
    rel_comes_back(rel)
    assert list(encoded(rel).relations[0].root.names) == (["a", "b", "s"] if output == "modified_records" else [])


@pytest.mark.parametrize(
    ("mode", "number"),
    [("append_if_exists", 1), ("replace_if_exists", 2), ("ignore_if_exists", 3), ("error_if_exists", 4)],
)
def test_a_ctas_says_its_create_mode(mode: r.CreateMode, number: int) -> None:
    rel = r.Write(T, TABLE, T.schema, "ctas", create_mode=mode)
    sent: Any = bare(rel)
    assert (sent.op, sent.create_mode) == (4, number)
    rel_comes_back(rel)


def test_a_write_to_a_table_of_others() -> None:
    rel = r.Write(T, r.ExtensionObject(DETAIL), T.schema, "insert")
    assert bare(rel) == message(pb.WriteRel, f"{DIRECT} extension_table {{ {DETAIL_TEXT} }} {SCHEMA} op: 1 output: 1")
    rel_comes_back(rel)


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (r.VirtualTarget("x"), {"write_target": "virtual_table", "name": "x", "pin": False}),
        (r.VirtualTarget("x", pin=True), {"write_target": "virtual_table", "name": "x", "pin": True}),
        (
            r.FilesTarget("file:///x", r.Parquet()),
            {"write_target": "files", "file": {"uri_path": "file:///x", "parquet": {}}},
        ),
        (
            r.FilesTarget("x", r.DelimitedText(max_line_size=2**63 + 1, null_value="")),
            {
                "write_target": "files",
                "file": {
                    "uri_path": "x",
                    "text": {
                        "field_delimiter": ",",
                        "quote": '"',
                        "escape": '"',
                        "max_line_size": str(2**63 + 1),
                        "value_treated_as_null": "",
                    },
                },
            },
        ),
        (
            r.FilesTarget("x", r.Orc(), ("b",)),
            {"write_target": "files", "file": {"uri_path": "x", "orc": {}}, "partition_columns": ["b"]},
        ),
        (
            r.FilesTarget("x", r.ExtensionFormat(DETAIL)),
            {
                "write_target": "files",
                "file": {"uri_path": "x", "extension": {"type_url": "acme/Table", "value": "AQ=="}},
            },
        ),
    ],
    ids=["virtual", "pinned", "parquet", "text", "folders", "foreign"],
)
def test_targets_without_a_message_are_a_message_of_ours(target: r.WriteTarget, said: dict[str, Any]) -> None:
    is_text = isinstance(target, r.FilesTarget) and isinstance(target.format, r.DelimitedText)
    rows = table("t", a=t.String(), b=t.String(nullable=True)) if is_text else T
    rel = r.Write(rows, target, rows.schema, "insert")
    ours, wanted = Struct(), Struct()
    assert encoded_relation(rel).write.extension_table.detail.Unpack(ours)
    wanted.update({"substrait_dsl": said})
    assert ours == wanted
    rel_comes_back(rel)


def test_what_a_write_does_not_say() -> None:
    assert found(INSERT, lambda s: s.write.ClearField("output"), "no_output", path="write") == INSERT
    assert found(INSERT, lambda s: s.write.ClearField("table_schema"), "its input", path="write") == INSERT
    assert found(INSERT, lambda s: setattr(s.write, "create_mode", 1), "no meaning", path="write") == INSERT
    got = found(CTAS, lambda s: s.write.ClearField("create_mode"), "error_if_exists", path="write")
    assert got == r.Write(T, TABLE, T.schema, "ctas", create_mode="error_if_exists")


# --- updates


def test_an_update_has_the_table_the_condition_and_the_columns() -> None:
    a = "selection { direct_reference { struct_field { field: 0 } } root_reference {} }"
    sent = encoded_relation(UPDATE).update
    assert sent.condition.WhichOneof("rex_type") == "scalar_function"
    sent.ClearField("condition")
    assert sent == message(
        pb.UpdateRel,
        f'{DIRECT} named_table {{ names: "x" }} {SCHEMA} '
        f"transformations {{ transformation {{ {a} }} column_target: 1 }}",
    )
    rel_comes_back(UPDATE)


def test_a_subquery_in_an_update_sees_the_row_of_the_table() -> None:
    u = table("u", k=t.I64())
    condition = ex.SetPredicate("exists", r.Filter(u, equal(col(u, 0), outer(1, 0, t.I64()))))
    rel = r.Update(r.NamedTable(("x",)), T.schema, condition, (r.Transformation(0, i64(1)),), anchor=1)
    assert encoded_relation(rel).update.common.rel_anchor == 1
    rel_comes_back(rel)


# --- data definition


@pytest.mark.parametrize(
    ("op", "number"), [("create", 1), ("create_or_replace", 2), ("alter", 3), ("drop", 4), ("drop_if_exist", 5)]
)
@pytest.mark.parametrize(("kind", "kind_number"), [("table", 1), ("view", 2)])
def test_data_definitions_have_numbers(op: r.DdlOp, number: int, kind: r.DdlObject, kind_number: int) -> None:
    schema = None if op in r.DROPS else T.schema
    rel = r.Ddl(TABLE, kind, op, schema, view_definition=T if schema is not None and kind == "view" else None)
    sent = encoded_relation(rel).ddl
    assert (sent.op, sent.object) == (number, kind_number)
    assert sent.HasField("table_schema") is sent.HasField("view_definition") or kind == "table"
    rel_comes_back(rel)
    assert not encoded(rel).relations[0].root.names


def test_a_table_is_created_with_schema_and_defaults() -> None:
    assert encoded_relation(CREATE).ddl == message(
        pb.DdlRel,
        f'{DIRECT} named_object {{ names: "db" names: "x" }} {SCHEMA} object: DDL_OBJECT_TABLE op: DDL_OP_CREATE '
        f"table_defaults {{ fields {{ i64: 1 }} fields {{ null {{ i64 {{ {N} }} }} }} "
        'fields { string: "x" } }',
    )
    rel_comes_back(CREATE)


def test_a_view_has_a_definition() -> None:
    sent = encoded_relation(VIEW).ddl
    assert sent.view_definition == encoded_relation(T)
    rel_comes_back(VIEW)
    rel_comes_back(r.Ddl(r.ExtensionObject(DETAIL), "view", "drop_if_exist"))


def test_the_schema_of_what_is_dropped_has_no_meaning() -> None:
    schema = encoded_relation(CREATE).ddl.table_schema
    change: Change = lambda sent: sent.ddl.table_schema.CopyFrom(schema)  # noqa: E731  # as short as the others
    assert found(DROP, change, "takes no schema", path="ddl") == DROP


# --- what is refused


def ours(said: dict[str, Any]) -> Change:
    """A change of the message of ours that a write holds."""
    return lambda sent: setattr(sent.write.extension_table.detail, "value", message_of(said).value)


VIRTUAL = r.Write(T, r.VirtualTarget("x"), T.schema, "insert")
FILES = {"uri_path": "x", "parquet": {}}


@pytest.mark.parametrize(
    ("rel", "change", "path", "said"),
    [
        (INSERT, lambda s: s.write.ClearField("op"), "", "WRITE_OP_UNSPECIFIED"),
        (INSERT, lambda s: s.write.ClearField("named_table"), "", "what it changes"),
        (INSERT, lambda s: s.write.ClearField("input"), "write.input", "is missing"),
        (INSERT, lambda s: setattr(s.write, "output", 9), "", "output is 9"),
        (CTAS, lambda s: setattr(s.write, "create_mode", 9), "", "create_mode is 9"),
        (INSERT, lambda s: s.write.table_schema.names.pop(), "write.table_schema", "2 names"),
        (VIRTUAL, ours({"write_target": "virtual_table"}), "", "cannot be understood"),
        (VIRTUAL, ours({"write_target": "files", "file": {}}), "", "must set its path"),
        (VIRTUAL, ours({"write_target": "files", "file": {"uri_path": 1}}), "", "cannot be understood"),
        (VIRTUAL, ours({"write_target": "files", "file": {**FILES, "start": "1"}}), "", "no part of a file"),
        (VIRTUAL, ours({"write_target": "files", "file": {**FILES, "extension": 1}}), "", "cannot be understood"),
        (VIRTUAL, ours({"write_target": "files", "file": FILES, "partition_columns": "b"}), "", "a list of names"),
        (VIRTUAL, ours({"write_target": "files", "file": FILES, "partition_columns": [1]}), "", "column names"),
        (VIRTUAL, ours({"write_target": "files", "file": FILES, "partition_columns": ["z"]}), "", 'no column "z"'),
        (VIRTUAL, ours({"write_target": "files", "file": FILES, "buckets": 4}), "", "cannot be understood"),
        (UPDATE, lambda s: s.update.ClearField("named_table"), "", "what it changes"),
        (UPDATE, lambda s: s.update.ClearField("condition"), "update.condition", "has no condition"),
        (UPDATE, lambda s: setattr(s.update.transformations[0], "column_target", 3), "", "no column 3"),
        (UPDATE, lambda s: setattr(s.update.transformations[0], "column_target", 2), "", '"s" of the table is string'),
        (CREATE, lambda s: s.ddl.ClearField("object"), "", "DDL_OBJECT_UNSPECIFIED"),
        (CREATE, lambda s: s.ddl.ClearField("op"), "", "DDL_OP_UNSPECIFIED"),
        (CREATE, lambda s: s.ddl.ClearField("named_object"), "", "what it changes"),
        (CREATE, lambda s: s.ddl.ClearField("table_schema"), "", "needs a schema"),
        (CREATE, lambda s: s.ddl.table_defaults.fields.pop(), "", "2 defaults"),
        (VIEW, lambda s: s.ddl.ClearField("view_definition"), "", "view definition"),
    ],
)
def test_what_cannot_be_is_refused_with_its_path(rel: r.Rel, change: Change, path: str, said: str) -> None:
    with refused_at(path, PlanFormatError, said):
        decode_plan(changed(rel, change))


def test_a_plan_of_a_write_has_no_columns() -> None:
    got, findings = root(encoded(INSERT))
    assert (len(got.schema), findings) == (0, [])
