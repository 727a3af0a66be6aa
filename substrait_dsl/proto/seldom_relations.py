"""Relations that few plans have, as messages of ``algebra.proto``: a program that has none does not load them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, assert_never

from substrait import algebra_pb2 as pb

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.node import Rel
from substrait_dsl.proto.encoder import Encoder
from substrait_dsl.proto.exchange import decode_exchange, encode_capture, encode_exchange
from substrait_dsl.proto.extension_relations import (
    decode_extension_leaf,
    decode_extension_multi,
    decode_extension_single,
    encode_declared,
    encode_extension_multi,
    encode_extension_single,
    encode_unnest,
)
from substrait_dsl.proto.physical_joins import (
    decode_hash_join,
    decode_merge_join,
    decode_nested_loop_join,
    encode_hash_join,
    encode_key_join,
    encode_nested_loop_join,
)
from substrait_dsl.proto.window_relations import decode_expand, decode_window, encode_expand, encode_window
from substrait_dsl.proto.writes import (
    decode_ddl,
    decode_update,
    decode_write,
    encode_ddl,
    encode_update,
    encode_write,
)

if TYPE_CHECKING:
    from substrait_dsl.proto.decoder import Decoder
    from substrait_dsl.proto.scopes import Scope

SeldomRelation = (
    rl.HashJoin
    | rl.MergeJoin
    | rl.NestedLoopJoin
    | rl.Exchange
    | rl.MergingCapture
    | rl.SimpleCapture
    | rl.Window
    | rl.Expand
    | rl.Unnest
    | rl.Write
    | rl.Update
    | rl.Ddl
    | rl.ExtensionLeaf
    | rl.ExtensionSingle
    | rl.ExtensionMulti
)


def encode_seldom_relation(
    encoder: Encoder, rel: SeldomRelation, message: pb.Rel, mapping: tuple[int, ...] | None
) -> tuple[int, ...] | None:
    """Write such a relation itself; return the mapping of the emit over it, in positions of the written fields."""
    match rel:
        case rl.HashJoin():
            encode_hash_join(encoder, rel, message.hash_join)
        case rl.MergeJoin():
            encode_key_join(encoder, rel, message.merge_join)
        case rl.NestedLoopJoin():
            encode_nested_loop_join(encoder, rel, message.nested_loop_join)
        case rl.Exchange():
            encode_exchange(encoder, rel, message.exchange)
        case rl.MergingCapture() | rl.SimpleCapture():
            encode_capture(encoder, rel, message.extension_single)
        case rl.Window():
            encode_window(encoder, rel, message.window)
        case rl.Expand():
            return encode_expand(encoder, rel, message.expand, mapping)
        case rl.Unnest():
            encode_unnest(encoder, rel, message.extension_single)
        case rl.Write():
            encode_write(encoder, rel, message.write)
        case rl.Update():
            encode_update(encoder, rel, message.update)
        case rl.Ddl():
            encode_ddl(encoder, rel, message.ddl)
        case rl.ExtensionLeaf():
            encode_declared(rel, message.extension_leaf)
        case rl.ExtensionSingle():
            encode_extension_single(encoder, rel, message.extension_single)
        case rl.ExtensionMulti():
            encode_extension_multi(encoder, rel, message.extension_multi)
        case _:
            assert_never(rel)
    return mapping


SELDOM_RELATIONS: dict[str, Callable[[Decoder, Any, Scope | None], Rel]] = {
    "hash_join": decode_hash_join,
    "merge_join": decode_merge_join,
    "nested_loop_join": decode_nested_loop_join,
    "exchange": decode_exchange,
    "window": decode_window,
    "expand": decode_expand,
    "write": decode_write,
    "update": decode_update,
    "ddl": decode_ddl,
    "extension_leaf": decode_extension_leaf,
    "extension_single": decode_extension_single,
    "extension_multi": decode_extension_multi,
}
"""The decoder of the ``Rel.rel_type`` of each of them."""
