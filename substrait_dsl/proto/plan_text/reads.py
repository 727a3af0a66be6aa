"""Reads: ``Read[shop.orders => id:i64, price:fp64?]``, ``Read:Virtual[(1, 'a'), (2, 'b') => id:i64, name:string]``."""

from __future__ import annotations

from collections.abc import Sequence

from substrait import algebra_pb2 as pb
from substrait import type_pb2

from substrait_dsl.proto.plan_text.context import TextReader, TextWriter
from substrait_dsl.proto.plan_text.emits import Head, read_columns, set_mapping
from substrait_dsl.proto.plan_text.expressions import read_argument_name, read_expression, write_expression
from substrait_dsl.proto.plan_text.names import read_name, write_name
from substrait_dsl.proto.plan_text.scanner import Scanner
from substrait_dsl.proto.plan_text.types import read_type, write_next_name, write_type

ROWS_IN_LINES = 3
"""The number of rows from which on each stands in a line of its own."""


def write_read(writer: TextWriter, body: pb.ReadRel, widths: Sequence[int]) -> Head:
    """Write a read of a table, or of rows in the plan."""
    kind = body.WhichOneof("read_type")
    if kind == "virtual_table":
        return _write_virtual_table(writer, body)
    if kind != "named_table":
        raise writer.refuse(f"reads of kind {kind}", body)
    writer.require_only(body, ("common", "base_schema", "named_table"), "a read of a named table")
    writer.require_only(body.named_table, ("names",), "a named table")
    if not body.named_table.names:
        raise writer.refuse("a table without a name", body)
    columns = _write_schema(writer, body.base_schema)
    table = ".".join(map(write_name, body.named_table.names))
    return Head("Read", table, columns, len(columns), emit="appended")


def _write_virtual_table(writer: TextWriter, body: pb.ReadRel) -> Head:
    writer.require_only(body, ("common", "base_schema", "virtual_table", "filter"), "a read of a virtual table")
    rows = [
        f"({', '.join(write_expression(writer, each) for each in row.fields)})"
        for row in body.virtual_table.expressions
    ]
    has_lines = len(rows) >= ROWS_IN_LINES
    rows = rows or ["_"]
    if body.HasField("filter"):
        rows.append(f"filter={write_expression(writer, body.filter)}")
    columns = _write_schema(writer, body.base_schema)
    return Head("Read:Virtual", ", ".join(rows), columns, len(columns), emit="all", rows=rows if has_lines else ())


def _write_schema(writer: TextWriter, message: type_pb2.NamedStruct) -> list[str]:
    """Write the columns of a read, each with its name and its type."""
    if message.struct.nullability != type_pb2.Type.NULLABILITY_REQUIRED or message.struct.type_variation_reference:
        raise writer.refuse("a row that is nullable, or of a type variation", message)
    names = iter(message.names)
    columns = [
        f"{write_next_name(writer, names, type_)}:{write_type(writer, type_, names)}" for type_ in message.struct.types
    ]
    if next(names, None) is not None:
        raise writer.refuse("more names than columns and fields of structs, in a read", message)
    return columns


def read_read(reader: TextReader, scanner: Scanner, body: pb.ReadRel) -> int:
    """Read a read of a table; returns the number of columns that it puts out."""
    names = [read_name(scanner, "the name of a table")]
    while scanner.take("."):
        names.append(read_name(scanner, "a name"))
    body.named_table.names.extend(names)
    is_explicit = scanner.take("+>")
    if not is_explicit:
        scanner.expect("=>")
    width = _read_schema(reader, scanner, body.base_schema, "|>" if is_explicit else "]")
    if is_explicit and scanner.take("|>"):
        body.common.emit.SetInParent()
        body.common.emit.output_mapping.extend(read_columns(scanner, "]", width))
        return len(body.common.emit.output_mapping)
    return set_mapping(body.common, range(width), width)


def read_virtual_table(reader: TextReader, scanner: Scanner, body: pb.ReadRel) -> int:
    """Read rows in the plan, which may stand in lines of their own; returns the number of columns."""
    body.virtual_table.SetInParent()
    scanner.skip_break()
    is_first = has_rows = True
    while is_first or scanner.take(","):
        scanner.skip_break()
        if has_rows and scanner.take("("):
            row = body.virtual_table.expressions.add()
            for _ in scanner.items(")"):
                read_expression(reader, scanner, row.fields.add())
            scanner.expect(")")
        elif is_first and scanner.take("_"):
            has_rows = False
        else:
            read_argument_name(scanner, ("filter",))
            read_expression(reader, scanner, body.filter)
            break
        is_first = False
    scanner.skip_break()
    scanner.expect("=>")
    width = _read_schema(reader, scanner, body.base_schema, "]")
    return set_mapping(body.common, range(width), width)


def _read_schema(reader: TextReader, scanner: Scanner, message: type_pb2.NamedStruct, closing: str) -> int:
    """Read columns with their names and types; returns their number."""
    message.struct.nullability = type_pb2.Type.NULLABILITY_REQUIRED
    if scanner.sees("]"):
        return 0
    for _ in scanner.items(closing):
        message.names.append(read_name(scanner, "the name of a column"))
        scanner.expect(":")
        inside: list[str] = []
        read_type(reader, scanner, message.struct.types.add(), inside)
        message.names.extend(inside)
    return len(message.struct.types)
