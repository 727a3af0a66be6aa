"""Which methods add to a container, and which containers hold relations. The library is not loaded for that."""

from __future__ import annotations

from collections.abc import Iterator

from mypy.types import Instance, Type, UnionType, get_proper_type

RELATION = "substrait_dsl.fluent.relation.Relation"

_METHODS = {
    ("builtins.list", "collections.deque"): ("append", "insert", "extend", "appendleft", "__setitem__", "__iadd__"),
    ("builtins.dict", "collections.defaultdict"): ("setdefault", "update", "__setitem__", "__ior__"),
    ("builtins.set",): ("add", "update", "__ior__"),
}
METHODS = frozenset(f"{class_}.{name}" for classes, names in _METHODS.items() for class_ in classes for name in names)
"""The full names of methods that add something to a container."""


MAX_NESTED = 4
"""How deep the relations are that are found: a type may contain itself."""


def find_relations(type_: Type | None, depth: int = 0) -> Iterator[Instance]:
    """Return the relations in a type, such as a dict of lists of them."""
    if depth > MAX_NESTED:
        return
    match get_proper_type(type_):
        case Instance(type=info) as relation if info.fullname == RELATION:
            yield relation
        case Instance(args=parts) | UnionType(items=parts):
            for part in parts:
                yield from find_relations(part, depth + 1)


def holds_relations(type_: Type | None) -> bool:
    """Whether there is a relation in a type."""
    return next(find_relations(type_), None) is not None
