"""The parser of the notation: nodes, ``(filter (eq ..) (scan ..))``, and data, ``<< <{ f: { .. } }> >>``.

The classes of nodes declare their parts and forms; a new node needs no change here.
"""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import re
from collections.abc import Callable
from decimal import Decimal
from math import isinf
from typing import Any, NoReturn, get_args

import attrs

from substrait_dsl.errors import NotationError, SubstraitDslError, quote, require, shorten, suggestion
from substrait_dsl.partiql.bindings import AnyBindingsExpr
from substrait_dsl.partiql.expressions import AnyValueExpr, ExprPair, Operator
from substrait_dsl.partiql.lexer import CLOSED_BY, Source, Token
from substrait_dsl.partiql.node import (
    BindingsExpr,
    Form,
    Node,
    ValueExpr,
    a_node,
    class_of,
    fields_of,
    form_of,
    words_of,
)
from substrait_dsl.partiql.operations import FUNCTIONS, OPERATORS
from substrait_dsl.partiql.values import MAX_LEVELS, MISSING, Bag, BindingsData, BindingTuple, Struct, Value

HEADS: dict[str, type[Node]] = {
    class_.head: class_ for class_ in (*get_args(AnyValueExpr), *get_args(AnyBindingsExpr), ExprPair) if class_.head
}
"""The class for each head, but for the operators."""

_EXPRESSIONS = sorted({*HEADS, *OPERATORS} - {ExprPair.head})
_QUERY = re.compile(r"\s*(select|from|with|pivot)\b", re.IGNORECASE)


def parse(text: str) -> ValueExpr | BindingsExpr:
    """Read an expression of the algebra.

    Args:
        text: one expression, as in ``(map_values (path (id f) (lit FooId)) (scan (id Foo) f null null))``. A scan may
            leave out its last names.

    Raises:
        NotationError: the text is no expression; with line, column and what was expected. What a node itself refuses
            (duplicate variables, bindings where a value belongs) is its own error, the cause of this one.
    """
    require(text, str, "an expression of the algebra is a text")
    if query := _QUERY.match(text):
        hint = "this is the notation of the algebra, (map_values e (scan t as)); queries of PartiQL are not read"
        raise Source(text).error(query.start(1), f"expected `(` of an expression, got {query[1]}", hint)
    reader = _Reader(text)
    node = reader.node()
    reader.end()
    if not isinstance(node, ValueExpr | BindingsExpr):
        raise reader.source.error(0, f"expected an expression, got {node.head}")
    return node


def parse_bindings(text: str) -> BindingsExpr:
    """Read a bindings expression; see `parse`."""
    node = parse(text)
    if not isinstance(node, BindingsExpr):
        raise NotationError(
            f"expected a bindings expression, got a value: {node}", hint="scan makes bindings of a value"
        )
    return node


def parse_value(text: str) -> ValueExpr:
    """Read a value expression; see `parse`."""
    node = parse(text)
    if not isinstance(node, ValueExpr):
        raise NotationError(
            f"expected a value expression, got bindings: {node}", hint="map_values makes values of bindings"
        )
    return node


def parse_data(text: str) -> Value | BindingsData:
    """Read data: a value, ``<< { x: 1 }, MISSING >>``, or a bindings collection, ``<< <{ f: { x: 1 } }> >>``.

    A symbol is a text. A comma may follow the last part of a collection. An empty bag or list is a value.
    """
    require(text, str, "data is a text")
    reader = _Reader(text)
    found: Value | BindingsData = reader.data(bindings=True)
    reader.end()
    return found


class _Reader:
    def __init__(self, text: str) -> None:
        self.source = Source(text)
        self.tokens = list(self.source.tokens())
        self.at = 0
        self.levels = 0

    # --- words

    @property
    def next(self) -> Token:
        return self.tokens[self.at]

    def take(self) -> Token:
        token = self.next
        self.at += 1
        return token

    def fail(self, expected: str, hint: str | None = None) -> NoReturn:
        raise self.source.error(self.next.start, f"expected {expected}, got {shorten(self.next.text, 40)}", hint)

    def is_mark(self, mark: str) -> bool:
        """Whether a mark comes next, all its characters adjacent."""
        tokens = self.tokens[self.at : self.at + len(mark)]
        return [token.text for token in tokens] == list(mark) and all(
            token.kind == "mark" and token.start == tokens[0].start + number for number, token in enumerate(tokens)
        )

    def takes(self, mark: str) -> bool:
        found = self.is_mark(mark)
        self.at += len(mark) if found else 0
        return found

    def expect(self, mark: str, instead: str | None = None) -> None:
        if not self.takes(mark):
            self.fail(instead or f"`{mark}`")

    def end(self) -> None:
        if self.next.kind != "end":
            is_parenthesis = self.next.text in ("(", ")")
            self.fail("the end", "a parenthesis may be closed too early" if is_parenthesis else None)

    def enter_level(self, start: Token) -> None:
        """Enter a level."""
        self.levels += 1
        if self.levels > MAX_LEVELS:
            raise self.source.error(start.start, f"nested more than {MAX_LEVELS} levels deep")

    # --- nodes

    def node(self, of: type[Node] | None = None) -> Node:
        """Parse a node in parentheses, of a class without a head, or of the class of its head."""
        start = self.next
        if not self.takes("("):
            is_leaf = of is None and start.kind in ("word", "symbol", "string", "number")
            hint = f"(lit {start.text}) is a constant, (id {start.text}) a variable" if is_leaf else None
            self.fail(f"`(` of {a_node(of or Node)}", hint)
        self.enter_level(start)
        options: dict[str, Any] = {}
        class_ = of if of is not None and not of.head else None
        if class_ is None:
            head = self.take()
            class_ = Operator if head.text in OPERATORS else HEADS.get(head.text)
            if head.kind != "word" or class_ is None or class_ is not (of or class_):
                known = [of.head] if of is not None else _EXPRESSIONS
                raise self.source.error(
                    head.start,
                    f"expected {'one of ' * (of is None)}{quote(known, limit=60)}, got {shorten(head.text, 40)}",
                    f"write (call {head.text} ..)" if head.text in FUNCTIONS else suggestion(head.text, known),
                )
            if class_ is Operator:
                options["op"] = head.text
        for field in fields_of(class_):
            if not (self.is_mark(")") and field.default is not attrs.NOTHING):  # the last ones may be left out
                options[field.name] = self.part(field)
        self.expect(")")
        self.levels -= 1
        return self.construct(start, lambda: class_(**options))

    def construct(self, start: Token, make: Callable[[], Node]) -> Node:
        """Construct a node; its errors get the position."""
        try:
            return make()
        except NotationError:
            raise
        except SubstraitDslError as error:
            message = f"{error.verb}: {error.message}" if error.verb else error.message
            raise self.source.error(start.start, message, error.hint) from error

    def part(self, field: attrs.Attribute[Any]) -> Any:
        """Parse a part of a node, by the form of its field."""
        match form_of(field):
            case Form.VALUE | Form.BINDINGS:
                return self.node()
            case Form.MAYBE_VALUE:
                return None if self.takes_null() else self.node()
            case Form.VALUES:
                return self.nodes(None)
            case Form.REST:
                return self.nodes(class_of(field))
            case Form.NODES:
                self.expect("(")
                found = self.nodes(class_of(field))
                self.expect(")")
                return found
            case Form.DATA:
                return self.data(bindings=False)
            case Form.MAYBE_NAME:
                others = " or null" if field.default is attrs.NOTHING else ", null or `)`"
                return None if self.takes_null() else self.name(_a_name(field.name) + others)
            case Form.NAME:
                return self.name(_a_name(field.name))
            case Form.WORD:
                return self.name(f"one of {quote(words_of(field).known)}")

    def nodes(self, of: type[Node] | None) -> tuple[Node, ...]:
        found = []
        while not self.is_mark(")"):
            found.append(self.node(of))
        return tuple(found)

    def takes_null(self) -> bool:
        is_null = self.next.kind == "word" and self.next.text == "null"
        self.at += is_null
        return is_null

    def name(self, expected: str) -> str:
        token = self.next
        is_quoted = token.kind in ("symbol", "string")
        if not is_quoted and (token.kind != "word" or token.text == "null"):
            self.fail(expected)
        self.at += 1
        return self.source.unquote(token) if is_quoted else token.text

    # --- data

    def data(self, *, bindings: bool) -> Any:
        """Parse a value; or a bindings collection, where one may come."""
        for opening in ("<<", "[", "{"):
            if self.is_mark(opening):
                return self.struct() if opening == "{" else self.collection(opening, bindings=bindings)
        if self.is_mark("<{"):
            stand = "binding tuples stand in a bag or a list: << <{ .. }> >>"
            self.fail("a value", stand if bindings else "a binding tuple is no value")
        return self.scalar()

    def collection(self, opening: str, *, bindings: bool) -> Any:
        start = self.next
        self.enter_level(start)
        self.expect(opening)
        values: list[Value] = []
        tuples: list[BindingTuple] = []
        while not self.takes(CLOSED_BY[opening]):
            place = self.next
            if bindings and self.is_mark("<{"):
                tuples.append(self.binding_tuple())
            else:
                values.append(self.data(bindings=False))
            if tuples and values:
                raise self.source.error(place.start, "a collection holds values or binding tuples, not both")
            if not self.takes(","):
                self.expect(CLOSED_BY[opening], f"`,` or `{CLOSED_BY[opening]}`")
                break
        self.levels -= 1
        if tuples:
            return BindingsData("bag" if opening == "<<" else "list", tuple(tuples))
        return Bag(tuple(values)) if opening == "<<" else tuple(values)

    def struct(self) -> Struct:
        return Struct(self.fields("{"))

    def binding_tuple(self) -> BindingTuple:
        start = self.next
        fields = self.fields("<{")
        try:
            return BindingTuple(fields)
        except SubstraitDslError as error:
            raise self.source.error(start.start, error.message) from error

    def fields(self, opening: str) -> tuple[tuple[str, Value], ...]:
        """Parse the names and values of a struct or a binding tuple."""
        self.enter_level(self.next)
        self.expect(opening)
        found: list[tuple[str, Value]] = []
        while not self.takes(CLOSED_BY[opening]):
            name = "" if self.is_mark(":") else self.name(_a_name("an attribute"))
            self.expect(":")
            found.append((name, self.data(bindings=False)))
            if not self.takes(","):
                self.expect(CLOSED_BY[opening], f"`,` or `{CLOSED_BY[opening]}`")
                break
        self.levels -= 1
        return tuple(found)

    def scalar(self) -> Value:
        token = self.next
        match token.kind:
            case "word":
                value: Value = _WORDS.get(token.text, token.text)
            case "symbol" | "string":
                value = self.source.unquote(token)
            case "number":
                value = self.number(token)
            case "infinity":
                value = float(token.text)
            case "timestamp":
                value = self.timestamp(token)
            case "blob":
                value = self.blob(token)
            case _:
                self.fail("a value")
        self.at += 1
        return value

    def number(self, token: Token) -> Value:
        """Parse a number: a float with an exponent e, a decimal with a point or an exponent d, else an integer."""
        text = token.text.lower()
        try:
            if "e" in text:
                number = float(text)
                if not isinf(number):
                    return number
                raise OverflowError
            return Decimal(text.replace("d", "e")) if "." in text or "d" in text else int(text)
        except (ArithmeticError, ValueError) as error:  # of more digits than Python reads
            raise self.source.error(token.start, f"the number {shorten(token.text, 40)} is out of range") from error

    def timestamp(self, token: Token) -> Value:
        try:
            day, _, time = token.text.partition("T")
            if not time:
                return dt.date.fromisoformat(day)
            if re.search(r"\.\d{7}", time):
                raise ValueError("it has parts of a microsecond")
            timestamp = dt.datetime.fromisoformat(token.text)
        except ValueError as error:
            raise self.source.error(token.start, f"{token.text} is no point in time: {error}") from error
        return timestamp.replace(tzinfo=None) if time.endswith("-00:00") else timestamp

    def blob(self, token: Token) -> bytes:
        try:
            return base64.b64decode("".join(token.text[2:-2].split()), validate=True)
        except binascii.Error as error:
            raise self.source.error(token.start, f"a blob is in base 64: {error}") from error


def _a_name(of: str) -> str:
    """Describe a name that was expected."""
    return "a name" if of == "name" else f"a name ({of.rstrip('_')})"


_WORDS: dict[str, Value] = {
    "null": None,
    "true": True,
    "false": False,
    "MISSING": MISSING,
    "nan": float("nan"),
}
"""Words that are no symbols."""
