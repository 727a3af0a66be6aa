"""The base classes of the nodes of the algebra: immutable values that compare by structure.

A pipeline may be thousands of steps deep, and a subtree may be used many times: so hashing, comparing, walking and
rebuilding never recurse, and the hash of a node is computed once, when it is first asked for.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self, TypeVar

import attrs

from substrait_dsl.algebra.common import Common
from substrait_dsl.algebra.frozen_values import FIELD_READERS, FrozenValue, IdentityFields
from substrait_dsl.algebra.pickling import Picklable, slots_of
from substrait_dsl.algebra.properties import NO_PROPERTIES, Properties
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.algebra.settings import PlanSettings
from substrait_dsl.algebra.types import Type
from substrait_dsl.errors import InvalidArgumentError, class_words

NO_ANCHORS: frozenset[int] = frozenset()


@attrs.frozen(eq=False, repr=False)
class ParameterUse(FrozenValue):
    """A reference to a parameter of an enclosing lambda."""

    steps_out: int
    """How many lambdas lie between the reference and the lambda; 0 for the innermost one."""
    position: int | None
    """The position of the parameter; None for all of them, as a row."""
    type: Type
    in_subquery: bool = False
    """Whether a subquery lies between the reference and the lambda."""

    def further_out(self) -> ParameterUse:
        """Return the reference as seen from outside of one of the lambdas in between."""
        return ParameterUse(self.steps_out - 1, self.position, self.type, self.in_subquery)


@attrs.frozen(eq=False, repr=False)
class SubtreeFlags(FrozenValue):
    """Facts about a node and all that lies below it, which hold for few nodes.

    They are one field of a node, so that the nodes for which none holds do not pay for them.
    """

    has_shared: bool = False
    """Whether there is a relation that a plan holds once (`Rel.shared`)."""
    has_plan_parameters: bool = False
    """Whether there is a value that is bound when the plan runs (`DynamicParameter`)."""
    parameter_uses: frozenset[ParameterUse] = frozenset()
    """The references to parameters of lambdas that enclose the node."""
    has_changes: bool = False
    """Whether there is a relation that changes a table (`Rel.is_change`)."""
    has_context_variables: bool = False
    """Whether there is an execution context variable, such as the current time."""
    has_subqueries: bool = False
    """Whether the node is an expression with a subquery; those inside of the subquery's relation do not count."""
    has_window_functions: bool = False
    """Whether the node is an expression with a window function; those in relations do not count."""
    settings: frozenset[PlanSettings] = frozenset()
    """The settings of the plans whose roots are here (`Rel.settings`)."""

    def merge(self, other: SubtreeFlags) -> SubtreeFlags:
        """Return the flags of a node, one of whose children has these flags and one the others."""
        if self is other:
            return self
        return SubtreeFlags(
            self.has_shared or other.has_shared,
            self.has_plan_parameters or other.has_plan_parameters,
            self.parameter_uses | other.parameter_uses,
            self.has_changes or other.has_changes,
            self.has_context_variables or other.has_context_variables,
            self.has_subqueries or other.has_subqueries,
            self.has_window_functions or other.has_window_functions,
            self.settings | other.settings,
        )

    def without_expressions(self) -> SubtreeFlags:
        """Return the flags of the relation whose expressions have these."""
        if not (self.has_subqueries or self.has_window_functions):
            return self
        changed = attrs.evolve(self, has_subqueries=False, has_window_functions=False)
        return NO_FLAGS if changed == NO_FLAGS else changed

    def with_parameters(self, uses: frozenset[ParameterUse]) -> SubtreeFlags:
        """Return the flags with these references to parameters instead."""
        changed = attrs.evolve(self, parameter_uses=uses)
        return NO_FLAGS if changed == NO_FLAGS else changed


NO_FLAGS = SubtreeFlags()

N = TypeVar("N", bound="Node")


_set = object.__setattr__


class Node(Picklable):
    """Base of expressions, relations and their parts: frozen classes of attrs.

    What is derived from the fields of a node is in slots. They are not fields of attrs, because each class would
    declare them again, and that takes half of the time in which these classes are defined.
    """

    __slots__ = ("__weakref__", "_children", "_hash", "flags", "free_anchors", "height", "size")

    leaf: ClassVar[bool] = False
    """Whether nodes of this class never have children."""
    own_flags: ClassVar[SubtreeFlags] = NO_FLAGS
    """The flags that each node of this class has, whatever its children are."""

    free_anchors: frozenset[int]
    """The anchors of outer rows that the node or something below it refers to: not empty means correlated."""
    height: int
    """How many nodes the longest path down from this one has, itself included."""
    size: int
    """How many nodes the tree has, with every shared subtree counted as often as it is used."""
    flags: SubtreeFlags
    """Facts about the node and all that lies below it."""
    _children: tuple[Node, ...]
    _hash: int | None

    def __attrs_post_init__(self) -> None:
        _set(self, "_hash", None)
        _set(self, "flags", self.own_flags)
        self._validate()
        if self.leaf:
            _set(self, "_children", ())
            _set(self, "height", 1)
            _set(self, "size", 1)
            _set(self, "free_anchors", self._derive_free_anchors(NO_ANCHORS))
            return
        children = self._find_children()
        anchors, flags = NO_ANCHORS, self.flags
        height, size = 0, 1
        for child in children:
            size += child.size
            if child.height > height:
                height = child.height
            if child.free_anchors:
                anchors |= child.free_anchors
            if child.flags is not NO_FLAGS:
                flags = child.flags if flags is NO_FLAGS else flags.merge(child.flags)
        if flags is not NO_FLAGS:
            _set(self, "flags", self._derive_flags(flags))
        _set(self, "_children", children)
        _set(self, "height", height + 1)
        _set(self, "size", size)
        _set(self, "free_anchors", self._derive_free_anchors(anchors))

    def _validate(self) -> None:
        """Check the fields and derive what depends on nothing else."""

    def _derive_free_anchors(self, anchors: frozenset[int]) -> frozenset[int]:
        """Return the free anchors of this node for those of its children."""
        return anchors

    def _derive_flags(self, flags: SubtreeFlags) -> SubtreeFlags:
        """Return the flags of this node for those of its class and its children, merged."""
        return flags

    def identity_fields(self) -> IdentityFields:
        """Return the values that decide whether two nodes are equal; names are not among them."""
        return FIELD_READERS[type(self)][1](self)

    def children(self) -> tuple[Node, ...]:
        """Return the nodes directly below this one, in the order of its fields."""
        return self._children

    def _find_children(self) -> tuple[Node, ...]:
        return _nodes_in(self.identity_fields())

    def _components(self) -> Sequence[Picklable]:
        return self._children

    def __copy__(self) -> Self:
        clone = object.__new__(type(self))
        for name in slots_of(type(self)):
            _set(clone, name, getattr(self, name))
        return clone

    def __hash__(self) -> int:
        if self._hash is None:
            _compute_hashes(self)
        return self._hash  # type: ignore[return-value]  # it is computed now

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Node):
            return NotImplemented
        return _equal(self, other)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


def _compute_hashes(root: Node) -> None:
    """Compute the hashes of a node and of all nodes below it that have none yet, children first."""
    stack = [root]
    while stack:
        node = stack[-1]
        if node._hash is not None:  # a shared subtree
            stack.pop()
            continue
        waiting = [child for child in node.children() if child._hash is None]
        if waiting:
            stack += waiting
        else:
            _set(stack.pop(), "_hash", hash((type(node), node.identity_fields())))


def _nodes_in(fields: IdentityFields) -> tuple[Node, ...]:
    found: list[Node] = []
    for value in fields:
        if type(value) is tuple:
            found += [item for item in value if isinstance(item, Node)]
        elif isinstance(value, Node):
            found.append(value)
    return tuple(found)


_ATOMS = (str, int, float, bytes)


def _equal(left: Node, right: Node) -> bool:
    pairs: list[tuple[Any, Any]] = [(left, right)]
    seen: set[tuple[int, int]] = set()
    while pairs:
        a, b = pairs.pop()
        if a is b:
            continue
        if type(a) is not type(b):
            return False
        if isinstance(a, Node):
            if hash(a) != hash(b):
                return False
            if (id(a), id(b)) not in seen:
                seen.add((id(a), id(b)))
                pairs.extend(zip(a.identity_fields(), b.identity_fields(), strict=True))
        elif type(a) is tuple:
            if len(a) != len(b):
                return False
            pairs.extend(zip(a, b, strict=True))
        elif isinstance(a, _ATOMS):
            if a != b:
                return False
        elif (id(a), id(b)) not in seen:  # types and schemas may be large, and many nodes have the same one
            seen.add((id(a), id(b)))
            if a != b:
                return False
    return True


def walk(node: Node, *, into_relations: bool = True) -> Iterator[Node]:
    """Yield the node and everything below it, each shared subtree once, a parent before its children.

    With `into_relations=False`, the relations below it (subqueries, inputs) are left out.
    """
    stack = [node]
    seen: set[int] = set()
    while stack:
        current = stack.pop()
        if id(current) not in seen:
            seen.add(id(current))
            yield current
            children = current._children
            if children and not into_relations:
                children = tuple([child for child in children if not isinstance(child, Rel)])
            stack += children[::-1]


def rebuild(
    node: N, change: Callable[[Node], Node], *, into_relations: bool = True, done: dict[int, Node] | None = None
) -> N:
    """Return the tree with `change` applied to every node, children first; unchanged subtrees are shared.

    `change` must return a node that can replace its argument. With `into_relations=False`, relations below the node
    stay as they are. `done` has the replacements that are known already, by the ids of what they replace, and gets
    those of this tree: trees that are rebuilt one after the other with one `done` go on sharing their subtrees.
    """
    done = {} if done is None else done
    for current in walk_upwards(node, into_relations=into_relations, done=done):
        done[id(current)] = change(with_children(current, done))
    return done[id(node)]  # type: ignore[return-value]  # `change` returns what can stand there


def walk_upwards(node: Node, *, into_relations: bool = True, done: Container[int] = ()) -> Iterator[Node]:
    """Yield the node and everything below it, each shared subtree once, children before their parents.

    `into_relations` is as of `walk`. `done` has the ids of nodes that are left out with all that lies below them; the
    caller may add the nodes that it got.
    """
    seen: set[int] = set()
    stack: list[Any] = [node]  # None above a node: its children are done
    while stack:
        current = stack.pop()
        is_ready = current is None
        if is_ready:
            current = stack.pop()
        if id(current) in seen or id(current) in done:
            continue
        children = current._children
        if children and not is_ready:
            stack += (current, None)
            some = children if into_relations else [child for child in children if not isinstance(child, Rel)]
            stack += some[::-1]
        else:
            seen.add(id(current))
            yield current


def with_children(node: N, done: Mapping[int, Node]) -> N:
    """Return the node with its children replaced where `done` has a replacement, by the `id` of the child."""
    for child in node._children:
        if done.get(id(child), child) is not child:
            break
    else:
        return node
    changed: dict[str, Any] = {}
    for name in FIELD_READERS[type(node)][0]:
        value = getattr(node, name)
        if isinstance(value, Node):
            changed[name] = done.get(id(value), value)
        elif type(value) is tuple and any(id(item) in done for item in value):
            changed[name] = tuple([done.get(id(item), item) for item in value])
    return attrs.evolve(node, **changed)  # type: ignore[misc]  # each class of nodes is one


def with_new_children(node: N, children: Sequence[Node]) -> N:
    """Return the node with these children in place of its own, in order."""
    if all(new is old for new, old in zip(children, node.children(), strict=True)):
        return node
    remaining = iter(children)

    def new(value: Any) -> Any:
        if isinstance(value, Node):
            return next(remaining)
        if type(value) is tuple:
            return tuple(next(remaining) if isinstance(item, Node) else item for item in value)
        return value

    changed = {name: new(getattr(node, name)) for name in FIELD_READERS[type(node)][0]}
    return attrs.evolve(node, **changed)  # type: ignore[misc]  # as above


class Expression(Node):
    """Base of all expressions. Every expression knows its type."""

    __slots__ = ("type",)

    type: Type

    def _validate(self) -> None:
        _set(self, "type", self._derive_type())

    def _derive_type(self) -> Type:
        raise NotImplementedError


_EMPTY_COMMON = Common()


class _Rows(Node):
    """What every relation derives: in slots, as what a node derives."""

    __slots__ = ("properties", "schema")

    schema: NamedStruct
    properties: Properties


@attrs.frozen(eq=False, repr=False)
class Rel(_Rows):
    """Base of all relations. Every relation knows its schema, its ordering and its distribution."""

    has_own_extension: ClassVar[bool] = True
    """Whether the relation's message has an ``advanced_extension`` besides that of ``RelCommon``."""
    is_change: ClassVar[bool] = False
    """Whether evaluating the relation changes a table, files or a definition."""

    anchor: int | None = attrs.field(default=None, kw_only=True)
    """The number by which outer references in subqueries refer to the row that this relation's expressions see."""
    common: Common | None = attrs.field(default=None, kw_only=True)
    """Hints and extensions."""
    shared: bool = attrs.field(default=False, kw_only=True, eq=False)
    """Whether a plan holds this relation once, however often it is used (``ReferenceRel``)."""
    settings: PlanSettings | None = attrs.field(default=None, kw_only=True, eq=False)
    """The settings of the plan whose root this relation is, as far as its rows depend on them."""

    def _validate(self) -> None:
        if self.common is not None:
            self._validate_common(self.common)
        _set(self, "schema", self._derive_schema())
        _set(self, "properties", self._derive_properties())
        if self.shared or self.is_change or self.settings is not None:
            settings = frozenset() if self.settings is None else frozenset((self.settings,))
            _set(self, "flags", SubtreeFlags(has_shared=self.shared, has_changes=self.is_change, settings=settings))

    def _validate_common(self, common: Common) -> None:
        if common == _EMPTY_COMMON:
            _set(self, "common", None)
        if common.own_extension is not None and not self.has_own_extension:
            raise InvalidArgumentError(
                f"the message of {class_words(self)} has no advanced_extension of its own",
                hint="put it into the extension of the common fields",
            )

    def _derive_schema(self) -> NamedStruct:
        raise NotImplementedError

    def _derive_properties(self) -> Properties:
        return NO_PROPERTIES

    def _derive_free_anchors(self, anchors: frozenset[int]) -> frozenset[int]:
        return anchors - {self.anchor} if self.anchor is not None else anchors

    def _derive_flags(self, flags: SubtreeFlags) -> SubtreeFlags:
        flags = flags.without_expressions()
        if self.settings is not None and len(flags.settings) > 1:  # roots of other plans are below this root
            flags = attrs.evolve(flags, settings=frozenset((self.settings,)))
        if not flags.parameter_uses:
            return flags
        return flags.with_parameters(frozenset(attrs.evolve(use, in_subquery=True) for use in flags.parameter_uses))

    def as_shared(self) -> Self:
        """Return the relation as a shared one. Nothing is derived again, however wide it is."""
        clone = copy.copy(self)
        _set(clone, "shared", True)
        _set(clone, "flags", self.flags.merge(SubtreeFlags(has_shared=True)))
        return clone

    def with_settings(self, settings: PlanSettings) -> Self:
        """Return the relation as a root of a plan with these settings."""
        clone = copy.copy(self)
        _set(clone, "settings", settings)
        _set(clone, "flags", attrs.evolve(self.flags, settings=frozenset((settings,))))
        return clone

    @property
    def shown(self) -> Rel:
        """The relation that descriptions show in its place: itself, unless it only stands for another."""
        return self

    @property
    def single_row(self) -> bool:
        """Whether the relation is known to have exactly one row."""
        return False

    @property
    def inputs(self) -> tuple[Rel, ...]:
        """The input relations, in order; relations in subqueries are not among them."""
        return tuple([child for child in self._children if isinstance(child, Rel)])
