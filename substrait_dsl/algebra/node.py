"""What all nodes of the algebra have in common: they are immutable values that compare by structure.

A pipeline may be thousands of steps deep, and a subtree may be used many times: so hashing, comparing, walking and
rebuilding never recurse, and the hash of a node is computed once, when it is first asked for.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, ClassVar, Self, TypeVar

import attrs

from substrait_dsl.algebra.common import Common
from substrait_dsl.algebra.frozen_values import FrozenValue
from substrait_dsl.algebra.pickling import Picklable, slots_of
from substrait_dsl.algebra.properties import NO_PROPERTIES, Properties
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.algebra.settings import PlanSettings
from substrait_dsl.algebra.types import Type
from substrait_dsl.errors import InvalidArgumentError, kind_words

NO_ANCHORS: frozenset[int] = frozenset()


@attrs.frozen(repr=False)
class ParameterUse(FrozenValue):
    """That something refers to a parameter of a lambda around it."""

    steps_out: int
    """How many lambdas further out than the innermost one."""
    position: int | None
    """Which parameter; None for all of them, as a row."""
    type: Type
    in_subquery: bool = False
    """Whether a subquery stands between the reference and the lambda."""

    def further_out(self) -> ParameterUse:
        """The same as seen from outside of one of the lambdas in between."""
        return ParameterUse(self.steps_out - 1, self.position, self.type, self.in_subquery)


@attrs.frozen(repr=False)
class Inside(FrozenValue):
    """What is seldom inside a node: together in one field, so that the others do not pay for it."""

    shares: bool = False
    """Whether the node is a relation that a plan holds once (`Rel.shared`), or one is inside."""
    asks: bool = False
    """Whether a value that is given when the plan runs (`DynamicParameter`) is inside."""
    parameters: frozenset[ParameterUse] = frozenset()
    """The parameters of lambdas outside the node that something inside it refers to."""
    changes: bool = False
    """Whether the node is a relation that changes a table (`Rel.is_change`), or one is inside."""
    variables: bool = False
    """Whether an execution context variable, such as the current time, is inside."""
    subqueries: bool = False
    """Whether the node is an expression that is a subquery, or has one that is in no other relation."""
    windows: bool = False
    """Whether the node is an expression that is a window function, or has one that is in no relation."""
    settings: frozenset[PlanSettings] = frozenset()
    """What the plans say of themselves whose roots are inside (`Rel.settings`)."""

    def beside(self, other: Inside) -> Inside:
        """What is inside a node if these are inside two of its children."""
        if self is other:
            return self
        return Inside(
            self.shares or other.shares,
            self.asks or other.asks,
            self.parameters | other.parameters,
            self.changes or other.changes,
            self.variables or other.variables,
            self.subqueries or other.subqueries,
            self.windows or other.windows,
            self.settings | other.settings,
        )

    def without_expressions(self) -> Inside:
        """The same without what only an expression is said to have, not the relation that it is of."""
        if not (self.subqueries or self.windows):
            return self
        changed = attrs.evolve(self, subqueries=False, windows=False)
        return NOTHING_INSIDE if changed == NOTHING_INSIDE else changed

    def with_parameters(self, uses: frozenset[ParameterUse]) -> Inside:
        """The same with these parameters instead."""
        changed = attrs.evolve(self, parameters=uses)
        return NOTHING_INSIDE if changed == NOTHING_INSIDE else changed


NOTHING_INSIDE = Inside()

N = TypeVar("N", bound="Node")


Parts = tuple[Any, ...]


class _Readers(dict[type, tuple[tuple[str, ...], Callable[[Any], Parts]]]):
    """For each class of nodes the names of the fields that make a node what it is, and how to read them all."""

    def __missing__(self, kind: type) -> tuple[tuple[str, ...], Callable[[Any], Parts]]:
        names = tuple(field.name for field in attrs.fields(kind) if field.eq)
        self[kind] = (names, _getter(names))
        return self[kind]


def _getter(names: tuple[str, ...]) -> Callable[[Any], Parts]:
    if not names:
        return lambda node: ()
    getter = attrgetter(*names)
    return getter if len(names) > 1 else lambda node: (getter(node),)


_READERS = _Readers()
_set = object.__setattr__


class Node(Picklable):
    """Base of expressions, relations and the parts they are made of: frozen classes of attrs.

    What follows from the fields of a node is in slots. It is no field: each class would describe it anew, which takes
    half of the time in which these classes are made.
    """

    __slots__ = ("__weakref__", "_children", "_hash", "free_anchors", "height", "inside", "size")

    leaf: ClassVar[bool] = False
    """Whether nodes of this class never have nodes inside."""
    own_inside: ClassVar[Inside] = NOTHING_INSIDE
    """What each node of this class has inside, as it is one."""

    free_anchors: frozenset[int]
    """The anchors of rows outside this node that something inside it refers to: not empty means correlated."""
    height: int
    """How many nodes the longest way down from this one has, itself included."""
    size: int
    """How many nodes the tree has if every shared subtree is counted as often as it is used."""
    inside: Inside
    """What is seldom inside."""
    _children: tuple[Node, ...]
    _hash: int | None

    def __attrs_post_init__(self) -> None:
        _set(self, "_hash", None)
        _set(self, "inside", self.own_inside)
        self._validate()
        if self.leaf:
            _set(self, "_children", ())
            _set(self, "height", 1)
            _set(self, "size", 1)
            _set(self, "free_anchors", self._free(NO_ANCHORS))
            return
        children = self._find_children()
        anchors, inside = NO_ANCHORS, self.inside
        height, size = 0, 1
        for child in children:
            size += child.size
            if child.height > height:
                height = child.height
            if child.free_anchors:
                anchors |= child.free_anchors
            if child.inside is not NOTHING_INSIDE:
                inside = child.inside if inside is NOTHING_INSIDE else inside.beside(child.inside)
        if inside is not NOTHING_INSIDE:
            _set(self, "inside", self._from_outside(inside))
        _set(self, "_children", children)
        _set(self, "height", height + 1)
        _set(self, "size", size)
        _set(self, "free_anchors", self._free(anchors))

    def _validate(self) -> None:
        """Check the fields and derive what follows from them."""

    def _free(self, anchors: frozenset[int]) -> frozenset[int]:
        """The free anchors of this node, given those of its children."""
        return anchors

    def _from_outside(self, inside: Inside) -> Inside:
        """What is inside this node, given what its children have."""
        return inside

    def parts(self) -> Parts:
        """The values that make this node what it is; names are not among them."""
        return _READERS[type(self)][1](self)

    def children(self) -> tuple[Node, ...]:
        """The nodes directly inside this one, in the order of its fields."""
        return self._children

    def _find_children(self) -> tuple[Node, ...]:
        return _nodes_in(self.parts())

    def _made_of(self) -> Sequence[Picklable]:
        return self._children

    def __copy__(self) -> Self:
        made = object.__new__(type(self))
        for name in slots_of(type(self)):
            _set(made, name, getattr(self, name))
        return made

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
    """Compute the hashes of a node and of what is inside it, as far as that is not done yet: children first."""
    stack = [root]
    while stack:
        node = stack[-1]
        if node._hash is not None:  # it stood in several places
            stack.pop()
            continue
        waiting = [child for child in node.children() if child._hash is None]
        if waiting:
            stack += waiting
        else:
            _set(stack.pop(), "_hash", hash((type(node), node.parts())))


def _nodes_in(parts: Parts) -> tuple[Node, ...]:
    found: list[Node] = []
    for part in parts:
        if type(part) is tuple:
            found += [item for item in part if isinstance(item, Node)]
        elif isinstance(part, Node):
            found.append(part)
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
                pairs.extend(zip(a.parts(), b.parts(), strict=True))
        elif type(a) is tuple:
            if len(a) != len(b):
                return False
            pairs.extend(zip(a, b, strict=True))
        elif isinstance(a, _ATOMS):
            if a != b:
                return False
        elif (id(a), id(b)) not in seen:  # types and rows may be large, and many nodes have the same one
            seen.add((id(a), id(b)))
            if a != b:
                return False
    return True


def walk(node: Node, *, into_relations: bool = True) -> Iterator[Node]:
    """The node and everything below it, each shared subtree once, a parent before its children.

    With `into_relations=False`, what lies inside the relations below it (subqueries, inputs) is left out.
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
    """The tree with `change` applied to every node, children first; what does not change is shared.

    `change` must return a node that can stand where its argument stood. With `into_relations=False`, relations
    below the node stay as they are. `done` has the nodes that stand for others already, by the ids of these, and
    gets those of this tree: trees that are rebuilt one after the other with one `done` go on sharing what they share.
    """
    done = {} if done is None else done
    for current in walk_upwards(node, into_relations=into_relations, done=done):
        done[id(current)] = change(with_children(current, done))
    return done[id(node)]  # type: ignore[return-value]  # `change` keeps what stands where


def walk_upwards(node: Node, *, into_relations: bool = True, done: Container[int] = ()) -> Iterator[Node]:
    """The node and everything below it, each shared subtree once, children before their parents.

    `into_relations` is as of `walk`. `done` has the ids of nodes that are left out with what lies below them; the
    caller may add those that it was given.
    """
    seen: set[int] = set()
    stack: list[Any] = [node]  # on a node lies None after its children have been put onto it
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
            stack += children if into_relations else [child for child in children if not isinstance(child, Rel)]
        else:
            seen.add(id(current))
            yield current


def with_children(node: N, done: Mapping[int, Node]) -> N:
    """The node with other children, as far as there are any for theirs: by their `id`."""
    for child in node._children:
        if done.get(id(child), child) is not child:
            break
    else:
        return node
    changed: dict[str, Any] = {}
    for name in _READERS[type(node)][0]:
        value = getattr(node, name)
        if isinstance(value, Node):
            changed[name] = done.get(id(value), value)
        elif type(value) is tuple and any(id(item) in done for item in value):
            changed[name] = tuple([done.get(id(item), item) for item in value])
    return attrs.evolve(node, **changed)  # type: ignore[misc]  # each class of nodes is one


def with_new_children(node: N, children: Sequence[Node]) -> N:
    """The node with other children, one for each of its own, in order."""
    if all(new is old for new, old in zip(children, node.children(), strict=True)):
        return node
    remaining = iter(children)

    def new(value: Any) -> Any:
        if isinstance(value, Node):
            return next(remaining)
        if type(value) is tuple:
            return tuple(next(remaining) if isinstance(item, Node) else item for item in value)
        return value

    changed = {name: new(getattr(node, name)) for name in _READERS[type(node)][0]}
    return attrs.evolve(node, **changed)  # type: ignore[misc]  # as above


class Expression(Node):
    """Base of all expressions. Every expression knows its type."""

    __slots__ = ("type",)

    type: Type

    def _validate(self) -> None:
        _set(self, "type", self._derive_type())

    def _derive_type(self) -> Type:
        raise NotImplementedError


_NOTHING_SAID = Common()


@attrs.frozen(eq=False, repr=False)
class Rel(Node):
    """Base of all relations. Every relation knows its schema, its ordering and its distribution."""

    has_own_extension: ClassVar[bool] = True
    """Whether the relation's message has an ``advanced_extension``, beside that of ``RelCommon``."""
    is_change: ClassVar[bool] = False
    """Whether to evaluate the relation changes a table, files or a definition."""

    schema: NamedStruct = attrs.field(init=False, eq=False)
    properties: Properties = attrs.field(init=False, eq=False)
    anchor: int | None = attrs.field(default=None, kw_only=True)
    """The number by which expressions in subqueries inside this relation call the row that its expressions see."""
    common: Common | None = attrs.field(default=None, kw_only=True)
    """Hints and extensions."""
    shared: bool = attrs.field(default=False, kw_only=True, eq=False)
    """Whether a plan holds this relation once, however often it is used (``ReferenceRel``)."""
    settings: PlanSettings | None = attrs.field(default=None, kw_only=True, eq=False)
    """What the plan says of itself whose root this relation is, as far as its rows depend on that."""

    def _validate(self) -> None:
        if self.common is not None:
            self._validate_common(self.common)
        _set(self, "schema", self._derive_schema())
        _set(self, "properties", self._derive_properties())
        if self.shared or self.is_change or self.settings is not None:
            settings = frozenset() if self.settings is None else frozenset((self.settings,))
            _set(self, "inside", Inside(shares=self.shared, changes=self.is_change, settings=settings))

    def _validate_common(self, common: Common) -> None:
        if common == _NOTHING_SAID:
            _set(self, "common", None)
        if common.own_extension is not None and not self.has_own_extension:
            raise InvalidArgumentError(
                f"the message of {kind_words(self)} has no advanced_extension of its own",
                hint="put it into the extension of the common fields",
            )

    def _derive_schema(self) -> NamedStruct:
        raise NotImplementedError

    def _derive_properties(self) -> Properties:
        return NO_PROPERTIES

    def _free(self, anchors: frozenset[int]) -> frozenset[int]:
        return anchors - {self.anchor} if self.anchor is not None else anchors

    def _from_outside(self, inside: Inside) -> Inside:
        inside = inside.without_expressions()
        if self.settings is not None and len(inside.settings) > 1:  # what was built of the roots of another plan
            inside = attrs.evolve(inside, settings=frozenset((self.settings,)))
        if not inside.parameters:
            return inside
        return inside.with_parameters(frozenset(attrs.evolve(use, in_subquery=True) for use in inside.parameters))

    def as_shared(self) -> Self:
        """The same relation, `shared`: nothing has to be derived anew, however wide it is."""
        made = copy.copy(self)
        _set(made, "shared", True)
        _set(made, "inside", self.inside.beside(Inside(shares=True)))
        return made

    def with_settings(self, settings: PlanSettings) -> Self:
        """The same relation as a root of a plan that says this of itself."""
        made = copy.copy(self)
        _set(made, "settings", settings)
        _set(made, "inside", attrs.evolve(self.inside, settings=frozenset((settings,))))
        return made

    @property
    def shown(self) -> Rel:
        """The relation that texts show in its place: itself, unless it only stands for another."""
        return self

    @property
    def single_row(self) -> bool:
        """Whether the relation is known to have exactly one row."""
        return False

    @property
    def inputs(self) -> tuple[Rel, ...]:
        """The input relations, in order; relations in subqueries are not among them."""
        return tuple([child for child in self._children if isinstance(child, Rel)])
