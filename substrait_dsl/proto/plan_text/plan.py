"""A plan as text, and a text as a plan: the sections, and the trees of lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import attrs
from google.protobuf.message import DecodeError, EncodeError
from substrait import algebra_pb2 as pb
from substrait.plan_pb2 import ExecutionBehavior, Plan, PlanRel

from substrait_dsl.algebra.findings import Finding, Weight
from substrait_dsl.algebra.plan import AlgebraPlan
from substrait_dsl.catalog import Catalog
from substrait_dsl.errors import PlanFormatError, SubstraitDslError, UnsupportedError
from substrait_dsl.proto.paths import paths_of
from substrait_dsl.proto.plan import encode_plan, from_bytes, to_bytes
from substrait_dsl.proto.plan_text.context import TextReader, TextWriter
from substrait_dsl.proto.plan_text.declarations import (
    URNS,
    fill_declarations,
    read_declaration,
    take_declarations,
    write_declarations,
)
from substrait_dsl.proto.plan_text.expressions import read_expression, write_expression
from substrait_dsl.proto.plan_text.names import HEADINGS, Kind, read_name, write_name
from substrait_dsl.proto.plan_text.relations import Node, read_relation, write_relation
from substrait_dsl.proto.plan_text.scanner import MAX_DEPTH, Scanner
from substrait_dsl.proto.plan_text.words import EXTENSIONS, INDENT, PLAN, VERSION

_FIELDS = ("version", "extension_urns", "extensions", "relations", "execution_behavior")
"""The fields of a plan that the format has a place for."""

_EVALUATION_MODES = (
    ExecutionBehavior.VARIABLE_EVALUATION_MODE_UNSPECIFIED,
    ExecutionBehavior.VARIABLE_EVALUATION_MODE_PER_PLAN,
)
_NUMBERS = re.compile(r"(\d{1,9})\.(\d{1,9})\.(\d{1,9})", re.ASCII)
_DETAIL = re.compile(r"(producer|git_hash) *: *(.*)")
_ROOT = re.compile(r"Root(?=\[)")
_HEADER = re.compile(r"===.*")


def to_text(plan: AlgebraPlan) -> str:
    """Write a plan.

    Raises `UnsupportedError` as `encode_plan`, and for what the format has no place for, with its path.
    """
    try:
        message = encode_plan(plan, outer_references="steps_out")
    except UnsupportedError:  # of a lateral join, which is then refused by name
        message = encode_plan(plan)
    return write_plan(message)


def write_plan(message: Plan) -> str:
    """Write the message of a plan; outer rows are counted in it (``steps_out``). Raises as `to_text`."""
    writer = TextWriter(message, write_expression, write_relation)
    writer.require_only(message, _FIELDS, "a plan")
    behavior = message.execution_behavior
    if behavior.variable_eval_mode not in _EVALUATION_MODES:
        raise writer.refuse("variables that are evaluated for each record", behavior)
    take_declarations(writer)
    trees = _write_trees(writer)
    if writer.further_words:  # with which other names may need an anchor
        trees = _write_trees(writer)
    lines = _write_version(writer)
    declarations = write_declarations(writer)
    lines += [*declarations, ""] if declarations else []
    lines.append(PLAN)
    lines += [line for number, tree in enumerate(trees) for line in ([""] if number else []) + tree]
    return "\n".join(lines) + "\n"


def _write_version(writer: TextWriter) -> list[str]:
    """Write the version, and who wrote the plan."""
    version = writer.plan.version
    if not version.ListFields():
        return []
    lines = [f"{VERSION} {version.major_number}.{version.minor_number}.{version.patch_number}"]
    for name in ("producer", "git_hash"):
        value = getattr(version, name)
        if value.strip() != value or "\n" in value or "\r" in value:
            raise writer.refuse(f"spaces around the {name}, or a line break in it", version)
        lines += [f"{INDENT}{name}: {value}"] if value else []
    return lines


def _write_trees(writer: TextWriter) -> list[list[str]]:
    """Write the trees of the plan, and behind them those of subqueries."""
    writer.subqueries.clear()
    trees = [_write_tree(writer, tree) for tree in writer.plan.relations]
    return trees + writer.subqueries


def _write_tree(writer: TextWriter, tree: PlanRel) -> list[str]:
    writer.require_only(tree, ("rel", "root"), "a tree")
    if tree.WhichOneof("rel_type") != "root":
        lines, _ = write_relation(writer, tree.rel)
        return lines
    lines, _ = write_relation(writer, tree.root.input)
    names = ", ".join(map(write_name, tree.root.names))
    return [f"Root[{names}]", *(f"{INDENT}{line}" for line in lines)]


def read_plan(text: str) -> tuple[Plan, TextReader]:
    """Read a plan.

    Returns:
        The message, and the state of reading it, which has the lines of relations.

    Raises:
        PlanFormatError: something in the text is not as the format says; with its line and column.
    """
    document = _Document(Plan())
    for scanner, depth in _lines(text.removeprefix("\ufeff")):
        document.read_line(scanner, depth)
    if document.section != PLAN:
        raise PlanFormatError(f'the text has no section "{PLAN}"', hint="it is no plan in the text format")
    fill_declarations(document.reader, document.plan)
    document.read_trees()
    document.plan.execution_behavior.variable_eval_mode = ExecutionBehavior.VARIABLE_EVALUATION_MODE_PER_PLAN
    return document.plan, document.reader


def _lines(text: str) -> Iterator[tuple[Scanner, int]]:
    """Yield the lines that are not empty, each with the number of its indents; some go on in the lines below them."""
    physical = [line.rstrip(" \r\t") for line in text.split("\n")]
    number = 0
    while number < len(physical):
        line, first = physical[number], number
        number += 1
        if not line:
            continue
        depth = (len(line) - len(line.lstrip(" "))) // len(INDENT)
        parts = [line[depth * len(INDENT) :]]
        while number < len(physical) and physical[number].startswith(f"{INDENT * (depth + 1)}- "):
            parts.append(physical[number])
            number += 1
        yield Scanner("\n".join(parts), first + 1, depth * len(INDENT)), depth


@attrs.define
class _Document:
    """What was read of a text so far: the section, and the trees that stand in it."""

    plan: Plan
    reader: TextReader = attrs.field(init=False)
    section: str | None = None
    heading: str | None = None
    details: set[str] = attrs.field(factory=set)
    """What was said of who wrote the plan."""
    trees: list[Node] = attrs.field(factory=list)

    def __attrs_post_init__(self) -> None:
        self.reader = TextReader(read_expression, self._read_subquery)

    def read_trees(self) -> None:
        """Read the trees that are of no subquery."""
        self.reader.trees = len(self.trees)
        for number, tree in enumerate(self.trees):
            if number not in self.reader.begun:
                self.reader.begun.add(number)
                _read_tree(self.reader, tree, self.plan.relations.add())

    def _read_subquery(self, reader: TextReader, number: int, message: pb.Rel) -> None:
        reader.begun.add(number)
        read_relation(reader, self.trees[number], message)

    def read_line(self, scanner: Scanner, depth: int) -> None:
        """Read a line: a header, or what the section holds."""
        if scanner.text.startswith(" "):
            raise scanner.error("a line is indented by two spaces for each step")
        if depth == 0 and scanner.sees("==="):
            self._read_header(scanner)
        elif self.section is None:
            raise scanner.unexpected(f'the header of a section, such as "{PLAN}"')
        else:
            _SECTIONS[self.section](self, scanner, depth)

    def _read_header(self, scanner: Scanner) -> None:
        """Read the header of a section: they have one order."""
        known = [*_SECTIONS]
        header = next((each for each in known if scanner.take(each)), None)
        if header is None:
            found = _HEADER.match(scanner.text)
            assert found is not None
            raise scanner.unknown("section", found[0], known, 0)
        if self.section is not None and known.index(header) <= known.index(self.section):
            raise scanner.error(f'the section "{header}" stands behind "{self.section}"')
        self.section = header
        if header == VERSION:
            found = scanner.match(_NUMBERS)
            if found is None:
                raise scanner.unexpected("three numbers, such as 0.106.0")
            version = self.plan.version
            version.major_number, version.minor_number, version.patch_number = map(int, found.groups())
        scanner.end()

    def read_version(self, scanner: Scanner, depth: int) -> None:
        """Read who wrote the plan."""
        found = scanner.match(_DETAIL) if depth == 1 else None
        if found is None:
            raise scanner.unexpected('"producer:" or "git_hash:", two spaces further in')
        scanner.end()
        if found[1] in self.details:
            scanner.position = found.start()
            raise scanner.error(f"the plan says its {found[1]} twice")
        self.details.add(found[1])
        setattr(self.plan.version, found[1], found[2].strip())

    def read_extension(self, scanner: Scanner, depth: int) -> None:
        """Read a heading, or a declaration below one."""
        if depth == 0:
            known = [URNS, *HEADINGS]
            self.heading = next((each for each in known if scanner.take(each)), None)
            if self.heading is None:
                raise scanner.unknown("heading", scanner.text, known, 0)
            scanner.end()
        elif depth > 1 or self.heading is None:
            raise scanner.unexpected(f'a heading, such as "{URNS}"')
        else:
            kind: Kind | None = HEADINGS.get(self.heading)
            read_declaration(self.reader, scanner, kind)

    def read_tree(self, scanner: Scanner, depth: int) -> None:
        """Find the relation that a line is an input of; it is read when all are known."""
        if scanner.sees("+"):
            raise scanner.unsupported("messages of extensions (+ Enh, + Opt, + Ext)")
        level = self.trees
        for _ in range(depth):
            if not level:
                raise scanner.error("the line stands too far in: no relation above it has it as an input")
            level = level[-1].inputs
        if depth > MAX_DEPTH:
            raise scanner.error(f"this stands below more than {MAX_DEPTH} others")
        level.append(Node(scanner))


_SECTIONS: dict[str, Callable[[_Document, Scanner, int], None]] = {
    VERSION: _Document.read_version,
    EXTENSIONS: _Document.read_extension,
    PLAN: _Document.read_tree,
}


def _read_tree(reader: TextReader, tree: Node, message: PlanRel) -> None:
    """Read a tree: a relation, under the names of its columns if it is a root."""
    scanner = tree.scanner
    if not scanner.match(_ROOT):
        read_relation(reader, tree, message.rel)
        return
    scanner.expect("[")
    message.root.SetInParent()
    reader.lines.append((message.root, scanner.line))
    for _ in scanner.items("]"):
        message.root.names.append(read_name(scanner, "the name of a column"))
    scanner.expect("]")
    scanner.end()
    if len(tree.inputs) != 1:
        raise scanner.error(f"Root takes 1 input, got {len(tree.inputs)}")
    read_relation(reader, tree.inputs[0], message.root.input)


def from_text(
    text: str, catalog: Catalog | None = None, *, strict: bool | Weight = False
) -> tuple[AlgebraPlan, tuple[Finding, ...]]:
    """Decode the text of a plan.

    Args:
        text: the text.
        catalog: as of `decode_plan`, as are the results.
        strict: as of `decode_plan`.

    Raises:
        PlanFormatError: as of `read_plan`; or the plan breaks a rule; with the line of the relation, and the path.
        UnsupportedError: as of `decode_plan`, with the line of the relation.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise PlanFormatError(f"the text of a plan is Unicode, without lone surrogates: {error.reason}") from None
    try:
        message, reader = read_plan(text)
        data = to_bytes(message)
        Plan.FromString(data)
    except RecursionError:
        raise PlanFormatError("the text nests too deeply") from None
    except (DecodeError, EncodeError):
        raise PlanFormatError("the plan nests messages more than 100 deep, which parsers refuse") from None
    try:
        return from_bytes(data, catalog, strict=strict)
    except SubstraitDslError as error:
        _add_line(error, message, reader)
        raise


def _add_line(error: SubstraitDslError, plan: Plan, reader: TextReader) -> None:
    """Put the line of the relation in front of the path of an error in a plan that was read."""
    if not error.path:
        return
    paths = paths_of(plan, [message for message, _ in reader.lines])
    around = [
        (len(path), line)
        for path, (_, line) in zip(paths, reader.lines, strict=True)
        if path and (error.path == path or error.path.startswith((f"{path}.", f"{path}[")))
    ]
    if around:
        error.path = f"line {max(around)[1]}, {error.path}"
