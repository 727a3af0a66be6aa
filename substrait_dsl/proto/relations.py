"""Relations as messages of ``algebra.proto``.

Relations of one and of several inputs are here; others have modules of their own, and those that few plans have are
loaded when a plan has one (`seldom_relations`).

Specification: https://substrait.io/relations/logical_relations/.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from substrait import algebra_pb2 as pb

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.findings import FindingCode
from substrait_dsl.algebra.node import Expression, Rel
from substrait_dsl.errors import PlanFormatError, SubstraitDslError, UnsupportedError
from substrait_dsl.proto.calls import decode_measure, decode_sort_key, encode_measure, encode_sort_key
from substrait_dsl.proto.common import decode_common, encode_common
from substrait_dsl.proto.encoder import Encoder, body_of
from substrait_dsl.proto.enums import FETCH_MODE, SET_OP, name_for
from substrait_dsl.proto.joins import (
    decode_cross,
    decode_join,
    decode_lateral_join,
    encode_cross,
    encode_join,
    encode_lateral_join,
)
from substrait_dsl.proto.private_extensions import decode_choices, encode_choices
from substrait_dsl.proto.reads import decode_read, encode_read
from substrait_dsl.proto.repeated_operands import compute_once
from substrait_dsl.proto.scopes import names_beside, names_of_groups, row_of

if TYPE_CHECKING:
    from substrait_dsl.proto.decoder import Decoder
    from substrait_dsl.proto.scopes import Scope


def encode_relation(encoder: Encoder, rel: Rel, message: pb.Rel) -> None:
    """Write a relation, or a reference to a subtree."""
    if id(rel) in encoder.layout.separate:
        message.reference.subtree_ordinal = encoder.ordinals[id(rel)]
    else:
        encode_relation_body(encoder, rel, message)


def encode_relation_body(
    encoder: Encoder, rel: Rel, message: pb.Rel, mapping: tuple[int, ...] | None = None
) -> None:  # a closed union
    """Write a relation itself, with the mapping of the emit over it."""
    known = rl.as_union(rel)
    encoder.enter(rel, message)
    match known:
        case rl.Emit():
            encode_relation_body(encoder, known.input, message, known.mapping)
            return
        case rl.Read():
            encode_read(encoder, known, message.read)
        case rl.Filter():
            encode_filter(encoder, known, message.filter)
        case rl.Project():
            encode_project(encoder, known, message.project)
        case rl.Sort():
            encode_sort(encoder, known, message.sort)
        case rl.Fetch():
            encode_fetch(encoder, known, message.fetch)
        case rl.Aggregate():
            encode_aggregate(encoder, known, message.aggregate)
        case rl.Join():
            encode_join(encoder, known, message.join)
        case rl.Cross():
            encode_cross(encoder, known, message.cross)
        case rl.Set():
            encode_set(encoder, known, message.set)
        case rl.TopN():
            encode_top_n(encoder, known, message.top_n)
        case rl.LateralJoin():
            encode_lateral_join(encoder, known, message.lateral_join)
        case _:
            from substrait_dsl.proto.seldom_relations import encode_seldom_relation

            mapping = encode_seldom_relation(encoder, known, message, mapping)
    encode_common(known, mapping, body_of(message))
    encoder.leave(rel, message)


def decode_relation(decoder: Decoder, message: pb.Rel, outer: Scope | None) -> Rel:
    """Read a relation, wherever it stands.

    Args:
        decoder: the state of decoding.
        message: the relation.
        outer: the row around the subquery that the relation is part of, None outside of subqueries.

    Raises:
        PlanFormatError: if it says something that cannot be; or another error of the library, of the rule it breaks.
        UnsupportedError: for a kind of relation that is not read.
    """
    # From the innermost input outwards, which nests no calls: for deep calls Python has to ask the system for memory,
    # over and over again, which would take an eighth of the time.
    pipeline: list[tuple[pb.Rel, str | None, Any]] = []
    inner: pb.Rel | None = message
    while inner is not None:
        rel_type = inner.WhichOneof("rel_type")
        body: Any = getattr(inner, rel_type or "", None)
        pipeline.append((inner, rel_type, body))
        field = _FIRST_INPUT.get(rel_type)
        inner = getattr(body, field) if field is not None and body.HasField(field) else None
    for step, rel_type, body in reversed(pipeline):
        try:
            if rel_type == "reference":
                rel = decoder.subtree(body.subtree_ordinal, outer)
            else:
                rel = decode_common(decoder, _reader(rel_type)(decoder, body, outer), body)
                decoder.sizes.check_schema(rel.schema)
        except SubstraitDslError:
            decoder.mark_location(step)
            raise
        if step is not message:
            decoder.ready = step, rel
    return rel


def _reader(rel_type: str | None) -> Callable[[Decoder, Any, Scope | None], Rel]:
    """Return the function that decodes a relation."""
    if rel_type is None:
        raise PlanFormatError("a relation is missing, or does not set its rel_type")
    read = RELATIONS.get(rel_type)
    if read is None:
        from substrait_dsl.proto.seldom_relations import SELDOM_RELATIONS

        read = SELDOM_RELATIONS.get(rel_type)
    if read is None:
        raise UnsupportedError(f"relations of type {rel_type} cannot be read")
    return read


_FIRST_INPUT: dict[str | None, str] = {
    relation.name: field
    for relation in pb.Rel.DESCRIPTOR.oneofs_by_name["rel_type"].fields
    for field in ("input", "left")
    if relation.message_type is not None and field in relation.message_type.fields_by_name
}
"""The field of each relation with the input that is decoded first, in the same subquery."""


# --- one input


def encode_filter(encoder: Encoder, rel: rl.Filter, message: pb.FilterRel) -> None:
    """Write a filter."""
    encode_relation(encoder, rel.input, message.input)
    encoder.expression(rel.condition, message.condition)


def decode_filter(decoder: Decoder, message: pb.FilterRel, outer: Scope | None) -> Rel:
    """Read a filter."""
    rel = decoder.relation(message.input, outer)
    scope = row_of(decoder, message, outer, (rel, message.input))
    condition = decoder.expression(message.condition, scope)
    if decoder.producer.repeats_operands and scope.anchor is None:
        below, replace = compute_once(rel, (condition,))
        return rl.emit(rl.Filter(below, replace(condition)), range(len(rel.schema)))
    return rl.Filter(rel, condition, anchor=scope.anchor)


def encode_project(encoder: Encoder, rel: rl.Project, message: pb.ProjectRel) -> None:
    """Write a project."""
    encode_relation(encoder, rel.input, message.input)
    for expression in rel.expressions:
        encoder.expression(expression, message.expressions.add())


def decode_project(decoder: Decoder, message: pb.ProjectRel, outer: Scope | None) -> Rel:
    """Read a project; one of no expressions is its input (spec decision 55)."""
    rel = decoder.relation(message.input, outer)
    if not message.expressions:
        decoder.report(FindingCode.PROJECT_EMPTY, "a project has no expressions; read as its input", message)
        return rel
    scope = row_of(decoder, message, outer, (rel, message.input))
    expressions = tuple([decoder.expression(expression, scope) for expression in message.expressions])
    if decoder.producer.repeats_operands and scope.anchor is None:
        width = len(rel.schema)
        rel, replace = compute_once(rel, expressions)
        expressions = tuple(map(replace, expressions))
        if added := len(rel.schema) - width:
            project = rl.Project(rel, expressions, names_beside(expressions, rel))
            mapping = (*range(width), *range(width + added, width + added + len(expressions)))
            return rl.Emit(project, mapping)
    project = rl.Project(rel, expressions, names_beside(expressions, rel), anchor=scope.anchor)
    if decoder.projects_put_out_expressions and message.common.WhichOneof("emit_kind") is None:
        text = f"a project does not say what it puts out: by {decoder.producer.title} its expressions only"
        decoder.report(FindingCode.PRODUCER_MEANING, text, message)
        width = len(rel.schema)
        return rl.Emit(project, tuple(range(width, width + len(expressions))))
    return project


def encode_sort(encoder: Encoder, rel: rl.Sort, message: pb.SortRel) -> None:
    """Write a sort."""
    encode_relation(encoder, rel.input, message.input)
    for key in rel.keys:
        encode_sort_key(encoder, key, message.sorts.add())


def decode_sort(decoder: Decoder, message: pb.SortRel, outer: Scope | None) -> rl.Sort:
    """Read a sort."""
    rel = decoder.relation(message.input, outer)
    scope = row_of(decoder, message, outer, (rel, message.input))
    keys = tuple(decode_sort_key(decoder, key, scope) for key in message.sorts)
    return rl.Sort(rel, keys, anchor=scope.anchor)


def encode_fetch(encoder: Encoder, rel: rl.Fetch, message: pb.FetchRel) -> None:
    """Write a fetch; without a count it is all rows, without an offset 0."""
    encode_relation(encoder, rel.input, message.input)
    if rel.offset is not None:
        encoder.expression(rel.offset, message.offset_expr)
    if rel.count is not None:
        encoder.expression(rel.count, message.count_expr)


def decode_fetch(decoder: Decoder, message: pb.FetchRel, outer: Scope | None) -> rl.Fetch:
    """Read a fetch."""
    rel = decoder.relation(message.input, outer)
    scope = row_of(decoder, message, outer, (rel, message.input))
    count, offset = (
        decoder.expression(getattr(message, name), scope) if message.HasField(name) else None
        for name in ("count_expr", "offset_expr")
    )
    return rl.Fetch(rel, count, offset, anchor=scope.anchor)


def encode_top_n(encoder: Encoder, rel: rl.TopN, message: pb.TopNRel) -> None:
    """Write a top-n; without a count it is all rows, without an offset 0 (spec decision 29)."""
    encode_relation(encoder, rel.input, message.input)
    for key in rel.keys:
        encode_sort_key(encoder, key, message.sorts.add())
    if rel.offset is not None:
        encoder.expression(rel.offset, message.offset)
    if rel.count is not None:
        encoder.expression(rel.count, message.count)
    message.mode = FETCH_MODE[rel.mode]


def decode_top_n(decoder: Decoder, message: pb.TopNRel, outer: Scope | None) -> rl.TopN:
    """Read a top-n; without a mode it puts out no ties (spec decision 29)."""
    rel = decoder.relation(message.input, outer)
    scope = row_of(decoder, message, outer, (rel, message.input))
    mode: rl.FetchMode = "rows_only"
    if message.mode == pb.FETCH_MODE_UNSPECIFIED:
        decoder.report(FindingCode.FETCH_MODE, "a top-n does not set its mode; read as rows_only", message)
    else:
        mode = name_for(FETCH_MODE, message.mode, pb.FetchMode, "TopNRel.mode")
    keys = tuple(decode_sort_key(decoder, key, scope) for key in message.sorts)
    count, offset = (
        decoder.expression(getattr(message, name), scope) if message.HasField(name) else None
        for name in ("count", "offset")
    )
    return rl.TopN(rel, keys, count, offset, mode, anchor=scope.anchor)


def encode_aggregate(encoder: Encoder, rel: rl.Aggregate, message: pb.AggregateRel) -> None:
    """Write an aggregate; one over all rows has no groupings."""
    encode_relation(encoder, rel.input, message.input)
    for key in rel.keys:
        encoder.expression(key, message.grouping_expressions.add())
    for grouping_set in rel.grouping_sets:
        message.groupings.add().expression_references.extend(grouping_set)
    for measure in rel.measures:
        encode_measure(encoder, measure, message.measures.add())
    if rel.method != _ANY_METHOD:
        encode_choices({"aggregate_method": rel.method}, message.common)


_ANY_METHOD: rl.AggregateMethod = "any"

SET_INDEX = "grouping_set"
"""The name of the grouping set index."""


def decode_aggregate(decoder: Decoder, message: pb.AggregateRel, outer: Scope | None) -> Rel:
    """Read an aggregate, with the columns that its producer counts in it."""
    rel = decoder.relation(message.input, outer)
    scope = row_of(decoder, message, outer, (rel, message.input))
    keys = tuple(decoder.expression(key, scope) for key in message.grouping_expressions)
    sets = tuple(tuple(grouping.expression_references) for grouping in message.groupings)
    measures = tuple(decode_measure(decoder, measure, scope) for measure in message.measures)
    if decoder.producer.repeats_operands and scope.anchor is None:
        calls = [measure.function for measure in measures if measure.filter is None]
        arguments = [each for call in calls for each in call.arguments if isinstance(each, Expression)]
        rel, replace = compute_once(rel, (*keys, *arguments))
        keys, measures = tuple(map(replace, keys)), tuple(map(replace, measures))
    names = names_of_groups(keys, measures, rel) + ((SET_INDEX,) if len(sets) > 1 else ())
    method = decode_choices(message.common).get("aggregate_method", _ANY_METHOD)
    aggregate = rl.Aggregate(rel, keys, sets, measures, names, method, anchor=scope.anchor)
    return decoder.producer.aggregate_columns(decoder, aggregate, message)


# --- several inputs


def encode_set(encoder: Encoder, rel: rl.Set, message: pb.SetRel) -> None:
    """Write a set operation, the primary input first."""
    message.op = SET_OP[rel.op]
    for relation in rel.relations:
        encode_relation(encoder, relation, message.inputs.add())


def decode_set(decoder: Decoder, message: pb.SetRel, outer: Scope | None) -> rl.Set:
    """Read a set operation."""
    op = name_for(SET_OP, message.op, pb.SetRel.SetOp, "SetRel.op")
    inputs = tuple(decoder.relation(rel, outer) for rel in message.inputs)
    decoder.sizes.count_inputs(sum(map(len, {id(rel.schema): rel.schema for rel in inputs}.values())))
    return rl.Set(inputs, op)


RELATIONS: dict[str, Callable[[Decoder, Any, Scope | None], Rel]] = {
    "read": decode_read,
    "filter": decode_filter,
    "project": decode_project,
    "sort": decode_sort,
    "fetch": decode_fetch,
    "aggregate": decode_aggregate,
    "top_n": decode_top_n,
    "join": decode_join,
    "lateral_join": decode_lateral_join,
    "cross": decode_cross,
    "set": decode_set,
}
"""The decoder of each ``Rel.rel_type`` but those of `seldom_relations`; references have none."""
