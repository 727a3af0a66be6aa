"""Extended expressions as messages of ``extended_expression.proto``, as bytes and as JSON.

Specification: https://substrait.io/expressions/extended_expression/.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from substrait import extended_expression_pb2 as pb

from substrait_dsl.algebra.expressions import AggregateFunction, Expression
from substrait_dsl.algebra.extended import ExpressionReference, ExtendedExpression
from substrait_dsl.algebra.findings import Finding, FindingCode, Weight
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.algebra.settings import OUTER_REFERENCES_OF, Encoding, OuterReferences
from substrait_dsl.catalog import Catalog
from substrait_dsl.errors import LiteralError, PlanFormatError, UnsupportedError
from substrait_dsl.proto.calls import decode_aggregate_function, encode_aggregate_function
from substrait_dsl.proto.declarations import decode_declarations
from substrait_dsl.proto.detached import check_detached
from substrait_dsl.proto.document_decoder import decode_document, read_document
from substrait_dsl.proto.encoder import Encoder
from substrait_dsl.proto.expressions import encode_expression, encode_expression_body
from substrait_dsl.proto.extensions import decode_advanced_extension, encode_advanced_extension
from substrait_dsl.proto.names import decode_column_names
from substrait_dsl.proto.plan_layout import lay_out
from substrait_dsl.proto.relations import encode_relation
from substrait_dsl.proto.scopes import Scope
from substrait_dsl.proto.shallow_plans import Layout, inline_layout, is_shallow
from substrait_dsl.proto.shared_subtrees import Detached
from substrait_dsl.proto.subquery_depth import require_readable
from substrait_dsl.proto.types import MAX_SCHEMA_NESTING, DeepTypeError, decode_named_struct, encode_named_struct
from substrait_dsl.proto.versions import decode_version, encode_version

if TYPE_CHECKING:
    from substrait_dsl.proto.decoder import Decoder


def encode_extended_expression(
    extended: ExtendedExpression, *, encoding: Encoding = "spec", outer_references: OuterReferences | None = None
) -> pb.ExtendedExpression:
    """Encode an extended expression as the specification asks of a careful producer.

    Every message stays within the 100 levels that parsers accept: deeper expressions are detached. Equal extended
    expressions give equal messages.

    Args:
        extended: the expressions.
        encoding: as for `encode_plan`.
        outer_references: how a subquery names the row of a relation around it: as for `encode_plan`. The row of the
            extended expression itself has no number, and is always referred to by ``steps_out``.

    Returns:
        A ``substrait.ExtendedExpression``.

    Raises:
        LiteralError: a value has no place in the message of its type (a lone surrogate in a text).
        UnsupportedError: something is too deep or too large to be written, or a relation in a subquery would have to
            stand apart (``ReferenceRel``), which only a plan has a place for.
    """
    message = _encode_document(extended, outer_references or OUTER_REFERENCES_OF[encoding])
    if encoding == "legacy":
        from substrait_dsl.proto.legacy_fields import add_legacy_fields  # few are written so

        add_legacy_fields(message)
    return message


def _encode_document(extended: ExtendedExpression, outer_references: OuterReferences) -> pb.ExtendedExpression:
    if is_shallow(extended.nodes):
        try:
            return _encode(extended, inline_layout(extended.nodes), outer_references)
        except DeepTypeError:
            pass  # the expressions are low, but a type in them is not
    layout = lay_out(extended.nodes)
    if layout.separate:
        raise UnsupportedError(
            "a relation in a subquery of the extended expression is too deep, used too often, or to be stored once: it "
            "would be a separate tree (ReferenceRel), which only a plan has a place for",
            hint="write a plan that projects the expression",
        )
    require_readable(extended.nodes, layout)
    return _encode(extended, layout, outer_references)


def _encode(extended: ExtendedExpression, layout: Layout, outer_references: OuterReferences) -> pb.ExtendedExpression:
    message = pb.ExtendedExpression()
    encode_version(message.version)
    encoder = Encoder(message, layout, outer_references, encode_relation, encode_expression)
    encoder.start_tree(message, extended.anchor)
    try:
        _encode_base_schema(encoder, extended.base_schema, message)
        for referred in extended.referred:
            encode_expression_reference(encoder, referred, message.referred_expr.add())
        encoder.write_detached(encode_expression_body)
    except UnicodeEncodeError as error:
        raise LiteralError(f"an expression holds Unicode text only, this is none: {error.object!r}") from error
    message.expected_type_urls.extend(extended.expected_type_urls)
    encode_advanced_extension(extended.advanced_extensions, message.advanced_extensions)
    return message


def _encode_base_schema(encoder: Encoder, schema: NamedStruct, message: pb.ExtendedExpression) -> None:
    declarations = encoder.declarations
    nesting, declarations.type_nesting = declarations.type_nesting, MAX_SCHEMA_NESTING
    try:
        encode_named_struct(declarations, schema, message.base_schema)
    except DeepTypeError:
        raise UnsupportedError("a type of the base schema is nested too deeply to be written") from None
    declarations.type_nesting = nesting


def decode_extended_expression(
    message: pb.ExtendedExpression, catalog: Catalog | None = None, *, strict: bool | Weight = False
) -> tuple[ExtendedExpression, tuple[Finding, ...]]:
    """Decode an extended expression. Arguments, results and errors as of `decode_plan`."""
    return decode_document(message, _decode, catalog, strict)


def _decode(decoder: Decoder, message: pb.ExtendedExpression) -> ExtendedExpression:
    version = decode_version(decoder, message)
    decode_declarations(decoder, message)
    if not message.referred_expr:
        raise PlanFormatError("the extended expression has no expressions")
    schema = NamedStruct(())
    if message.HasField("base_schema"):
        schema = decode_named_struct(decoder, message.base_schema)
    else:
        decoder.report(
            FindingCode.BASE_SCHEMA, "there is no base_schema: the expressions are taken to see no columns", message
        )
    decoder.detached = Detached(message.detached_expressions)
    scope = Scope(schema.types, None)
    expressions = tuple(decode_expression_reference(decoder, referred, scope) for referred in message.referred_expr)
    check_detached(decoder, decoder.detached)
    extended = message.HasField("advanced_extensions")
    return ExtendedExpression(
        schema,
        expressions,
        tuple(message.expected_type_urls),
        decode_advanced_extension(message.advanced_extensions) if extended else None,
        anchor=scope.anchor,
        version=version,
    )


def encode_expression_reference(
    encoder: Encoder, referred: ExpressionReference, message: pb.ExpressionReference
) -> None:
    """Write an expression, or an aggregate function, with the names of its column."""
    if isinstance(referred.expression, AggregateFunction):
        encode_aggregate_function(encoder, referred.expression, message.measure)
    else:
        encoder.expression(referred.expression, message.expression)
    message.output_names.extend(referred.names)


def decode_expression_reference(decoder: Decoder, message: pb.ExpressionReference, scope: Scope) -> ExpressionReference:
    """Read an expression, or an aggregate function, with the names of its column."""
    with decoder.part(message):
        expression: Expression | AggregateFunction
        match message.WhichOneof("expr_type"):
            case "expression":
                expression = decoder.expression(message.expression, scope)
            case "measure":
                with decoder.part(message.measure):
                    expression = decode_aggregate_function(decoder, message.measure, scope)
            case _:
                raise PlanFormatError("an expression must set expression or measure")
        type_ = expression.output_type if isinstance(expression, AggregateFunction) else expression.type
        return ExpressionReference(expression, decode_column_names(decoder, type_, message))


def extended_from_bytes(
    data: bytes, catalog: Catalog | None = None, *, strict: bool | Weight = False
) -> tuple[ExtendedExpression, tuple[Finding, ...]]:
    """Decode the bytes of an extended expression of any version. Arguments, results and errors as of `decode_plan`."""
    from substrait_dsl.proto.legacy import modern_extended_expression  # not needed for writing

    return read_document(pb.ExtendedExpression, data, modern_extended_expression, _decode, catalog, strict)


def extended_from_json(
    text: str, catalog: Catalog | None = None, *, strict: bool | Weight = False
) -> tuple[ExtendedExpression, tuple[Finding, ...]]:
    """Decode the JSON of an extended expression of any version. Arguments, results and errors as of `decode_plan`."""
    from substrait_dsl.proto.legacy import modern_extended_expression_from_json

    return read_document(
        pb.ExtendedExpression,
        text,
        modern_extended_expression_from_json,
        _decode,
        catalog,
        strict,
    )
