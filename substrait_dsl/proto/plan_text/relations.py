"""Relations: a line each, ``Filter[gt($0, 10):boolean => $0, $1]``, with the inputs below it, two spaces further in."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
from substrait import algebra_pb2 as pb

from substrait_dsl.algebra.rules import JOIN_RULES
from substrait_dsl.proto.encoder import body_of
from substrait_dsl.proto.enums import JOIN_TYPE, name_for
from substrait_dsl.proto.plan_text.aggregates import read_aggregate, write_aggregate
from substrait_dsl.proto.plan_text.context import TextReader, TextWriter
from substrait_dsl.proto.plan_text.emits import (
    Head,
    map_again,
    read_columns,
    read_position,
    require_inputs,
    set_mapping,
    write_head,
)
from substrait_dsl.proto.plan_text.expressions import (
    read_argument_name,
    read_expression,
    read_word,
    write_column,
    write_expression,
)
from substrait_dsl.proto.plan_text.names import IDENTIFIER
from substrait_dsl.proto.plan_text.reads import read_read, read_virtual_table, write_read
from substrait_dsl.proto.plan_text.scanner import Scanner
from substrait_dsl.proto.plan_text.words import INDENT, JOIN_TYPES, SET_OPS, SORT_DIRECTIONS, word_for


def write_relation(writer: TextWriter, rel: pb.Rel) -> tuple[list[str], int]:
    """Write a relation and its inputs.

    Returns:
        The lines, and the number of columns that it puts out.
    """
    kind = rel.WhichOneof("rel_type")
    if kind not in _WRITERS:
        raise writer.refuse(_kind_words(rel, kind), rel)
    body: Any = body_of(rel)
    fields, write = _WRITERS[kind]
    writer.require_only(body, ("common", *_inputs_of(body), *fields), f"a relation of kind {kind}")
    writer.require_only(body.common, ("direct", "emit"), f"a relation of kind {kind}")
    inputs = [write_relation(writer, each) for field in _inputs_of(body) for each in _as_list(getattr(body, field))]
    heads, width = write_head(writer, write(writer, body, [columns for _, columns in inputs]), body)
    lines = [f"{INDENT * depth}{line}" for depth, head in enumerate(heads) for line in _indented(head)]
    lines += [f"{INDENT * len(heads)}{line}" for below, _ in inputs for line in below]
    return lines, width


def _kind_words(rel: pb.Rel, kind: str | None) -> str:
    """Return what kind of relation one is; of an extension's, whose message it has."""
    detail = getattr(getattr(rel, kind), "detail", None) if kind else None
    return f"relations of kind {kind}" + (f", of {detail.type_url}" if detail is not None else "")


def _indented(head: str) -> list[str]:
    """Return the lines of a relation, those that it goes on in further in."""
    first, *others = head.split("\n")
    return [first, *(f"{INDENT}{line}" for line in others)]


def _inputs_of(body: Any) -> tuple[str, ...]:
    """Return the fields of a relation with its inputs."""
    return tuple(field.name for field in body.DESCRIPTOR.fields if field.message_type is pb.Rel.DESCRIPTOR)


def _as_list(value: Any) -> Sequence[pb.Rel]:
    return [value] if isinstance(value, pb.Rel) else list(value)


@attrs.define
class Node:
    """A line of the plan that was not read yet, with those of its inputs."""

    scanner: Scanner
    inputs: list[Node] = attrs.field(factory=list)


def read_relation(reader: TextReader, node: Node, message: pb.Rel) -> int:
    """Read a relation and its inputs; returns the number of columns that it puts out."""
    scanner = node.scanner
    reader.lines.append((message, scanner.line))
    name = _read_keyword(scanner)
    least, most, read = _READERS[name]
    require_inputs(scanner, node.inputs, least, most, name)
    scanner.expect("[")
    width = read(reader, node, message)
    scanner.expect("]")
    scanner.end()
    return width


def _read_keyword(scanner: Scanner) -> str:
    """Read the name of a relation."""
    found = scanner.match(_KEYWORD)
    if found is None:
        raise scanner.unexpected("a relation")
    if found[0].startswith(_EXTENSIONS):
        scanner.position = found.start()
        raise scanner.unsupported("relations of extensions")
    if found[0] not in _READERS:
        raise scanner.unknown("relation", found[0], _READERS, found.start())
    return found[0]


_EXTENSIONS = ("ExtensionLeaf:", "ExtensionSingle:", "ExtensionMulti:", "Read:Extension")
_COLUMNS_ONLY = re.compile(r" *(?:\$\d+ *(?:, *\$\d+ *)*)?\]")
_KEYWORD = re.compile(rf"{IDENTIFIER.pattern}(?::{IDENTIFIER.pattern})?")


# --- one input


def _passed_on(width: int) -> list[str]:
    return list(map(write_column, range(width)))


def _write_filter(writer: TextWriter, body: pb.FilterRel, widths: Sequence[int]) -> Head:
    condition = write_expression(writer, body.condition)
    return Head("Filter", condition, _passed_on(widths[0]), widths[0])


def _read_filter(reader: TextReader, node: Node, message: pb.Rel) -> int:
    body = message.filter
    width = read_relation(reader, node.inputs[0], body.input)
    read_expression(reader, node.scanner, body.condition)
    return _read_listed(node.scanner, body.common, width)


def _read_listed(scanner: Scanner, common: pb.RelCommon, width: int) -> int:
    """Read the arrow, and the columns that a relation of so many puts out."""
    scanner.expect("=>")
    return set_mapping(common, read_columns(scanner, "]", width), width)


def _write_project(writer: TextWriter, body: pb.ProjectRel, widths: Sequence[int]) -> Head:
    """Write a project; an expression that is a column is read as a column that is passed on."""
    columns = _passed_on(widths[0]) + [write_expression(writer, each) for each in body.expressions]
    computed = [
        position
        for position, expression in enumerate(body.expressions, widths[0])
        if expression.WhichOneof("rex_type") != "selection"
    ]
    return Head("Project", None, columns, len(columns), own=computed)


def _read_project(reader: TextReader, node: Node, message: pb.Rel) -> int:
    """Read a project; one of columns alone is what its input puts out."""
    scanner = node.scanner
    if _COLUMNS_ONLY.match(scanner.text, scanner.position):
        width = read_relation(reader, node.inputs[0], message)
        return map_again(message, read_columns(scanner, "]", width), width)
    body = message.project
    width = read_relation(reader, node.inputs[0], body.input)
    mapping: list[int] = []
    for _ in scanner.items("]"):
        if scanner.sees("$"):
            mapping.append(read_position(scanner, width))
        else:
            mapping.append(width + len(body.expressions))
            read_expression(reader, scanner, body.expressions.add())
    return set_mapping(body.common, mapping, width + len(body.expressions))


def _write_sort(writer: TextWriter, body: pb.SortRel, widths: Sequence[int]) -> Head:
    keys = []
    for key in body.sorts:
        word = word_for(SORT_DIRECTIONS, key.direction) if key.WhichOneof("sort_kind") == "direction" else None
        if word is None:
            raise writer.refuse("a sort key without a direction", key)
        keys.append(f"({write_expression(writer, key.expr)}, &{word})")
    return Head("Sort", ", ".join(keys) or "_", _passed_on(widths[0]), widths[0])


def _read_sort(reader: TextReader, node: Node, message: pb.Rel) -> int:
    scanner, body = node.scanner, message.sort
    width = read_relation(reader, node.inputs[0], body.input)
    if not scanner.take("_"):
        for _ in scanner.items("=>"):
            key = body.sorts.add()
            scanner.expect("(")
            read_expression(reader, scanner, key.expr)
            scanner.expect(",")
            word = read_word(scanner, SORT_DIRECTIONS, "direction")
            key.direction = SORT_DIRECTIONS[word]  # type: ignore[assignment]  # the table is of plain integers
            scanner.expect(")")
    return _read_listed(scanner, body.common, width)


_BOUNDS: Mapping[str, str] = {"limit": "count_expr", "offset": "offset_expr"}
"""The fields of the arguments of a fetch."""


def _write_fetch(writer: TextWriter, body: pb.FetchRel, widths: Sequence[int]) -> Head:
    bounds = [
        f"{name}={write_expression(writer, getattr(body, field))}"
        for name, field in _BOUNDS.items()
        if body.HasField(field)  # type: ignore[arg-type]  # a name of the table
    ]
    return Head("Fetch", ", ".join(bounds) or "_", _passed_on(widths[0]), widths[0])


def _read_fetch(reader: TextReader, node: Node, message: pb.Rel) -> int:
    scanner, body = node.scanner, message.fetch
    width = read_relation(reader, node.inputs[0], body.input)
    if not scanner.take("_"):
        for _ in scanner.items("=>"):
            field = _BOUNDS[read_argument_name(scanner, _BOUNDS)]
            if body.HasField(field):  # type: ignore[arg-type]  # a name of the table
                raise scanner.error("the argument stands twice")
            read_expression(reader, scanner, getattr(body, field))
    return _read_listed(scanner, body.common, width)


def _read_aggregate(reader: TextReader, node: Node, message: pb.Rel) -> int:
    read_relation(reader, node.inputs[0], message.aggregate.input)
    return read_aggregate(reader, node.scanner, message.aggregate)


# --- several inputs


def _write_join(writer: TextWriter, body: pb.JoinRel, widths: Sequence[int]) -> Head:
    word = word_for(JOIN_TYPES, body.type)
    if word is None or not body.HasField("expression"):
        raise writer.refuse("a join without a type or without a condition", body)
    arguments = [f"&{word}", write_expression(writer, body.expression)]
    if body.HasField("post_join_filter"):
        arguments.append(f"post_filter={write_expression(writer, body.post_join_filter)}")
    width = _join_width(body.type, widths)
    return Head("Join", ", ".join(arguments), _passed_on(width), width)


def _join_width(number: int, widths: Sequence[int]) -> int:
    """Return the number of columns that a join puts out."""
    rule = JOIN_RULES[name_for(JOIN_TYPE, number, pb.JoinRel.JoinType, "JoinRel.type")]
    sides = zip((rule.left, rule.right), widths, strict=True)
    return sum(width for side, width in sides if side != "dropped") + rule.mark


def _read_join(reader: TextReader, node: Node, message: pb.Rel) -> int:
    scanner, body = node.scanner, message.join
    widths = [read_relation(reader, each, at) for each, at in zip(node.inputs, (body.left, body.right), strict=True)]
    word = read_word(scanner, JOIN_TYPES, "join type")
    body.type = JOIN_TYPES[word]  # type: ignore[assignment]  # the table is of plain integers
    scanner.expect(",")
    read_expression(reader, scanner, body.expression)
    if scanner.take(","):
        read_argument_name(scanner, ("post_filter",))
        read_expression(reader, scanner, body.post_join_filter)
    return _read_listed(scanner, body.common, _join_width(body.type, widths))


def _write_set(writer: TextWriter, body: pb.SetRel, widths: Sequence[int]) -> Head:
    word = word_for(SET_OPS, body.op)
    if word is None or len(set(widths)) != 1:
        raise writer.refuse("a set operation without an op, or whose inputs have other numbers of columns", body)
    return Head("Set", f"&{word}", _passed_on(widths[0]), widths[0])


def _read_set(reader: TextReader, node: Node, message: pb.Rel) -> int:
    scanner, body = node.scanner, message.set
    widths = [read_relation(reader, each, body.inputs.add()) for each in node.inputs]
    if len(set(widths)) != 1:
        raise scanner.error(f"the inputs of a set operation have as many columns, got {', '.join(map(str, widths))}")
    word = read_word(scanner, SET_OPS, "set operation")
    body.op = SET_OPS[word]  # type: ignore[assignment]  # the table is of plain integers
    return _read_listed(scanner, body.common, widths[0])


def _write_cross(writer: TextWriter, body: pb.CrossRel, widths: Sequence[int]) -> Head:
    return Head("Cross", None, _passed_on(sum(widths)), sum(widths))


def _read_cross(reader: TextReader, node: Node, message: pb.Rel) -> int:
    body = message.cross
    width = sum(read_relation(reader, each, at) for each, at in zip(node.inputs, (body.left, body.right), strict=True))
    return set_mapping(body.common, read_columns(node.scanner, "]", width), width)


# --- the tables

_WRITERS: Mapping[str | None, tuple[tuple[str, ...], Callable[[TextWriter, Any, Sequence[int]], Head]]] = {
    "read": (tuple(field.name for field in pb.ReadRel.DESCRIPTOR.fields), write_read),
    "filter": (("condition",), _write_filter),
    "project": (("expressions",), _write_project),
    "aggregate": (("groupings", "measures", "grouping_expressions"), write_aggregate),
    "sort": (("sorts",), _write_sort),
    "fetch": (("offset_expr", "count_expr"), _write_fetch),
    "join": (("expression", "post_join_filter", "type"), _write_join),
    "set": (("op",), _write_set),
    "cross": ((), _write_cross),
}
"""The fields of each relation that the format has a place for, beside its inputs, and what writes its line."""

_READERS: Mapping[str, tuple[int, int | None, Callable[[TextReader, Node, pb.Rel], int]]] = {
    "Read": (0, 0, lambda reader, node, message: read_read(reader, node.scanner, message.read)),
    "Read:Virtual": (0, 0, lambda reader, node, message: read_virtual_table(reader, node.scanner, message.read)),
    "Filter": (1, 1, _read_filter),
    "Project": (1, 1, _read_project),
    "Aggregate": (1, 1, _read_aggregate),
    "Sort": (1, 1, _read_sort),
    "Fetch": (1, 1, _read_fetch),
    "Join": (2, 2, _read_join),
    "Set": (1, None, _read_set),
    "Cross": (2, 2, _read_cross),
}
"""The least and the largest number of inputs of each relation, and what reads its line."""
