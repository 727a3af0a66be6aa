"""Relations as messages of ``algebra.proto``.

Specification: https://substrait.io/relations/logical_relations/. What every relation has in common, `RelCommon`, is
written in one place, `encode_common`.
"""

from __future__ import annotations

from typing import assert_never

from substrait import algebra_pb2 as pb

from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.relations import (
    Aggregate,
    Arrow,
    Cross,
    DelimitedText,
    Dwrf,
    Emit,
    Fetch,
    FileItem,
    Filter,
    Join,
    LocalFiles,
    NamedTable,
    Orc,
    Parquet,
    PathKind,
    Project,
    Read,
    Set,
    Sort,
    StructMask,
    VirtualTable,
    closed,
)
from substrait_dsl.proto.encoder import Encoder, common_of
from substrait_dsl.proto.enums import JOIN_TYPE, SET_OP
from substrait_dsl.proto.expressions import encode_expression, encode_measure, encode_sort_key
from substrait_dsl.proto.types import encode_named_struct


def encode_relation(encoder: Encoder, rel: Rel, message: pb.Rel) -> None:
    """Write a relation, or a reference to one that stands apart."""
    ordinal = encoder.layout.ordinals.get(id(rel))
    if ordinal is None:
        encode_whole_relation(encoder, rel, message)
    else:
        message.reference.subtree_ordinal = ordinal


def encode_whole_relation(encoder: Encoder, rel: Rel, message: pb.Rel, mapping: tuple[int, ...] | None = None) -> None:
    """Write a relation, also one that stands apart, with the mapping of the emit that stands on it."""
    known = closed(rel)
    encoder.enter(rel, message)
    match known:
        case Emit():
            encode_whole_relation(encoder, known.input, message, known.mapping)
            return
        case Read():
            encode_read(encoder, known, message.read)
        case Filter():
            encode_filter(encoder, known, message.filter)
        case Project():
            encode_project(encoder, known, message.project)
        case Sort():
            encode_sort(encoder, known, message.sort)
        case Fetch():
            encode_fetch(encoder, known, message.fetch)
        case Aggregate():
            encode_aggregate(encoder, known, message.aggregate)
        case Join():
            encode_join(encoder, known, message.join)
        case Cross():
            encode_cross(encoder, known, message.cross)
        case Set():
            encode_set(encoder, known, message.set)
        case _:
            assert_never(known)
    encode_common(mapping, common_of(message))
    encoder.leave(rel, message)


def encode_common(mapping: tuple[int, ...] | None, message: pb.RelCommon) -> None:
    """Write what all relations have: which columns they emit."""
    if mapping is None:
        message.direct.SetInParent()
    else:
        message.emit.SetInParent()  # an emit of no columns is not the same as no emit
        message.emit.output_mapping.extend(mapping)


# --- reads


def encode_read(encoder: Encoder, rel: Read, message: pb.ReadRel) -> None:
    """Write a read."""
    encode_named_struct(encoder.declarations, rel.base_schema, message.base_schema)
    match rel.definition:
        case NamedTable(names):
            message.named_table.names.extend(names)
        case VirtualTable():
            encode_virtual_table(encoder, rel.definition, message.virtual_table)
        case LocalFiles(items):
            for item in items:
                encode_file_item(item, message.local_files.items.add())
        case _:
            assert_never(rel.definition)
    if rel.filter is not None:
        encode_expression(encoder, rel.filter, message.filter)
    if rel.best_effort_filter is not None:
        encode_expression(encoder, rel.best_effort_filter, message.best_effort_filter)
    if rel.projection is not None:
        encode_struct_mask(rel.projection, message.projection.select)
        message.projection.maintain_singular_struct = True  # reading 25


def encode_virtual_table(encoder: Encoder, table: VirtualTable, message: pb.ReadRel.VirtualTable) -> None:
    """Write the rows of a virtual table, perhaps none."""
    message.SetInParent()
    for row in table.rows:
        fields = message.expressions.add().fields
        for value in row.fields:
            encode_expression(encoder, value, fields.add())


PATH_FIELDS: dict[PathKind, str] = {
    "path": "uri_path",
    "glob": "uri_path_glob",
    "file": "uri_file",
    "folder": "uri_folder",
}


def encode_file_item(item: FileItem, message: pb.ReadRel.LocalFiles.FileOrFiles) -> None:
    """Write one path of a read of files."""
    setattr(message, PATH_FIELDS[item.kind], item.uri)
    message.partition_index = item.partition_index
    message.start = item.start
    message.length = item.length
    match item.format:
        case Parquet():
            message.parquet.SetInParent()
        case Arrow():
            message.arrow.SetInParent()
        case Orc():
            message.orc.SetInParent()
        case Dwrf():
            message.dwrf.SetInParent()
        case DelimitedText():
            encode_delimited_text(item.format, message.text)
        case _:
            assert_never(item.format)


def encode_delimited_text(
    text: DelimitedText, message: pb.ReadRel.LocalFiles.FileOrFiles.DelimiterSeparatedTextReadOptions
) -> None:
    """Write how to read text files."""
    message.field_delimiter = text.field_delimiter
    message.quote = text.quote
    message.escape = text.escape
    message.header_lines_to_skip = text.header_lines_to_skip
    message.max_line_size = text.max_line_size
    if text.null_value is not None:
        message.value_treated_as_null = text.null_value


def encode_struct_mask(mask: StructMask, message: pb.Expression.MaskExpression.StructSelect) -> None:
    """Write which fields of a struct to read, perhaps none."""
    message.SetInParent()
    for item in mask.items:
        select = message.struct_items.add()
        select.field = item.position
        if item.child is not None:
            encode_struct_mask(item.child, select.child.struct)


# --- one input


def encode_filter(encoder: Encoder, rel: Filter, message: pb.FilterRel) -> None:
    """Write a filter."""
    encode_relation(encoder, rel.input, message.input)
    encode_expression(encoder, rel.condition, message.condition)


def encode_project(encoder: Encoder, rel: Project, message: pb.ProjectRel) -> None:
    """Write a project."""
    encode_relation(encoder, rel.input, message.input)
    for expression in rel.expressions:
        encode_expression(encoder, expression, message.expressions.add())


def encode_sort(encoder: Encoder, rel: Sort, message: pb.SortRel) -> None:
    """Write a sort."""
    encode_relation(encoder, rel.input, message.input)
    for key in rel.keys:
        encode_sort_key(encoder, key, message.sorts.add())


def encode_fetch(encoder: Encoder, rel: Fetch, message: pb.FetchRel) -> None:
    """Write a fetch; no count is all rows, no offset is 0."""
    encode_relation(encoder, rel.input, message.input)
    if rel.offset is not None:
        encode_expression(encoder, rel.offset, message.offset_expr)
    if rel.count is not None:
        encode_expression(encoder, rel.count, message.count_expr)


def encode_aggregate(encoder: Encoder, rel: Aggregate, message: pb.AggregateRel) -> None:
    """Write an aggregate; one over all rows has no groupings."""
    encode_relation(encoder, rel.input, message.input)
    for key in rel.keys:
        encode_expression(encoder, key, message.grouping_expressions.add())
    for grouping_set in rel.grouping_sets:
        message.groupings.add().expression_references.extend(grouping_set)
    for measure in rel.measures:
        encode_measure(encoder, measure, message.measures.add())


# --- several inputs


def encode_join(encoder: Encoder, rel: Join, message: pb.JoinRel) -> None:
    """Write a join."""
    encode_relation(encoder, rel.left, message.left)
    encode_relation(encoder, rel.right, message.right)
    message.type = JOIN_TYPE[rel.how]
    encode_expression(encoder, rel.condition, message.expression)
    if rel.post_filter is not None:
        encode_expression(encoder, rel.post_filter, message.post_join_filter)


def encode_cross(encoder: Encoder, rel: Cross, message: pb.CrossRel) -> None:
    """Write a cross product."""
    encode_relation(encoder, rel.left, message.left)
    encode_relation(encoder, rel.right, message.right)


def encode_set(encoder: Encoder, rel: Set, message: pb.SetRel) -> None:
    """Write a set operation, the primary input first."""
    message.op = SET_OP[rel.op]
    for relation in rel.relations:
        encode_relation(encoder, relation, message.inputs.add())
