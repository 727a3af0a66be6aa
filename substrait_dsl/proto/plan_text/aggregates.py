"""Aggregates: ``Aggregate[$0 => $0, sum($1):i64?]``, ``Aggregate[($0, $1), ($0), _ => ...]``.

A measure is a complete aggregate (``initial_to_result``). What it says beside its call is in `further_words`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from substrait import algebra_pb2 as pb

from substrait_dsl.proto.plan_text.context import TextReader, TextWriter
from substrait_dsl.proto.plan_text.emits import Head, set_mapping
from substrait_dsl.proto.plan_text.expressions import read_expression, write_call, write_expression
from substrait_dsl.proto.plan_text.further_words import measure_word, read_measure, write_measure
from substrait_dsl.proto.plan_text.scanner import Scanner

_PHASES = (pb.AGGREGATION_PHASE_UNSPECIFIED, pb.AGGREGATION_PHASE_INITIAL_TO_RESULT)
_INVOCATIONS = (
    pb.AggregateFunction.AGGREGATION_INVOCATION_UNSPECIFIED,
    pb.AggregateFunction.AGGREGATION_INVOCATION_ALL,
    pb.AggregateFunction.AGGREGATION_INVOCATION_DISTINCT,
)


def write_aggregate(writer: TextWriter, body: pb.AggregateRel, widths: Sequence[int]) -> Head:
    """Write an aggregate."""
    keys = [write_expression(writer, each) for each in body.grouping_expressions]
    sets = [_write_set(writer, body, each, keys) for each in body.groupings]
    used = {position for each in body.groupings for position in each.expression_references}
    if len(used) < len(keys) or len({_key(each) for each in body.grouping_expressions}) < len(keys):
        raise writer.refuse("a grouping expression that no set has, or that stands twice", body)
    columns = keys + [_write_measure(writer, each) for each in body.measures]
    computed = range(len(keys), len(columns))
    return Head("Aggregate", _write_sets(sets), columns, len(columns) + (len(sets) > 1), own=computed)


def _write_sets(sets: Sequence[Sequence[str]]) -> str:
    """Write the grouping sets: one stands without parentheses, but for a cast, which begins with one."""
    if len(sets) == 1 and sets[0] and not sets[0][0].startswith("("):
        return ", ".join(sets[0])
    return ", ".join(f"({', '.join(each)})" if each else "_" for each in sets) or "_"


def _write_set(
    writer: TextWriter, body: pb.AggregateRel, grouping: pb.AggregateRel.Grouping, keys: Sequence[str]
) -> list[str]:
    references = grouping.expression_references
    if len(set(references)) < len(references) or any(position >= len(keys) for position in references):
        raise writer.refuse("a grouping set with a grouping expression twice, or one that is not there", body)
    return [keys[position] for position in references]


def _write_measure(writer: TextWriter, message: pb.AggregateRel.Measure) -> str:
    writer.require_only(message, ("measure", "filter"), "a measure")
    call = message.measure
    writer.require_only(call, _CALL_FIELDS, "a measure")
    if call.phase not in _PHASES:
        raise writer.refuse(f"a measure of the phase {pb.AggregationPhase.Name(call.phase)}", call)
    if call.invocation not in _INVOCATIONS:
        name = pb.AggregateFunction.AggregationInvocation.Name(call.invocation)
        raise writer.refuse(f"a measure of the invocation {name}", call)
    return write_measure(writer, message, write_call(writer, call))


_CALL_FIELDS = ("function_reference", "arguments", "options", "output_type", "phase", "invocation")


def read_aggregate(reader: TextReader, scanner: Scanner, body: pb.AggregateRel) -> int:
    """Read the arguments of an aggregate, and what it puts out; returns the number of columns.

    What is put out and is no grouping expression is a measure.
    """
    sets = _read_sets(reader, scanner)
    positions: dict[bytes, int] = {}
    for each in sets:
        for key in each:
            if positions.setdefault(_key(key), len(positions)) == len(body.grouping_expressions):
                _copy(body.grouping_expressions.add(), key)
        body.groupings.add().expression_references.extend(positions[_key(key)] for key in each)
    scanner.expect("=>")
    mapping: list[int] = []
    for _ in scanner.items("]"):
        measure = pb.AggregateRel.Measure()
        known = _read_output(reader, scanner, measure, positions)
        if known is None:
            known = len(positions) + len(body.measures)
            _copy(body.measures.add(), measure)
        mapping.append(known)
    return set_mapping(body.common, mapping, len(positions) + len(body.measures) + (len(sets) > 1))


def _read_output(
    reader: TextReader, scanner: Scanner, measure: pb.AggregateRel.Measure, positions: Mapping[bytes, int]
) -> int | None:
    """Read a grouping expression, and return its position among these; or a measure, and return None."""
    word = measure_word(reader, scanner)
    if word is not None:
        with scanner.nested():
            read_measure(reader, scanner, word, measure, lambda: _read_inner(reader, scanner, measure))
        return None
    scanner.skip_spaces()
    start = scanner.position
    expression = pb.Expression()
    read_expression(reader, scanner, expression)
    known = positions.get(_key(expression))
    if known is None and not expression.HasField("scalar_function"):
        scanner.position = start
        raise scanner.error("this is no grouping expression, and no call of an aggregate function")
    if known is None:
        _fill_measure(measure.measure, expression.scalar_function)
    return known


def _read_inner(reader: TextReader, scanner: Scanner, measure: pb.AggregateRel.Measure) -> None:
    """Read the measure inside a call of a function of measures."""
    _read_output(reader, scanner, measure, {})


def _fill_measure(message: pb.AggregateFunction, call: pb.Expression.ScalarFunction) -> None:
    """Make a measure of a call: the complete aggregate of all values."""
    message.function_reference = call.function_reference
    for argument in call.arguments:
        _copy(message.arguments.add(), argument)
    message.options.extend(call.options)
    message.output_type.CopyFrom(call.output_type)
    message.phase = pb.AGGREGATION_PHASE_INITIAL_TO_RESULT
    message.invocation = pb.AggregateFunction.AGGREGATION_INVOCATION_ALL


def _read_sets(reader: TextReader, scanner: Scanner) -> list[list[pb.Expression]]:
    """Read the grouping sets; none for an aggregate of all rows."""
    start = scanner.position
    sets: list[list[pb.Expression]] = []
    for number in scanner.items("=>"):
        if scanner.take("_"):
            sets.append([])
        elif scanner.take("("):
            sets.append(_read_list(reader, scanner, ")"))
            scanner.expect(")")
        elif number:
            raise scanner.unexpected("a grouping set")
        # An expression stands here, or a cast, which begins like a set.
        if len(sets) == number or (number == 0 and not scanner.sees(",") and not scanner.sees("=>")):
            scanner.position = start
            return [_read_list(reader, scanner, "=>")]
    return [] if sets == [[]] else sets


def _read_list(reader: TextReader, scanner: Scanner, closing: str) -> list[pb.Expression]:
    """Read expressions up to what closes the list."""
    expressions = []
    for _ in scanner.items(closing):
        expression = pb.Expression()
        read_expression(reader, scanner, expression)
        expressions.append(expression)
    return expressions


def _copy(target: Any, source: Any) -> None:
    """Fill a message with another one: ``append`` of one that nests too deeply raises a `SystemError`."""
    target.MergeFromString(source.SerializeToString())


def _key(message: Any) -> bytes:
    """Return the bytes by which expressions are compared."""
    key: bytes = message.SerializeToString(deterministic=True)
    return key
