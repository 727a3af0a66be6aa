"""Expressions and measures that the format has no word for, as calls of functions of an extension of this library.

IN lists, subqueries and outer columns; measures of distinct values, and of the rows that pass a filter. The relation of
a subquery is a tree of its own, behind the trees of the plan, and the call has its number, from 0. The type of a call
is ``derived``: these expressions have the one that follows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from google.protobuf.message import Message
from substrait import algebra_pb2 as pb
from substrait import type_pb2

from substrait_dsl.proto.plan_text.context import TextReader, TextWriter
from substrait_dsl.proto.plan_text.names import IDENTIFIER, Kind
from substrait_dsl.proto.plan_text.scanner import Scanner
from substrait_dsl.proto.plan_text.types import read_number, read_type
from substrait_dsl.proto.plan_text.words import enum_words

URN = "extension:substrait_dsl:plan_text"
"""The extension."""

DERIVED = "derived"
"""The type of its calls."""

_PREDICATES = {
    "exists": pb.Expression.Subquery.SetPredicate.PREDICATE_OP_EXISTS,
    "unique": pb.Expression.Subquery.SetPredicate.PREDICATE_OP_UNIQUE,
}
_COMPARISONS = {
    f"{reduction.lower()}_{comparison.lower()}": (reduction_op, comparison_op)
    for reduction, reduction_op in enum_words(pb.Expression.Subquery.SetComparison.ReductionOp, "REDUCTION_OP_").items()
    for comparison, comparison_op in enum_words(
        pb.Expression.Subquery.SetComparison.ComparisonOp, "COMPARISON_OP_"
    ).items()
}
"""Comparisons with any or all values of a subquery: ``all_gt`` is ``> ALL``."""

MEASURES = ("distinct", "filtered")
"""The functions of measures: of a measure, and of a measure and a condition."""

FUNCTIONS = ("in_list", "scalar_subquery", "in_subquery", *_PREDICATES, *_COMPARISONS, "outer")
"""The functions: of a value and a list; of a tree, and values; of the number of subqueries outwards, and a column."""


def write_in_list(writer: TextWriter, message: pb.Expression.SingularOrList) -> str:
    """Write whether a value is in a list."""
    return _call(writer, "in_list", [writer.expression(each) for each in (message.value, *message.options)], message)


def write_outer_column(writer: TextWriter, message: pb.Expression.FieldReference, position: int) -> str:
    """Write a column of an enclosing row."""
    outer = message.outer_reference
    if outer.WhichOneof("outer_reference_type") == "rel_reference":
        raise writer.refuse("a reference to an outer row by its number", message)
    return _call(writer, "outer", [str(outer.steps_out), f"${position}"], message)


def write_subquery(writer: TextWriter, message: pb.Expression.Subquery) -> str:
    """Write a subquery; its relation becomes a tree."""
    kind = message.WhichOneof("subquery_type")
    if kind == "scalar":
        return _call(writer, "scalar_subquery", [_tree(writer, message.scalar.input)], message)
    if kind == "in_predicate":
        needles = [writer.expression(each) for each in message.in_predicate.needles]
        return _call(writer, "in_subquery", [_tree(writer, message.in_predicate.haystack), *needles], message)
    if kind == "set_predicate":
        words = [word for word, number in _PREDICATES.items() if number == message.set_predicate.predicate_op]
        if words:
            return _call(writer, words[0], [_tree(writer, message.set_predicate.tuples)], message)
    if kind == "set_comparison":
        comparison = message.set_comparison
        operators = comparison.reduction_op, comparison.comparison_op
        words = [word for word, numbers in _COMPARISONS.items() if numbers == operators]
        if words:
            tree = _tree(writer, comparison.right)
            return _call(writer, words[0], [tree, writer.expression(comparison.left)], message)
    raise writer.refuse(f"subqueries of kind {kind}", message)


def _tree(writer: TextWriter, rel: pb.Rel) -> str:
    """Write the relation of a subquery as a tree; returns its number."""
    writer.subqueries.append([])
    number = len(writer.subqueries) - 1
    writer.subqueries[number], _ = writer.relation(rel)
    return str(len(writer.plan.relations) + number)


def write_measure(writer: TextWriter, message: pb.AggregateRel.Measure, written: str) -> str:
    """Write what a measure says beside its call: that values count once, and which rows count."""
    if message.measure.invocation == pb.AggregateFunction.AGGREGATION_INVOCATION_DISTINCT:
        written = _call(writer, "distinct", [written], message.measure)
    if message.HasField("filter"):
        written = _call(writer, "filtered", [written, writer.expression(message.filter)], message)
    return written


def _call(writer: TextWriter, name: str, arguments: Sequence[str], message: Message) -> str:
    function = writer.reference("function", _declare(writer, "function", name), message)
    type_ = writer.reference("type", _declare(writer, "type", DERIVED), message)
    return f"{function}({', '.join(arguments)}):{type_}"


def _declare(writer: TextWriter, kind: Kind, name: str) -> int:
    """Return the anchor of something of the extension, which is declared when it is first used."""
    found = writer.further_words.get((kind, name))
    if found is not None:
        return found
    urns = writer.extensions.urns
    urn = next((anchor for anchor, known in urns.items() if known == URN), None)
    if urn is None:
        urn = max(urns, default=0) + 1
        urns[urn] = URN
    found = max(writer.extensions.declared[kind], default=0) + 1
    writer.extensions.declare(kind, found, urn, name)
    writer.further_words[kind, name] = found
    return found


def further_word(reader: TextReader, anchor: int) -> str | None:
    """Return the name of a function of the extension; None for a function of another one."""
    urn, name = reader.extensions.declared["function"][anchor]
    return name if reader.extensions.urns[urn] == URN else None


def read_further_word(reader: TextReader, scanner: Scanner, name: str, message: pb.Expression) -> None:
    """Read a call of the extension, behind its name."""
    start = scanner.position
    scanner.expect("(")
    if name == "in_list":
        reader.expression(scanner, message.singular_or_list.value)
        while scanner.take(","):
            reader.expression(scanner, message.singular_or_list.options.add())
    elif name == "outer":
        message.selection.outer_reference.steps_out = read_number(scanner, "the number of steps outwards", 31)
        scanner.expect(",")
        scanner.expect("$")
        column = message.selection.direct_reference.struct_field
        column.field = read_number(scanner, "the number of a column", 31)
    elif name == "scalar_subquery":
        _read_tree(reader, scanner, message.subquery.scalar.input)
    elif name in _PREDICATES:
        message.subquery.set_predicate.predicate_op = _PREDICATES[name]
        _read_tree(reader, scanner, message.subquery.set_predicate.tuples)
    elif name in _COMPARISONS:
        comparison = message.subquery.set_comparison
        comparison.reduction_op, comparison.comparison_op = _COMPARISONS[name]  # type: ignore[assignment]  # integers
        _read_tree(reader, scanner, comparison.right)
        scanner.expect(",")
        reader.expression(scanner, comparison.left)
    elif name == "in_subquery":
        predicate = message.subquery.in_predicate
        _read_tree(reader, scanner, predicate.haystack)
        while scanner.take(","):
            reader.expression(scanner, predicate.needles.add())
    else:
        raise scanner.unknown("function of this library", name, FUNCTIONS, start)
    scanner.expect(")")
    scanner.expect(":")
    _read_derived(reader, scanner)


def measure_word(reader: TextReader, scanner: Scanner) -> str | None:
    """Read the name of a function of measures; None if none stands here."""
    scanner.skip_spaces()
    start = scanner.position
    found = scanner.match(IDENTIFIER)
    scanner.position = start
    if found is None or found[0] not in MEASURES:
        return None
    word = further_word(reader, reader.extensions.read_reference(scanner, "function"))
    if word is None:
        scanner.position = start
    return word


def read_measure(
    reader: TextReader, scanner: Scanner, word: str, message: pb.AggregateRel.Measure, read: Callable[[], None]
) -> None:
    """Read a call of a function of measures, behind its name; `read` reads the measure in it."""
    scanner.expect("(")
    read()
    if word == "distinct":
        message.measure.invocation = pb.AggregateFunction.AGGREGATION_INVOCATION_DISTINCT
    else:
        scanner.expect(",")
        reader.expression(scanner, message.filter)
    scanner.expect(")")
    scanner.expect(":")
    _read_derived(reader, scanner)


def _read_tree(reader: TextReader, scanner: Scanner, message: pb.Rel) -> None:
    """Read the tree of a subquery, which stands behind those that are read already."""
    scanner.skip_spaces()
    start = scanner.position
    number = read_number(scanner, "the number of a tree", 31)
    if number >= reader.trees or number in reader.begun:
        scanner.position = start
        why = "is no tree" if number >= reader.trees else "is the plan's own, or of another subquery"
        raise scanner.error(
            f"tree {number} of the text {why}", hint="trees count from 0; those of subqueries come last"
        )
    reader.tree(number, message)


def _read_derived(reader: TextReader, scanner: Scanner) -> None:
    """Read the type of a call of the extension, which is always the same."""
    scanner.skip_spaces()
    start = scanner.position
    type_ = type_pb2.Type()
    read_type(reader, scanner, type_)
    anchor = type_.user_defined.type_reference
    urn, name = reader.extensions.declared["type"].get(anchor, (0, ""))
    wanted = type_pb2.Type.UserDefined(type_reference=anchor, nullability=type_pb2.Type.NULLABILITY_REQUIRED)
    if type_.user_defined != wanted or (reader.extensions.urns.get(urn), name) != (URN, DERIVED):
        scanner.position = start
        raise scanner.error(f"the type of a call of {URN} is its {DERIVED}")
