"""``RelCommon``: what the messages of all relations have in common.

Specification: https://substrait.io/relations/common_fields/ and ``RelCommon`` in ``algebra.proto``.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import attrs
from substrait import algebra_pb2 as pb

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.common import Common, Computation, ComputationType, Hint, Stats
from substrait_dsl.algebra.findings import FindingCode
from substrait_dsl.algebra.node import Rel
from substrait_dsl.errors import PlanFormatError, SubstraitDslError, UnsupportedError
from substrait_dsl.proto.enums import COMPUTATION_TYPE, name_for
from substrait_dsl.proto.extensions import decode_advanced_extension, decode_own_extension, encode_advanced_extension
from substrait_dsl.proto.paths import path_of
from substrait_dsl.proto.private_extensions import decode_choices, without_choices

if TYPE_CHECKING:
    from substrait_dsl.proto.decoder import Decoder

CHOICES: dict[str, frozenset[str]] = {
    "ReadRel": frozenset({"output_properties", "name_values"}),
    "AggregateRel": frozenset({"aggregate_method"}),
    "ExpandRel": frozenset({"expand_fields", "expand_emit"}),
    "ConsistentPartitionWindowRel": frozenset({"window_method"}),
    "ExchangeRel": frozenset({"constrained_to_count"}),
    **dict.fromkeys(
        ("ExtensionLeafRel", "ExtensionSingleRel", "ExtensionMultiRel"), frozenset({"schema", "output_properties"})
    ),
}
"""The private choices of a relation (`choices`), by the name of its own message."""


def encode_common(rel: Rel, mapping: tuple[int, ...] | None, body: Any) -> None:
    """Write the ``RelCommon`` of a relation: emit, hints and extensions.

    Args:
        rel: the relation.
        mapping: what the emit that stands on it emits; None if there is none.
        body: the message of the relation's kind, such as ``FilterRel``.
    """
    message: pb.RelCommon = body.common
    if mapping is None:
        message.direct.SetInParent()
    else:
        message.emit.SetInParent()  # an emit of no columns is not the same as no emit
        message.emit.output_mapping.extend(mapping)
    if rel.common is not None:
        _encode_hint_and_extensions(rel.common, body)


def _encode_hint_and_extensions(common: Common, body: Any) -> None:
    if common.hint is not None:
        encode_hint(common.hint, body.common.hint)
    encode_advanced_extension(common.extension, body.common.advanced_extension)
    if common.own_extension is not None:
        encode_advanced_extension(common.own_extension, body.advanced_extension)


def decode_common(decoder: Decoder, rel: Rel, body: Any) -> Rel:
    """Read the ``RelCommon`` of a relation; return the relation with it, under an emit if there is one.

    Args:
        decoder: the state of decoding.
        rel: what the relation is without it.
        body: the message of the relation's kind, such as ``FilterRel``.
    """
    message: pb.RelCommon = body.common
    if message.HasField("rel_anchor"):
        _check_number(decoder, message)
    common = _decode_hint_and_extensions(decoder, message, body)
    mapping = tuple(message.emit.output_mapping) if message.HasField("emit") else None
    # What is read from another message, a project that adds nothing, has its own mapping settled already.
    if type(body) in _JOIN_MESSAGES:
        from substrait_dsl.proto.old_joins import decode_old_mapping  # not needed for writing

        mapping = decode_old_mapping(decoder, rel, body, mapping)
    if type(body) is pb.ExpandRel and isinstance(rel, rl.Expand):
        from substrait_dsl.proto.window_relations import decode_expand_mapping

        mapping = decode_expand_mapping(body, rel, mapping)
    if common is not None:
        rel = _with_common(decoder, rel, common, body)
    if mapping is None:
        return rel
    if not isinstance(rel, rl.Emit):
        return rl.Emit(rel, mapping)
    return rl.emit(rel, mapping)  # of a project that adds nothing to an input which is an emit itself


_JOIN_MESSAGES = frozenset({pb.JoinRel, pb.LateralJoinRel, pb.HashJoinRel, pb.MergeJoinRel, pb.NestedLoopJoinRel})


def _check_number(decoder: Decoder, message: pb.RelCommon) -> None:
    """Raise `PlanFormatError` for an invalid ``rel_anchor``, or one of another relation."""
    number = message.rel_anchor
    if number == 0:
        decoder.mark_location(message)
        raise PlanFormatError("the number of a relation (rel_anchor) is at least 1, got 0")
    first = decoder.numbered.setdefault(number, message)
    if first is not message:  # a tree that is read in several places is one message
        decoder.mark_location(message)
        place = "" if decoder.document is None else f", the first at {path_of(decoder.document, first)}"
        raise PlanFormatError(f"two relations have the number {number} (rel_anchor){place}")


def _decode_hint_and_extensions(decoder: Decoder, message: pb.RelCommon, body: Any) -> Common | None:
    hint = _decode_valid_hint(decoder, message.hint) if message.HasField("hint") else None
    extension = own_extension = None
    if message.HasField("advanced_extension"):
        extension = without_choices(decode_advanced_extension(message.advanced_extension))
        unknown = decode_choices(message).keys() - CHOICES.get(body.DESCRIPTOR.name, frozenset())
        if unknown:
            text = ", ".join(sorted(unknown))
            decoder.report(
                FindingCode.CHOICE_UNKNOWN,
                f"{body.DESCRIPTOR.name} has a field of a newer version; dropped: {text}",
                message,
            )
    if _has_own_extension(body.DESCRIPTOR) and body.HasField("advanced_extension"):
        own_extension = decode_advanced_extension(body.advanced_extension)
    if hint is None and extension is None and own_extension is None:
        return None
    return Common(hint, extension, own_extension)


def _decode_valid_hint(decoder: Decoder, message: pb.RelCommon.Hint) -> Hint | None:
    """Return a hint; None for one that breaks a rule, which is reported: a consumer may ignore hints."""
    try:
        return decode_hint(decoder, message)
    except UnsupportedError:  # there are more findings than a report may hold
        raise
    except SubstraitDslError as error:
        decoder.report(FindingCode.HINT_IMPOSSIBLE, f"a hint is impossible: {error.message}; dropped", message)
        return None


@functools.cache
def _has_own_extension(descriptor: Any) -> bool:
    """Whether messages of a relation have an ``advanced_extension`` beside that of ``RelCommon``."""
    return "advanced_extension" in descriptor.fields_by_name


def _with_common(decoder: Decoder, rel: Rel, common: Common, body: Any) -> Rel:
    if rel.common is None and not isinstance(rel, rl.Emit):
        return attrs.evolve(rel, common=common)
    # A project that adds nothing is read as its input, which has hints and extensions of its own.
    for extension in (common.extension, common.own_extension):
        if extension is not None and extension.enhancement is not None:
            url = extension.enhancement.type_url
            raise UnsupportedError(f'the enhancement "{url}" of a project of no expressions cannot be read')
    decoder.report(
        FindingCode.HINT_IMPOSSIBLE, "the hints and extensions of a project of no expressions are dropped", body
    )
    return rel


# --- hints


def encode_hint(hint: Hint, message: pb.RelCommon.Hint) -> None:
    """Write a hint."""
    message.SetInParent()
    if hint.stats is not None:
        encode_stats(hint.stats, message.stats)
    if hint.constraint is not None:
        encode_advanced_extension(hint.constraint, message.constraint.advanced_extension)
    message.alias = hint.alias or ""
    message.output_names.extend(hint.output_names)
    for computation in hint.saved:
        saved = message.saved_computations.add()
        saved.computation_id = computation.id
        saved.type = COMPUTATION_TYPE[computation.type]
        encode_advanced_extension(computation.extension, saved.advanced_extension)
    for computation in hint.loaded:
        loaded = message.loaded_computations.add()
        loaded.computation_id_reference = computation.id
        loaded.type = COMPUTATION_TYPE[computation.type]
        encode_advanced_extension(computation.extension, loaded.advanced_extension)
    encode_advanced_extension(hint.extension, message.advanced_extension)


def decode_hint(decoder: Decoder, message: pb.RelCommon.Hint) -> Hint:
    """Read a hint."""
    return Hint(
        decode_stats(message.stats) if message.HasField("stats") else None,
        decode_own_extension(message.constraint),
        message.alias or None,
        tuple(message.output_names),
        tuple(_decode_computation(decoder, saved, saved.computation_id) for saved in message.saved_computations),
        tuple(
            _decode_computation(decoder, loaded, loaded.computation_id_reference)
            for loaded in message.loaded_computations
        ),
        decode_own_extension(message),
    )


def encode_stats(stats: Stats, message: pb.RelCommon.Hint.Stats) -> None:
    """Write the expected statistics of a relation's output; 0 means unknown."""
    message.SetInParent()
    message.row_count = stats.row_count or 0
    message.record_size = stats.record_size or 0
    encode_advanced_extension(stats.extension, message.advanced_extension)


def decode_stats(message: pb.RelCommon.Hint.Stats) -> Stats:
    """Read the expected statistics of a relation's output."""
    return Stats(message.row_count or None, message.record_size or None, decode_own_extension(message))


def _decode_computation(decoder: Decoder, message: Any, number: int) -> Computation:
    computation_type: ComputationType = "unknown"
    name = message.DESCRIPTOR.name
    if message.type == pb.RelCommon.Hint.COMPUTATION_TYPE_UNSPECIFIED:
        decoder.report(FindingCode.COMPUTATION_TYPE, f"{name} does not set its type; read as unknown", message)
    else:
        computation_type = name_for(COMPUTATION_TYPE, message.type, pb.RelCommon.Hint.ComputationType, f"{name}.type")
    return Computation(number, computation_type, decode_own_extension(message))
