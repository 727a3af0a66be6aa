"""The message of each step of a plan by itself, as JSON, for people who look at a plan."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
from google.protobuf.json_format import MessageToDict
from substrait.plan_pb2 import Plan, PlanRel

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.node import Rel
from substrait_dsl.errors import SubstraitDslError
from substrait_dsl.proto.encoder import Encoder, common_of
from substrait_dsl.proto.expressions import encode_expression, encode_expression_body
from substrait_dsl.proto.plan_layout import lay_out
from substrait_dsl.proto.relations import encode_relation, encode_relation_body
from substrait_dsl.proto.shallow_plans import Layout

MAX_CHARACTERS = 20_000
"""A longer message is cut, and says how much is missing."""


@attrs.frozen
class StepMessages:
    """The messages of the steps of a plan."""

    steps: Mapping[int, str]
    """The message of each relation, or why there is none, by the id of the relation."""
    declarations: str
    """The functions and types that the messages refer to."""


def step_messages(tops: Sequence[Rel], numbers: Mapping[int, int], steps: Sequence[Rel]) -> StepMessages:
    """Return the message of each step, with references in place of its inputs and subqueries.

    Args:
        tops: the relations at the top of the plan.
        numbers: the ordinals by which the messages refer to relations, by the ids of those.
        steps: all relations of the plan, subqueries after the relations around them.

    The message of an emit is that of its input, with the mapping of the emit.
    """
    message = Plan()
    try:
        laid_out = lay_out(tops)
    except SubstraitDslError as error:  # a part of it is too deep for messages
        return StepMessages({id(rel): _reason(error) for rel in steps}, "")
    layout = Layout((), frozenset(numbers), laid_out.detached, laid_out.type_nesting)
    encoder = Encoder(message, layout, "rel_reference", encode_relation, encode_expression)
    encoder.ordinals.update(numbers)
    trees: dict[int, PlanRel] = {}
    texts: dict[int, str] = {}
    # Who refers to a row is written before the row gets its anchor, and what an emit puts out before the emit.
    upwards = [*reversed(steps)]
    upwards.sort(key=lambda each: isinstance(each, rl.Emit))
    for rel in upwards:
        try:
            trees[id(rel)] = tree = _step_tree(encoder, rel, trees)
        except SubstraitDslError as error:
            texts[id(rel)] = _reason(error)
        else:
            texts[id(rel)] = _json(MessageToDict(tree if tree.detached_expressions else tree.rel))
    return StepMessages(texts, _json(MessageToDict(message)) if message.extensions else "")


def _step_tree(encoder: Encoder, rel: Rel, trees: Mapping[int, PlanRel]) -> PlanRel:
    """Return the message of one step, and the expressions that are detached from it."""
    tree = PlanRel()
    if isinstance(rel, rl.Emit) and rel.input.anchor is not None and id(rel.input) in trees:
        tree.CopyFrom(trees[id(rel.input)])  # a row that others refer to is written once
        common_of(tree.rel).emit.output_mapping.extend(rel.mapping)
        return tree
    encoder.start_tree(tree)
    encode_relation_body(encoder, rel, tree.rel)
    encoder.write_detached(encode_expression_body)
    return tree


def _reason(error: SubstraitDslError) -> str:
    return error.message


def _json(value: dict[str, Any]) -> str:
    """Return JSON in which what is not seen is an escape of JSON, which only texts have."""
    text = json.dumps(value, ensure_ascii=False)
    if not text.isprintable():
        text = "".join(sign if sign.isprintable() else json.dumps(sign)[1:-1] for sign in text)
    missing = len(text) - MAX_CHARACTERS
    return text if missing <= 0 else f"{text[:MAX_CHARACTERS]}... ({missing} more characters)"
