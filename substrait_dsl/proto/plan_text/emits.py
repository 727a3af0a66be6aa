"""What a relation puts out: all its columns, or those that its emit lists.

A relation without an emit lists all its columns, and one that lists all of them in their order has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import attrs
from substrait import algebra_pb2 as pb

from substrait_dsl.proto.encoder import common_of
from substrait_dsl.proto.plan_text.context import TextWriter
from substrait_dsl.proto.plan_text.expressions import read_column, write_column
from substrait_dsl.proto.plan_text.scanner import Scanner

Columns = Literal["listed", "appended", "all"]
"""How an emit is written: as the list of columns, behind the list of all, or not at all."""


@attrs.frozen
class Head:
    """The line of a relation.

    Args:
        name: what stands in front of the bracket.
        arguments: what stands in front of the arrow; None for relations without arguments.
        columns: the columns that it puts out without an emit, as they are written.
        width: the number of these columns, also of those that cannot be written, behind the others.
        emit: how an emit is written.
        own: the positions of the columns that have to be listed once each, in their order, since the list makes them.
        rows: arguments that stand in lines of their own.
    """

    name: str
    arguments: str | None
    columns: Sequence[str]
    width: int
    emit: Columns = "listed"
    own: Sequence[int] = ()
    rows: Sequence[str] = ()


def write_head(writer: TextWriter, head: Head, body: Any) -> tuple[list[str], int]:
    """Write the line of a relation, and of a project on it for an emit that it cannot say itself.

    Returns:
        The lines, without those of the inputs, the last of which is the relation's; and the number of the columns.
    """
    mapping = _mapping(writer, head, body.common)
    if mapping is None:
        if head.width > len(head.columns):
            raise writer.refuse("the number of the grouping set, which an aggregate of several sets puts out", body)
        return [_line(head, head.columns)], head.width
    if head.emit == "appended":
        suffix = f" |> {', '.join(map(write_column, mapping))}"
        return [_line(head, head.columns, "+>", suffix)], len(mapping)
    own = set(head.own)
    if head.emit == "listed" and [position for position in mapping if position in own] == list(head.own):
        return [_line(head, [head.columns[position] for position in mapping])], len(mapping)
    selected = f"Project[{', '.join(map(write_column, mapping))}]"
    return [selected, _line(head, head.columns)], len(mapping)


def _mapping(writer: TextWriter, head: Head, common: pb.RelCommon) -> list[int] | None:
    """Return the mapping of the emit; None without one."""
    if not common.HasField("emit"):
        return None
    mapping = list(common.emit.output_mapping)
    beyond = [position for position in mapping if not 0 <= position < len(head.columns)]
    if beyond:
        is_set = beyond[0] < head.width
        what = "the number of the grouping set, which an emit lists" if is_set else f"the column {beyond[0]} of an emit"
        raise writer.refuse(what, common)
    return mapping


def _line(head: Head, columns: Sequence[str], arrow: str = "=>", suffix: str = "") -> str:
    listed = ", ".join(columns)
    if head.arguments is None:
        return f"{head.name}[{listed}]"
    if head.rows:
        rows = ",\n- ".join(head.rows)
        return f"{head.name}[\n- {rows}\n- {arrow} {listed}{suffix}]"
    return f"{head.name}[{head.arguments} {arrow} {listed}{suffix}]"


def read_columns(scanner: Scanner, closing: str, width: int) -> list[int]:
    """Read references to columns, of which there are so many, up to what closes the list."""
    return [read_position(scanner, width) for _ in scanner.items(closing)]


def read_position(scanner: Scanner, width: int) -> int:
    """Read a reference to a column, of which there are so many; returns its position."""
    scanner.skip_spaces()
    start = scanner.position
    position = read_column(scanner)
    if position >= width:
        scanner.position = start
        columns = f"{width} columns, $0 to ${width - 1}" if width > 1 else "the column $0" if width else "no columns"
        raise scanner.error(f"there is no column ${position}", hint=f"there {'are' if width > 1 else 'is'} {columns}")
    return position


def set_mapping(message: pb.RelCommon, mapping: Sequence[int], width: int) -> int:
    """Set what a relation of so many columns puts out; returns the number of columns."""
    if list(mapping) == list(range(width)):
        message.direct.SetInParent()
    else:
        message.emit.SetInParent()
        message.emit.output_mapping.extend(mapping)
    return len(mapping)


def map_again(message: pb.Rel, mapping: Sequence[int], width: int) -> int:
    """Let a relation that puts out so many columns put out some of these; returns their number."""
    common = common_of(message)
    before = list(common.emit.output_mapping) if common.HasField("emit") else None
    if before is None:
        return set_mapping(common, mapping, width)
    del common.emit.output_mapping[:]
    common.emit.output_mapping.extend(before[position] for position in mapping)
    return len(mapping)


def require_inputs(scanner: Scanner, inputs: Sequence[object], least: int, most: int | None, name: str) -> None:
    """Raise `PlanFormatError` unless a relation has as many inputs as it takes."""
    if least <= len(inputs) and (most is None or len(inputs) <= most):
        return
    takes = f"{least} or more" if most is None else str(least) if least == most else f"{least} to {most}"
    inputs_ = "input" if takes == "1" else "inputs"
    scanner.position = 0
    raise scanner.error(
        f"{name} takes {takes} {inputs_}, got {len(inputs)}", hint="inputs stand below, two spaces further in"
    )
