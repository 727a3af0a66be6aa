"""The base classes of nodes: value expressions and bindings expressions, with parts and free variables.

A node is a frozen class; its fields declare their notation, from which parsing and printing (`notation`, `printing`)
and walking are derived.
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
    class_words,
    error_context,
    require_choice,
    shorten,
)
from substrait_dsl.partiql.values import MAX_LEVELS, require_distinct


class Form(Enum):
    """The form of a field in the notation."""

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
    """Declare a field of a node: its form, and the class of its parts or its words."""
    return attrs.field(metadata={_FORM: form, _OF: of}, **options)


@attrs.frozen
class Words:
    """The words that a field of the form `Form.WORD` takes."""

    what: str
    """The noun for the words, for messages."""
    known: tuple[str, ...]
    receiver: str | None = None
    """The receiver in the table of hints."""


def form_of(field: attrs.Attribute[Any]) -> Form:
    """Return the form of a field."""
    form = field.metadata[_FORM]
    assert isinstance(form, Form)
    return form


def class_of(field: attrs.Attribute[Any]) -> type[Node]:
    """Return the class of the parts in a field."""
    of = field.metadata[_OF]
    assert isinstance(of, type)
    return of


def words_of(field: attrs.Attribute[Any]) -> Words:
    """Return the words of a field."""
    words = field.metadata[_OF]
    assert isinstance(words, Words)
    return words


@attrs.frozen
class Node:
    """A node of the algebra, in parentheses in the notation."""

    head: ClassVar[str] = ""
    """The word after the parenthesis, or none."""
    called: ClassVar[str] = ""
    """The name and the form of nodes without such a word, for messages."""

    free: frozenset[str] = attrs.field(init=False, eq=False, repr=False)
    """The free variables: those of enclosing tuples, or tables."""
    levels: int = attrs.field(init=False, eq=False, repr=False)
    """The nesting depth."""

    def __attrs_post_init__(self) -> None:
        with error_context(verb=self.head) if self.head else nullcontext():
            self._derive()

    def _derive(self) -> None:
        for field in fields_of(type(self)):
            _check(field, getattr(self, field.name))
        levels = 1 + self._levels_inside()
        if levels > MAX_LEVELS:
            raise UnsupportedError(f"expressions nested more than {MAX_LEVELS} levels deep are not supported")
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
        """Return the nodes directly inside, in the order of the notation."""
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
    """An expression that evaluates to a value."""


@attrs.frozen
class BindingsExpr(Node):
    """An expression that evaluates to a bindings collection."""

    variables: tuple[str, ...] = attrs.field(init=False, eq=False, repr=False)
    """The names in the binding tuples, in order."""

    def _validate(self) -> None:
        names = tuple(self._bound_names())
        require_distinct(names, f"a binding tuple of {self.head}")
        object.__setattr__(self, "variables", names)

    def _bound_names(self) -> Iterable[str]:
        """Return the names in the binding tuples: by default those of the inputs, side by side."""
        return (name for child in self.children() if isinstance(child, BindingsExpr) for name in child.variables)

    def free_among(self, *expressions: Node) -> frozenset[str]:
        """Return the free variables of expressions that are evaluated for each binding tuple."""
        return self.free | frozenset().union(*(one.free for one in expressions)) - set(self.variables)


def fields_of(class_: type[Node]) -> tuple[attrs.Attribute[Any], ...]:
    """Return the fields of a class of nodes that the notation writes."""
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
    """Return the name of a class of nodes in messages, with its article."""
    return _WORDS.get(class_) or class_.called or f"`({class_.head} ..)`"


def _check(field: attrs.Attribute[Any], value: object) -> None:
    """Refuse a value that does not belong into a field: bindings in place of a value, or the reverse."""
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
                raise InvalidArgumentError(f"{name} is a name, got {shorten(repr(value))}")
        case Form.MAYBE_NAME:
            if not (value is None or isinstance(value, str)):
                raise InvalidArgumentError(f"{name} is a name or None, got {shorten(repr(value))}")
        case Form.WORD:
            words = words_of(field)
            require_choice(words.what, value, words.known, words.receiver)
        case Form.DATA:
            pass


def _require_all(name: str, class_: type[Node], value: object) -> None:
    if not isinstance(value, tuple):
        raise InvalidArgumentError(f"{name} is a tuple, got {shorten(repr(value))}")
    for one in value:
        _require(f"each of {name}", class_, one)


def _require(name: str, class_: type[Node], value: object) -> None:
    if not isinstance(value, class_):
        got = f"{class_words(value)}, {shorten(str(value))}" if isinstance(value, Node) else shorten(repr(value))
        raise TypeMismatchError(
            f"{name} is {a_node(class_)}, got {got}",
            hint=_BRIDGES.get(class_) if isinstance(value, ValueExpr | BindingsExpr) else hint_of_expression(value),
        )


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and all nodes inside, outer ones first."""
    require_node(node, "walk")
    return _walk(node)


def _walk(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children():
        yield from _walk(child)


def require_node(value: object, verb: str) -> None:
    """Raise `TypeMismatchError` for what is no node, such as `Bindings`, which hold one."""
    if not isinstance(value, Node):
        message = f"{verb}: expected a node, got {shorten(repr(value))}"
        raise TypeMismatchError(message, hint=hint_of_expression(value))


def hint_of_expression(value: object) -> str | None:
    """Return a hint for a value that could be made an expression."""
    if isinstance(value, str):
        return "parse(text) reads one"
    return "bindings and values have one: query.expression" if hasattr(type(value), "expression") else None


def transform(node: Node, change: Callable[[Node], Node]) -> Node:
    """Return the tree with every node replaced by the result of `change`, inner ones first.

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
