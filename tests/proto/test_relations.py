"""Relations as messages, against messages written by hand from algebra.proto."""

from __future__ import annotations

from typing import Any

import pytest
from substrait import algebra_pb2 as pb

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import literal
from substrait_dsl.algebra.extensions import AdvancedExtension, AnyMessage
from substrait_dsl.algebra.properties import SortDirection
from substrait_dsl.algebra.rules import JoinType, SetOp
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import InvalidArgumentError
from tests.proto.plans import T, col, count_rows, encoded, encoded_relation, equal, gt, i64, message, table, total

R = "nullability: NULLABILITY_REQUIRED"
N = "nullability: NULLABILITY_NULLABLE"
DIRECT = "common { direct {} }"
A = "selection { direct_reference { struct_field { field: 0 } } root_reference {} }"
B = "selection { direct_reference { struct_field { field: 1 } } root_reference {} }"
SCHEMA = (
    f'base_schema {{ names: "a" names: "b" names: "s" struct {{ types {{ i64 {{ {R} }} }} types {{ i64 {{ {N} }} }} '
    f"types {{ string {{ {R} }} }} {R} }} }}"
)
READ_T = f'read {{ {DIRECT} {SCHEMA} named_table {{ names: "t" }} }}'
TRUE = literal(True, t.Boolean())

a, b = col(T, 0), col(T, 1)


@pytest.mark.parametrize(
    ("rel", "text"),
    [
        (T, READ_T),
        (
            r.Read(T.schema, r.NamedTable(("catalog", "db", "t"))),
            f'read {{ {DIRECT} {SCHEMA} named_table {{ names: "catalog" names: "db" names: "t" }} }}',
        ),
        (
            r.Read(T.schema, r.NamedTable(("t",)), filter=TRUE, best_effort_filter=literal(False, t.Boolean())),
            f'read {{ {DIRECT} {SCHEMA} named_table {{ names: "t" }} filter {{ literal {{ boolean: true }} }} '
            f"best_effort_filter {{ literal {{ boolean: false }} }} }}",
        ),
        (
            r.Filter(T, TRUE),
            f"filter {{ {DIRECT} input {{ {READ_T} }} condition {{ literal {{ boolean: true }} }} }}",
        ),
        (
            r.Project(T, (b, i64(1)), ("x", "y")),
            f"project {{ {DIRECT} input {{ {READ_T} }} expressions {{ {B} }} expressions {{ literal {{ i64: 1 }} }} }}",
        ),
        (
            r.Fetch(T, count=i64(5), offset=i64(0)),
            f"fetch {{ {DIRECT} input {{ {READ_T} }} offset_expr {{ literal {{ i64: 0 }} }} "
            f"count_expr {{ literal {{ i64: 5 }} }} }}",
        ),
        (r.Fetch(T), f"fetch {{ {DIRECT} input {{ {READ_T} }} }}"),
        (r.Cross(T, T), f"cross {{ {DIRECT} left {{ {READ_T} }} right {{ {READ_T} }} }}"),
    ],
    ids=["read", "qualified", "filters", "filter", "project", "fetch", "fetch all", "cross"],
)
def test_relations_have_the_message_of_algebra_proto(rel: r.Rel, text: str) -> None:
    assert encoded_relation(rel) == message(pb.Rel, text)


# --- emit


def test_an_emit_is_written_into_its_input() -> None:
    read = READ_T.replace("direct {}", "emit { output_mapping: 2 output_mapping: 0 output_mapping: 2 }")
    assert encoded_relation(r.Emit(T, (2, 0, 2))) == message(pb.Rel, read)
    sent = encoded_relation(r.Filter(r.Emit(T, (2, 0, 2)), TRUE))
    assert sent.filter.common == message(pb.RelCommon, "direct {}")
    assert sent.filter.input == message(pb.Rel, read)


@pytest.mark.parametrize("mapping", [(2, 0, 1), (1, 2, 0), (0, 2, 1), (1, 1, 0)])
def test_an_emit_is_written_in_its_order(mapping: tuple[int, ...]) -> None:
    """Each of these mappings is another one when it is reversed or sorted."""
    assert list(encoded_relation(r.Emit(T, mapping)).read.common.emit.output_mapping) == list(mapping)


def test_an_emit_of_no_columns_is_not_direct() -> None:
    common = encoded_relation(r.Emit(T, ())).read.common
    assert common.WhichOneof("emit_kind") == "emit"
    assert not common.emit.output_mapping


def test_names_given_on_the_way_are_the_names_of_the_root() -> None:
    root = encoded(r.Emit(T, (1, 0), ("x", "y"))).relations[0].root
    assert list(root.names) == ["x", "y"]
    assert list(root.input.read.base_schema.names) == ["a", "b", "s"]


# --- reads


def test_a_virtual_table_has_expressions() -> None:
    rows = tuple(r.Record((i64(n), literal(None, t.String(nullable=True)))) for n in (1, 2))
    sent = encoded_relation(r.Read(NamedStruct.of({"x": t.I64(), "y": t.String(nullable=True)}), r.VirtualTable(rows)))
    assert sent.read.virtual_table == message(
        pb.ReadRel.VirtualTable,
        f"expressions {{ fields {{ literal {{ i64: 1 }} }} fields {{ literal {{ null {{ string {{ {N} }} }} }} }} }}"
        f"expressions {{ fields {{ literal {{ i64: 2 }} }} fields {{ literal {{ null {{ string {{ {N} }} }} }} }} }}",
    )


def test_a_virtual_table_may_be_empty() -> None:
    sent = encoded_relation(r.Read(NamedStruct.of({"x": t.I64()}), r.VirtualTable(())))
    assert sent.read.WhichOneof("read_type") == "virtual_table"


@pytest.mark.parametrize(
    ("item", "text"),
    [
        (r.FileItem("file:///d/x", r.Parquet()), 'uri_path: "file:///d/x" parquet {}'),
        (r.FileItem("file:///d/*", r.Arrow(), "glob"), 'uri_path_glob: "file:///d/*" arrow {}'),
        (r.FileItem("file:///d/x.orc", r.Orc(), "file"), 'uri_file: "file:///d/x.orc" orc {}'),
        (r.FileItem("file:///d", r.Dwrf(), "folder"), 'uri_folder: "file:///d" dwrf {}'),
        (
            r.FileItem("x", r.Parquet(), "file", partition_index=1, start=2, length=3),
            'uri_file: "x" partition_index: 1 start: 2 length: 3 parquet {}',
        ),
        (
            r.FileItem("x", r.DelimitedText("|", "'", "^", 1, 99, "")),
            'uri_path: "x" text { field_delimiter: "|" quote: "\'" escape: "^" header_lines_to_skip: 1 '
            'max_line_size: 99 value_treated_as_null: "" }',
        ),
        (
            r.FileItem("x", r.DelimitedText()),
            r'uri_path: "x" text { field_delimiter: "," quote: "\"" escape: "\"" }',
        ),
    ],
    ids=["parquet", "arrow", "orc", "dwrf", "range", "text", "plain text"],
)
def test_files(item: r.FileItem, text: str) -> None:
    sent = encoded_relation(r.Read(NamedStruct.of({"x": t.String()}), r.LocalFiles((item, item))))
    assert list(sent.read.local_files.items) == [message(pb.ReadRel.LocalFiles.FileOrFiles, text)] * 2


def test_how_text_is_read_stands_beside_the_files() -> None:
    """What changes no row is an optimization, what changes rows is an enhancement; by default there is neither."""
    item, schema = r.FileItem("x", r.DelimitedText(header_lines_to_skip=1)), NamedStruct.of({"x": t.String()})

    def sent(reading: r.TextReading, extension: AdvancedExtension | None = None) -> Any:
        return encoded_relation(r.Read(schema, r.LocalFiles((item,), extension, reading))).read.local_files

    assert not sent(r.TextReading()).HasField("advanced_extension")
    skipping = sent(r.TextReading(header="skip")).advanced_extension
    assert [packed.type_url for packed in skipping.optimization] == ["type.googleapis.com/google.protobuf.Struct"]
    assert not skipping.HasField("enhancement")
    for changed in (r.TextReading(line_breaks="in_quotes"), r.TextReading(encoding="utf-16")):
        assert sent(changed).advanced_extension.HasField("enhancement")
    other = AdvancedExtension(enhancement=AnyMessage("type.acme.com/Other"))
    with pytest.raises(InvalidArgumentError, match="one enhancement"):
        sent(r.TextReading(encoding="utf-16"), other)
    assert sent(r.TextReading(header="skip"), other).advanced_extension.enhancement.type_url == "type.acme.com/Other"


def test_a_projection_is_a_mask_that_unwraps_nothing() -> None:
    schema = NamedStruct.of({"a": t.I64(), "p": t.Struct.of({"x": t.I8(), "y": t.I8()})})
    mask = ex.StructMask((ex.MaskItem(1, ex.StructMask((ex.MaskItem(1),))), ex.MaskItem(0)))
    sent = encoded_relation(r.Read(schema, r.NamedTable(("t",)), projection=mask)).read.projection
    assert sent == message(
        pb.Expression.MaskExpression,
        "select { struct_items { field: 1 child { struct { struct_items { field: 1 } } } } struct_items { field: 0 } } "
        "maintain_singular_struct: true",
    )


# --- sorts, sets, joins: the numbers of the enumerations as algebra.proto has them


@pytest.mark.parametrize(
    ("direction", "number"),
    [("asc_nulls_first", 1), ("asc_nulls_last", 2), ("desc_nulls_first", 3), ("desc_nulls_last", 4), ("clustered", 5)],
)
def test_sort_directions(direction: SortDirection, number: int) -> None:
    sent = encoded_relation(r.Sort(T, (ex.SortKey(b, direction), ex.SortKey(a, "asc_nulls_last"))))
    assert [(key.expr, key.direction) for key in sent.sort.sorts] == [
        (message(pb.Expression, B), number),
        (message(pb.Expression, A), 2),
    ]


@pytest.mark.parametrize(
    ("op", "number"),
    [
        ("minus_primary", 1),
        ("minus_primary_all", 7),
        ("minus_multiset", 2),
        ("intersection_primary", 3),
        ("intersection_multiset", 4),
        ("intersection_multiset_all", 8),
        ("union_distinct", 5),
        ("union_all", 6),
    ],
)
def test_set_operations(op: SetOp, number: int) -> None:
    other = table("u", a=t.I64(), b=t.I64(nullable=True), s=t.String())
    sent = encoded_relation(r.Set((T, other, T), op)).set
    assert sent.op == number
    assert [rel.read.named_table.names[0] for rel in sent.inputs] == ["t", "u", "t"]


@pytest.mark.parametrize(
    ("how", "number"),
    [
        ("inner", 1),
        ("outer", 2),
        ("left", 3),
        ("right", 4),
        ("left_semi", 5),
        ("left_anti", 6),
        ("left_single", 7),
        ("right_semi", 8),
        ("right_anti", 9),
        ("right_single", 10),
        ("left_mark", 11),
        ("right_mark", 12),
    ],
)
def test_join_types(how: JoinType, number: int) -> None:
    right = table("u", k=t.I64())
    condition = equal(col(T, 0), ex.FieldReference(3, t.I64()))
    sent = encoded_relation(r.Join(T, right, how, condition, post_filter=TRUE)).join
    assert sent.type == number
    assert sent.left.read.named_table.names[0] == "t"
    assert sent.right.read.named_table.names[0] == "u"
    assert sent.expression.scalar_function.arguments[1].value.selection.direct_reference.struct_field.field == 3
    assert sent.post_join_filter == message(pb.Expression, "literal { boolean: true }")


# --- aggregates


def test_a_grouped_aggregate() -> None:
    filtered = ex.Measure(total(a), gt(a, i64(0)))
    rel = r.Aggregate(
        T, (b, col(T, 2)), ((0, 1), (1,), ()), (ex.Measure(count_rows()), filtered), ("b", "s", "n", "t", "g")
    )
    sent = encoded_relation(rel).aggregate
    assert sent.input == encoded_relation(T)
    assert [list(grouping.expression_references) for grouping in sent.groupings] == [[0, 1], [1], []]
    assert sent.grouping_expressions[0] == message(pb.Expression, B)
    assert sent.measures[0] == message(
        pb.AggregateRel.Measure,
        f"measure {{ function_reference: 1 output_type {{ i64 {{ {R} }} }} "
        f"phase: AGGREGATION_PHASE_INITIAL_TO_RESULT invocation: AGGREGATION_INVOCATION_ALL }}",
    )
    assert sent.measures[1].filter.scalar_function.output_type.bool.nullability == 2
    assert sent.measures[1].measure.arguments[0].value == message(pb.Expression, A)


def test_an_aggregate_over_all_rows_has_no_groupings() -> None:
    sent = encoded_relation(r.Aggregate(T, (), (), (ex.Measure(count_rows()),), ("n",))).aggregate
    assert not sent.groupings
    assert not sent.grouping_expressions


def test_a_distinct_sorted_measure() -> None:
    function = ex.AggregateFunction(
        ex.FunctionId("extension:a:b", "f:str"),
        (col(T, 2),),
        t.String(),
        (ex.FunctionOption("null_handling", ("IGNORE_NULLS",)),),
        (ex.SortKey(b, "desc_nulls_last"),),
        "distinct",
        "initial_to_intermediate",
    )
    sent = encoded_relation(r.Aggregate(T, (), (), (ex.Measure(function),), ("n",))).aggregate.measures[0].measure
    assert (sent.invocation, sent.phase) == (2, 1)
    assert sent.sorts[0] == message(pb.SortField, f"expr {{ {B} }} direction: SORT_DIRECTION_DESC_NULLS_LAST")
    assert sent.options[0] == message(pb.FunctionOption, 'name: "null_handling" preference: "IGNORE_NULLS"')
