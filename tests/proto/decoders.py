"""What the tests of reading share: a decoder with the declarations of a plan."""

from __future__ import annotations

from substrait.plan_pb2 import Plan

from substrait_dsl.catalog import standard_catalog
from substrait_dsl.proto.declarations import decode_declarations
from substrait_dsl.proto.decoder import Decoder
from substrait_dsl.proto.expressions import decode_expression
from substrait_dsl.proto.relations import decode_relation
from substrait_dsl.proto.types import decode_type_aliases


def decoder_of(plan: Plan | None = None) -> Decoder:
    """A decoder that has read what a plan declares."""
    decoder = Decoder(standard_catalog(), decode_relation, decode_expression)
    if plan is not None:
        decode_declarations(decoder, plan)
        decode_type_aliases(decoder, plan.type_aliases)
    return decoder
