"""Extension relations as messages of ``algebra.proto``: a message of an extension, over any number of inputs.

Specification: ``ExtensionLeafRel``, ``ExtensionSingleRel`` and ``ExtensionMultiRel``. Their columns are agreed on
elsewhere: our plans declare them in a private extension (`private_extensions`), so that they can be read again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from substrait import algebra_pb2 as pb

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.properties import Properties
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.algebra.type_text import parse_type
from substrait_dsl.algebra.types import Type, UserDefined
from substrait_dsl.errors import PlanFormatError, UnsupportedError
from substrait_dsl.proto.encoder import Encoder
from substrait_dsl.proto.exchange import decode_capture
from substrait_dsl.proto.extensions import decode_any, encode_any
from substrait_dsl.proto.private_extensions import (
    Choices,
    choices_in,
    declared_properties,
    decode_choices,
    encode_choices,
    integer_value,
    message_of,
    properties_choice,
    read_choice,
)

if TYPE_CHECKING:
    from substrait_dsl.proto.decoder import Decoder
    from substrait_dsl.proto.scopes import Scope

ExtensionMessage = pb.ExtensionLeafRel | pb.ExtensionSingleRel | pb.ExtensionMultiRel


def decode_extension_leaf(decoder: Decoder, message: pb.ExtensionLeafRel, outer: Scope | None) -> rl.ExtensionLeaf:
    """Read an extension relation without inputs."""
    return rl.ExtensionLeaf(decode_any(message.detail), *decode_declared(decoder, message))


def encode_extension_single(encoder: Encoder, rel: rl.ExtensionSingle, message: pb.ExtensionSingleRel) -> None:
    """Write an extension relation of one input."""
    encoder.relation(rel.input, message.input)
    encode_declared(rel, message)


def decode_extension_single(
    decoder: Decoder, message: pb.ExtensionSingleRel, outer: Scope | None
) -> rl.ExtensionSingle | rl.MergingCapture | rl.SimpleCapture | rl.Unnest:
    """Read an extension relation of one input; a private one is a capture or an unnest."""
    detail = decode_any(message.detail)
    own = choices_in(detail)
    rel = decoder.relation(message.input, outer)
    if own is not None and "schema" not in decode_choices(message.common):
        return decode_unnest(rel, own) if "unnest" in own else decode_capture(rel, own)
    return rl.ExtensionSingle(detail, *decode_declared(decoder, message), input=rel)


def encode_extension_multi(encoder: Encoder, rel: rl.ExtensionMulti, message: pb.ExtensionMultiRel) -> None:
    """Write an extension relation of any number of inputs."""
    for relation in rel.relations:
        encoder.relation(relation, message.inputs.add())
    encode_declared(rel, message)


def decode_extension_multi(decoder: Decoder, message: pb.ExtensionMultiRel, outer: Scope | None) -> rl.ExtensionMulti:
    """Read an extension relation of any number of inputs."""
    relations = tuple(decoder.relation(relation, outer) for relation in message.inputs)
    return rl.ExtensionMulti(decode_any(message.detail), *decode_declared(decoder, message), relations=relations)


# --- a relation of ours, which the specification lacks


def encode_unnest(encoder: Encoder, rel: rl.Unnest, message: pb.ExtensionSingleRel) -> None:
    """Write an unnest: the position of the column with the lists."""
    encoder.relation(rel.input, message.input)
    encode_any(message_of({"unnest": rel.column}), message.detail)


def decode_unnest(rel: Rel, choices: Choices) -> rl.Unnest:
    """Read an unnest of a column of a relation."""
    match choices:
        case {"unnest": int() | float() as column, **others} if not others and not isinstance(column, bool):
            return rl.Unnest(rel, read_choice("unnest", choices, integer_value, 0))
        case _:
            raise PlanFormatError(f"an extension_single of ours cannot be understood: {dict(choices)}")


# --- what is declared of their output


def encode_declared(rel: rl.ExtensionLeaf | rl.ExtensionSingle | rl.ExtensionMulti, message: ExtensionMessage) -> None:
    """Write the message of a relation, and the declaration of its output."""
    encode_any(rel.detail, message.detail)
    encode_choices({"schema": _schema_choice(rel.declared_schema), **properties_choice(rel.declared)}, message.common)


def decode_declared(decoder: Decoder, message: ExtensionMessage) -> tuple[NamedStruct, Properties]:
    """Read the declared output of a relation: from the plan, if we wrote it, else from the catalogue.

    Raises `UnsupportedError` for one of which neither says it.
    """
    choices = decode_choices(message.common)
    schema = read_choice("schema", choices, _read_schema, decoder.catalog.relations.get(message.detail.type_url))
    if schema is None:
        raise UnsupportedError(
            f'nothing says which columns the relation "{message.detail.type_url}" has',
            hint='read it with catalog=standard_catalog().with_relation(type_url, {"column": "i64"})',
        )
    return schema, declared_properties(choices)


def _schema_choice(schema: NamedStruct) -> Choices:
    urns: dict[str, str] = {}
    for type_ in schema.types:
        for name, urn in _declarations(type_):
            if urns.setdefault(name, urn) != urn:
                raise UnsupportedError(
                    f'the schema of an extension relation has two types called "{name}", of {urns[name]} and {urn}',
                    hint="no plan can say which is which",
                )
    return {"names": list(schema.depth_first_names()), "types": list(map(str, schema.types)), "urns": urns}


def _read_schema(schema: Mapping[str, Any]) -> NamedStruct:
    urns = {str(name): str(urn) for name, urn in schema["urns"].items()}
    types = [parse_type(text, urns=urns) for text in schema["types"]]
    return NamedStruct.from_types(types, [str(name) for name in schema["names"]])


def _declarations(type_: Type) -> Iterator[tuple[str, str]]:
    """Return the names and the URNs of the extension types in the text of a type."""
    if type_.variation is not None:
        yield type_.variation.name, type_.variation.urn
    if isinstance(type_, UserDefined):
        yield type_.name, type_.urn
    for inner in type_.type_parameters if isinstance(type_, UserDefined) else type_.parameters:
        if isinstance(inner, Type):
            yield from _declarations(inner)
