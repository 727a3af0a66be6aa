"""What all nodes of the algebra have: parts, free variables, and the two kinds that are never taken for one another.

A node is a frozen class, and its fields say how it is written: reading and printing (`notation`, `printing`) and
walking are derived from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from enum import Enum
from typing import Any, ClassVar, Final

import attrs

from substrait_dsl.errors import (
    InvalidArgumentError,
    TypeMismatchError,
    UnsupportedError,
    error_context,
    kind_words,
    require_choice,
    shortened,
)
from substrait_dsl.partiql.values import MOST_LEVELS, require_distinct


class Form(Enum):
    """How a field is written in the notation."""

    VALUE = "a value expression"
    MAYBE_VALUE = "a value expression or null"
    VALUES = "value expressions"
    BINDINGS = "a bindings expression"
    NAME = "a name"
    MAYBE_NAME = "a name or null"
    WORD = "a word"
    DATA = "a literal value"
    NODES = "a list in parentheses"
    REST = "parts of one class, up to the end"


_FORM: Final = "form"
_OF: Final = "of"


def part(form: Form, of: type[Node] | Words | None = None, **options: Any) -> Any:
    """A field of a node: how it is written; of which class its parts are, or which words it may be."""
    return attrs.field(metadata={_FORM: form, _OF: of}, **options)


@attrs.frozen
class Words:
    """What a field of the form `Form.WORD` may be."""

    what: str
    """What they choose, for messages."""
    known: tuple[str, ...]
    receiver: str | None = None
    """Whose words of others the table of hints has."""


def form_of(field: attrs.Attribute[Any]) -> Form:
    """How a field is written."""
    form = field.metadata[_FORM]
    assert isinstance(form, Form)
    return form


def class_of(field: attrs.Attribute[Any]) -> type[Node]:
    """Of which class the parts in a field are."""
    of = field.metadata[_OF]
    assert isinstance(of, type)
    return of


def words_of(field: attrs.Attribute[Any]) -> Words:
    """Which words may stand in a field."""
    words = field.metadata[_OF]
    assert isinstance(words, Words)
    return words


@attrs.frozen
class Node:
    """Something that the algebra's notation writes in parentheses."""

    head: ClassVar[str] = ""
    """The word after the parenthesis, or none."""
    called: ClassVar[str] = ""
    """What nodes without such a word are called in messages, and how they are written."""

    free: frozenset[str] = attrs.field(init=False, eq=False, repr=False)
    """The variables that it uses and does not bind: those of enclosing tuples, or tables."""
    levels: int = attrs.field(init=False, eq=False, repr=False)
    """How deep it is nested."""

    def __attrs_post_init__(self) -> None:
        with error_context(verb=self.head) if self.head else nullcontext():
            self._derive()

    def _derive(self) -> None:
        for field in fields_of(type(self)):
            _check(field, getattr(self, field.name))
        levels = 1 + self._levels_inside()
        if levels > MOST_LEVELS:
            raise UnsupportedError(f"expressions nested more than {MOST_LEVELS} levels deep are not supported")
        object.__setattr__(self, "levels", levels)
        self._validate()
        object.__setattr__(self, "free", self._free())

    def _validate(self) -> None:
        """Check what the forms of the fields do not say, and derive what follows from the fields."""

    def _levels_inside(self) -> int:
        return max((child.levels for child in self.children()), default=0)

    def _free(self) -> frozenset[str]:
        return frozenset().union(*(child.free for child in self.children()))

    def children(self) -> Iterator[Node]:
        """The nodes directly inside, in the order in which they are written."""
        for field in fields_of(type(self)):
            match getattr(self, field.name):
                case Node() as child:
                    yield child
                case tuple() as parts:
                    yield from (child for child in parts if isinstance(child, Node))

    def __str__(self) -> str:
        from substrait_dsl.partiql.printing import render

        return render(self)


@attrs.frozen
class ValueExpr(Node):
    """What evaluates to a value."""


@attrs.frozen
class BindingsExpr(Node):
    """What evaluates to a bindings collection."""

    variables: tuple[str, ...] = attrs.field(init=False, eq=False, repr=False)
    """The names in its binding tuples, in order."""

    def _validate(self) -> None:
        names = tuple(self._bound())
        require_distinct(names, f"a binding tuple of {self.head}")
        object.__setattr__(self, "variables", names)

    def _bound(self) -> Iterable[str]:
        """The names in its binding tuples: those of its inputs, side by side, unless it says otherwise."""
        return (name for child in self.children() if isinstance(child, BindingsExpr) for name in child.variables)

    def free_among(self, *expressions: Node) -> frozenset[str]:
        """The free variables of expressions that are evaluated for each of its binding tuples."""
        return self.free | frozenset().union(*(one.free for one in expressions)) - set(self.variables)


def fields_of(class_: type[Node]) -> tuple[attrs.Attribute[Any], ...]:
    """The fields of a class of nodes that are written."""
    return tuple(field for field in attrs.fields(class_) if _FORM in field.metadata)


_BRIDGES: dict[type[Node], str] = {
    ValueExpr: "map_values makes values of bindings",
    BindingsExpr: "scan makes bindings of a value",
}
_WORDS: dict[type[Node], str] = {
    Node: "an expression",
    ValueExpr: "a value expression",
    BindingsExpr: "a bindings expression",
}


def a_node(class_: type[Node]) -> str:
    """What a class of nodes is called in messages."""
    return _WORDS.get(class_) or class_.called or f"`({class_.head} ..)`"


def _check(field: attrs.Attribute[Any], value: object) -> None:
    """Refuse what does not belong into a field: bindings where a value does, and the reverse, above all."""
    name = field.name.rstrip("_")
    match form_of(field):
        case Form.VALUE:
            _require(name, ValueExpr, value)
        case Form.MAYBE_VALUE:
            if value is not None:
                _require(name, ValueExpr, value)
        case Form.BINDINGS:
            _require(name, BindingsExpr, value)
        case Form.VALUES:
            _require_all(name, ValueExpr, value)
        case Form.NODES | Form.REST:
            _require_all(name, class_of(field), value)
        case Form.NAME:
            if not isinstance(value, str):
                raise InvalidArgumentError(f"{name} is a name, got {shortened(repr(value))}")
        case Form.MAYBE_NAME:
            if not (value is None or isinstance(value, str)):
                raise InvalidArgumentError(f"{name} is a name or None, got {shortened(repr(value))}")
        case Form.WORD:
            words = words_of(field)
            require_choice(words.what, value, words.known, words.receiver)
        case Form.DATA:
            pass


def _require_all(name: str, class_: type[Node], value: object) -> None:
    if not isinstance(value, tuple):
        raise InvalidArgumentError(f"{name} is a tuple, got {shortened(repr(value))}")
    for one in value:
        _require(f"each of {name}", class_, one)


def _require(name: str, class_: type[Node], value: object) -> None:
    if not isinstance(value, class_):
        got = f"{kind_words(value)}, {shortened(str(value))}" if isinstance(value, Node) else shortened(repr(value))
        raise TypeMismatchError(
            f"{name} is {a_node(class_)}, got {got}",
            hint=_BRIDGES.get(class_) if isinstance(value, ValueExpr | BindingsExpr) else hint_of_expression(value),
        )


def walk(node: Node) -> Iterator[Node]:
    """A node and all nodes inside, outer ones first."""
    require_node(node, "walk")
    return _walked(node)


def _walked(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children():
        yield from _walked(child)


def require_node(value: object, verb: str) -> None:
    """Raise `TypeMismatchError` for what is no node, such as `Bindings`, which hold one."""
    if not isinstance(value, Node):
        message = f"{verb}: expected a node, got {shortened(repr(value))}"
        raise TypeMismatchError(message, hint=hint_of_expression(value))


def hint_of_expression(value: object) -> str | None:
    """How what is no expression is made one, if it can be."""
    if isinstance(value, str):
        return "parse(text) reads one"
    return "bindings and values have one: query.expression" if hasattr(type(value), "expression") else None


def transform(node: Node, change: Callable[[Node], Node]) -> Node:
    """The tree with every node replaced by what `change` makes of it, inner ones first.

    Raises `TypeMismatchError` if a value expression comes where a bindings expression belongs, or the reverse.
    """
    require_node(node, "transform")
    changed: dict[str, Any] = {}
    for field in fields_of(type(node)):
        value = getattr(node, field.name)
        if isinstance(value, Node):
            changed[field.name] = transform(value, change)
        elif isinstance(value, tuple) and form_of(field) is not Form.DATA:
            changed[field.name] = tuple(transform(child, change) for child in value)
    return change(attrs.evolve(node, **changed) if changed else node)
