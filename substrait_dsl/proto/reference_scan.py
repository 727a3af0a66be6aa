"""The references between the relation trees of a plan, found before any tree is read.

Most of a plan has none. So its trees are parsed once more, as messages with few fields beyond those that lead to a
reference, and only these are walked.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from substrait import algebra_pb2 as pb
from substrait.plan_pb2 import PlanRel


@attrs.frozen
class Tree:
    """The references of a tree."""

    references: Counter[int]
    """The trees that it refers to, with the number of references."""
    level: frozenset[int]
    """The trees that it refers to outside of its subqueries and of the right inputs of lateral joins."""
    references_at: Mapping[int, int]
    """The least number of subqueries around a reference to each tree."""
    outer: frozenset[int]
    """The anchors of outer rows that it refers to, without those of its references."""
    steps_out: int
    """The number of subqueries beyond itself of the farthest row that it refers to by ``steps_out``."""
    anchors: frozenset[int]
    """The anchors of its own relations."""


ALONE = Tree(Counter(), frozenset(), {}, frozenset(), 0, frozenset())
"""A tree without references, such as the only tree of a plan."""


def survey(messages: Sequence[PlanRel]) -> list[Tree]:
    """Return the references of each tree; references to trees that do not exist are left out."""
    if len(messages) < 2:  # as in most plans
        return [ALONE for _ in messages]
    trees = [message.SerializeToString() for message in messages]
    skeletons = _skeletons(_EVERYWHERE)
    parsed = [skeletons[PlanRel].FromString(tree) for tree in trees]
    if all(tree.IsInitialized() for tree in parsed):  # nothing in an expression is worth a look
        skeletons = _skeletons(_RELATIONS)
        parsed = [skeletons[PlanRel].FromString(tree) for tree in trees]
    tracked = tuple(map(skeletons.get, _TRACKED))
    return [_survey(tree, tracked, len(messages)) for tree in parsed]


def _survey(tree: Any, tracked: tuple[Any, ...], count: int) -> Tree:
    """Return the references of one of `count` trees, which contains at most these classes of `_TRACKED`."""
    reference, lateral, common, subquery, outer_reference = tracked
    references: Counter[int] = Counter()
    references_at: dict[int, int] = {}
    level: set[int] = set()
    outer: set[int] = set()
    steps_out = 0
    anchors: set[int] = set()
    stack: list[tuple[Any, int, bool]] = [(tree, 0, True)]
    while stack:
        message, depth, at_level = stack.pop()
        class_ = type(message)
        if class_ is reference:
            ordinal = message.subtree_ordinal
            if 0 <= ordinal < count:  # other references are refused when they are decoded
                references[ordinal] += 1
                references_at[ordinal] = min(depth, references_at.get(ordinal, depth))
                if at_level:
                    level.add(ordinal)
        elif class_ is common:
            if message.HasField("rel_anchor"):
                anchors.add(message.rel_anchor)
        elif class_ is outer_reference:
            if message.HasField("rel_reference"):
                outer.add(message.rel_reference)
            else:
                steps_out = max(steps_out, message.steps_out - depth)
        else:
            if class_ is subquery:
                depth, at_level = depth + 1, False
            for field, value in message.ListFields():
                beside = class_ is lateral and field.name == "right"
                if field.is_repeated:
                    stack += [(part, depth, at_level) for part in value]
                else:
                    stack.append((value, depth, at_level and not beside))
    if not (references or outer or steps_out or anchors):
        return ALONE
    return Tree(references, frozenset(level), references_at, frozenset(outer), steps_out, frozenset(anchors))


# --- messages that lack most fields

_OuterReference = pb.Expression.FieldReference.OuterReference
_TRACKED = (pb.ReferenceRel, pb.LateralJoinRel, pb.RelCommon, pb.Expression.Subquery, _OuterReference)


@attrs.frozen
class _Sought:
    """The messages that the scan looks for."""

    classes: tuple[Any, ...]
    """The messages with references."""
    marked: tuple[Any, ...] = ()
    """Those among them that get a required field that is never set.

    So protobuf's `IsInitialized` tells whether a tree contains one of them, much faster than a walk in Python.
    """
    left_out: tuple[Any, ...] = ()
    """The messages that are skipped."""


_IN_EXPRESSIONS = (_OuterReference, pb.Expression.Subquery)
_EVERYWHERE = _Sought((pb.ReferenceRel, pb.RelCommon, *_IN_EXPRESSIONS), _IN_EXPRESSIONS)
_RELATIONS = _Sought((pb.ReferenceRel,), left_out=(pb.Expression,))


@functools.cache
def _skeletons(sought: _Sought) -> Mapping[type[Any], type[Any]]:
    """Return message classes with only the fields that lead to a sought message."""
    inner_classes = _classes_in(PlanRel, sought.left_out)
    leading = set(sought.classes)
    while more := {
        class_ for class_ in inner_classes.keys() - leading if not leading.isdisjoint(inner_classes[class_].values())
    }:
        leading |= more
    file = FileDescriptorProto(name="skeleton", package="skeleton")  # proto2, where fields can be required
    for class_ in leading:
        message = file.message_type.add(name=_flat(class_))
        for field in class_.DESCRIPTOR.fields:
            if inner_classes[class_].get(field.name) in leading:
                _add(message, field, type_name=_flat(inner_classes[class_][field.name]))
            elif class_ in sought.classes and field.message_type is None:
                _add(message, field)
        if class_ in sought.marked:
            required, number = FieldDescriptorProto.LABEL_REQUIRED, FieldDescriptor.MAX_FIELD_NUMBER
            message.field.add(name="never", number=number, label=required, type=FieldDescriptorProto.TYPE_BOOL)
    pool = DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return {class_: GetMessageClass(pool.FindMessageTypeByName(f"skeleton.{_flat(class_)}")) for class_ in leading}


def _classes_in(root: Any, left_out: tuple[Any, ...]) -> Mapping[type[Any], Mapping[str, type[Any]]]:
    """Return the message classes that a message can contain, itself included, with their message fields."""
    found: dict[type[Any], dict[str, type[Any]]] = {}
    waiting = [root]
    while waiting:
        class_ = waiting.pop()
        if class_ not in found:
            fields = [field for field in class_.DESCRIPTOR.fields if field.message_type is not None]
            inside = {field.name: GetMessageClass(field.message_type) for field in fields}
            found[class_] = {name: inner for name, inner in inside.items() if inner not in left_out}
            waiting.extend(found[class_].values())
    return found


def _add(message: DescriptorProto, field: Any, type_name: str | None = None) -> None:
    label = FieldDescriptorProto.LABEL_REPEATED if field.is_repeated else FieldDescriptorProto.LABEL_OPTIONAL
    message.field.add(name=field.name, number=field.number, label=label, type=field.type, type_name=type_name)


def _flat(class_: type[Any]) -> str:
    full_name: str = class_.DESCRIPTOR.full_name
    return full_name.replace(".", "_")
