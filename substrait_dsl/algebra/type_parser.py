"""The parser of the type text syntax: recursive descent over the tokens of a line.

Specification: ``grammar/SubstraitType.g4``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping

import attrs

from substrait_dsl.algebra.frozen_values import FrozenValue
from substrait_dsl.algebra.type_syntax import (
    ANY_LABELS,
    KEYWORDS,
    PARAMETER_NAMES,
    TYPES_OF_TYPES,
    Binary,
    Call,
    Conditional,
    Constant,
    Expression,
    Name,
    Operator,
    Program,
    TypeNode,
    Unary,
)
from substrait_dsl.algebra.types import TypeVariation
from substrait_dsl.errors import PlanFormatError, shorten, suggestion

PRECEDENCE: dict[Operator, int] = {
    "||": 1, "&&": 2, "=": 3, "!=": 3, "<": 4, ">": 4, "<=": 4, ">=": 4, "+": 5, "-": 5, "*": 6, "/": 6,
}  # fmt: skip
_OPERATOR_SPELLINGS: dict[str, Operator] = {**{op: op for op in PRECEDENCE}, "==": "=", "and": "&&", "or": "||"}
_COMPARISONS_WITH_BRACKETS = frozenset({"<", ">", "<=", ">="})
_INFIX_WORDS = frozenset({"then", "else", "and", "or"})
_CONSTANTS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_UNARY_PRECEDENCE = 7
_MAX_DIGITS = 20
"""Of a number: those of 64 bits have no more. Python would refuse thousands of them."""

# Few programs have comments and escapes in their types, so what finds them is compiled when there is one.
_HIDDEN = r"""
        '(?:[^'\\]|\\.)*+'?                       # a text, in which nothing is a comment
      | (?P<line>//[^\r\n]*+)
      | (?P<block>/\*(?:(?!\*/).)*+(?P<end>\*/)?)  # it ends at the first end: comments do not nest
    """
_BLANK = r"\s*+"
_TOKEN = re.compile(
    _BLANK
    + r"""(?:
        (?P<number>[0-9]+)
      | (?P<user>[uU]!)(?=[A-Za-z_$])
      | (?P<name>[A-Za-z_$][\w$]*)
      | (?P<text>'(?:[^'\\]|\\.)*+')
      | (?P<symbol>/\*|->|:=|!=|<=|>=|==|&&|\|\||[-+*/=!<>?:,.()\[\]])
    )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = r"\\(x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|.)"
"""An escape in a text: a character, or the code of one that is not seen."""
_TRAILING_BLANK = re.compile(_BLANK)


def _unescaped(escape: re.Match[str]) -> str:
    """Return the character for which an escape stands."""
    code = escape[1]
    if len(code) == 1:
        return _CONTROLS.get(code, code)
    return chr(int(code[1:], 16)) if int(code[1:], 16) <= sys.maxunicode else code


_CONTROLS = {"n": "\n", "r": "\r", "t": "\t"}


def without_comments(text: str) -> str:
    """Return the text with blanks in place of its comments, so that what remains stays where it is.

    A comment to the end of its line leaves the line break; one between ``/*`` and ``*/`` joins the lines that it
    spans, as comments are no tokens. One without an end stays, for the parser to refuse.
    """

    def blank(found: re.Match[str]) -> str:
        is_comment = found["line"] is not None or found["end"] is not None
        return " " * len(found[0]) if is_comment else found[0]

    return re.sub(_HIDDEN, blank, text, flags=re.VERBOSE | re.DOTALL) if "/" in text else text


def is_name(text: str) -> bool:
    """Return whether the text is one name, such as that of a field."""
    found = _TOKEN.fullmatch(text)
    return found is not None and found["name"] == text


def parse_type_node(text: str, urns: Mapping[str, str], *, variables: bool) -> TypeNode:
    """Parse one type. `variables` allows names such as ``P1`` and ``any1``, as argument patterns have them.

    Args:
        text: The type.
        urns: The URN behind each name of a user-defined type or variation (``point``, ``alias.point``).
        variables: Whether the text is a pattern.

    Raises:
        PlanFormatError: With the column, what was expected there, and the nearest keyword of a misspelt one.
    """
    parser = _Parser(text, without_comments(text), urns, frozenset() if variables else None)
    node = parser.type_node()
    parser.expect_end()
    return node


def parse_program(text: str, urns: Mapping[str, str]) -> Program:
    """Return the tree of a return type: lines ``name = expression``, then the type.

    Raises:
        PlanFormatError: As `parse_type_node`.
    """
    lines: list[tuple[int, str]] = []  # where each line with something on it begins, and the line
    start = 0
    for line in without_comments(text).split("\n"):
        if line.strip():
            lines.append((start, line))
        start += len(line) + 1
    assignments: list[tuple[str, Expression]] = []
    for position, (start, line) in enumerate(lines, 1):
        assigned = frozenset(name for name, _ in assignments)
        source = text[start : start + len(line)]
        number = text.count("\n", 0, start) + 1 if len(lines) > 1 else None
        parser = _Parser(source, line, urns, assigned, line=number)
        if position < len(lines):
            assignments.append(parser.assignment())
        else:
            return Program(tuple(assignments), parser.final_type())
    raise PlanFormatError("expected a type, got an empty text")


@attrs.frozen(eq=False, repr=False)
class _Token(FrozenValue):
    kind: str
    text: str
    column: int


def _tokens(text: str) -> Iterator[_Token]:
    position = 0
    while found := _TOKEN.match(text, position):
        kind = found.lastgroup or ""
        yield _Token(kind, found[kind], found.start(kind) + 1)
        position = found.end()
    end = _TRAILING_BLANK.match(text, position)
    position = end.end() if end else position
    # What no token fits becomes a token of its own, for the parser to trip over with an expectation in hand.
    yield _Token("end" if position == len(text) else "unknown", text[position : position + 1], position + 1)


class _Parser:
    """Recursive descent over the tokens of one line.

    `text` is the line for messages, `code` the same without its comments. `variables` are the names that earlier lines
    assigned; None forbids names altogether.
    """

    def __init__(
        self, text: str, code: str, urns: Mapping[str, str], variables: frozenset[str] | None, line: int | None = None
    ) -> None:
        self.text = text
        self.urns = urns
        self.variables = variables
        self.line = line
        self.tokens = list(_tokens(code))
        self.position = 0

    # --- tokens

    @property
    def next(self) -> _Token:
        return self.tokens[self.position]

    @property
    def after_next(self) -> _Token:
        return self.tokens[min(self.position + 1, len(self.tokens) - 1)]

    def take(self) -> _Token:
        token = self.next
        self.position = min(self.position + 1, len(self.tokens) - 1)
        return token

    def accept(self, *spellings: str) -> bool:
        """Skip the next token if it is one of these symbols or words."""
        if self.next.kind in ("symbol", "name") and self.next.text.lower() in spellings:
            self.take()
            return True
        return False

    def expect(self, symbol: str) -> None:
        if not self.accept(symbol):
            raise self.error(f'expected "{symbol}"')

    def expect_end(self) -> None:
        if self.next.kind != "end":
            raise self.error("expected the end of the text")

    def error(
        self, expected: str, token: _Token | None = None, *, came: str | None = None, hint: str | None = None
    ) -> PlanFormatError:
        token = token or self.next
        before = self.text[: token.column - 1]  # a comment may span lines
        line = None if self.line is None else self.line + before.count("\n")
        column = token.column if line is None else len(before) - before.rfind("\n")
        place = f"column {column}" if line is None else f"line {line}, column {column}"
        if token.text == "/*":
            hint = 'a comment that begins with "/*" ends with "*/"'
        came = came or (f'"{token.text}"' if token.text else "the end of the text")
        return PlanFormatError(
            f'cannot read the type "{shorten(self.text.strip())}": {expected} at {place}, got {came}',
            names=[self.text],
            hint=hint,
        )

    # --- statements

    def assignment(self) -> tuple[str, Expression]:
        name = self.take()
        if name.kind != "name" or not self.accept("=", ":="):
            raise self.error('expected "name = expression" on every line but the last', name)
        value = self.expression()
        self.expect_end()
        return name.text, value

    def final_type(self) -> Expression:
        first = self.next
        result = self.expression()
        self.expect_end()
        self.check_type_position(result, first)
        return result

    def check_type_position(self, node: Expression, token: _Token) -> None:
        """Refuse what cannot be a type: numbers, and names that no earlier line assigned."""
        if isinstance(node, Name) and node.text not in (self.variables or ()):
            raise self.unknown_type(token)
        computed = (Name, Conditional) if self.variables is not None else ()
        if not isinstance(node, (TypeNode, *computed)):
            raise self.error("expected a type", token)

    def unknown_type(self, token: _Token) -> PlanFormatError:
        return self.error("expected the name of a type", token, hint=suggestion(token.text, KEYWORDS))

    # --- expressions

    def expression(self, minimum: int = 0, *, in_brackets: bool = False) -> Expression:
        """Return an expression of operators that bind at least as tightly as `minimum`.

        Directly inside ``<`` and ``>`` these two are brackets, never comparisons.
        """
        left = self.operand(in_brackets=in_brackets)
        while operator := self.operator(in_brackets):
            if PRECEDENCE[operator] < minimum:
                break
            self.take()
            left = Binary(operator, left, self.expression(PRECEDENCE[operator] + 1, in_brackets=in_brackets))
        if minimum == 0 and self.accept("?"):
            then = self.expression(in_brackets=in_brackets)
            self.expect(":")
            left = Conditional(left, then, self.expression(in_brackets=in_brackets))
        return left

    def operator(self, in_brackets: bool) -> Operator | None:
        token = self.next
        if token.kind not in ("symbol", "name") or (in_brackets and token.text in _COMPARISONS_WITH_BRACKETS):
            return None
        return _OPERATOR_SPELLINGS.get(token.text.lower())

    def operand(self, *, in_brackets: bool) -> Expression:
        if self.accept("("):
            inner = self.expression()
            self.expect(")")
            return inner
        if self.accept("!"):
            return Unary("!", self.expression(_UNARY_PRECEDENCE, in_brackets=in_brackets))
        if self.accept("-"):
            operand = self.expression(_UNARY_PRECEDENCE, in_brackets=in_brackets)
            if isinstance(operand, Constant) and type(operand.value) is int:
                return Constant(-operand.value)
            return Unary("-", operand)
        if self.accept("if"):
            condition = self.expression(in_brackets=in_brackets)
            self.expect("then")
            then = self.expression(in_brackets=in_brackets)
            self.expect("else")
            return Conditional(condition, then, self.expression(in_brackets=in_brackets))
        return self.atom()

    def atom(self) -> Expression:
        token = self.next
        match token.kind:
            case "number" if len(token.text) > _MAX_DIGITS:
                came = f'"{shorten(token.text, _MAX_DIGITS)}"'
                raise self.error(f"expected a number of at most {_MAX_DIGITS} digits", came=came)
            case "number":
                return Constant(int(self.take().text))
            case "text":
                return Constant(re.sub(_ESCAPE, _unescaped, self.take().text[1:-1], flags=re.DOTALL))
            case "user":
                return self.type_node()
            case "name" if self.is_type(token) or self.after_next.text == ".":
                return self.type_node()
            case "name" if token.text.lower() in _CONSTANTS:
                return Constant(_CONSTANTS[self.take().text.lower()])
            case "name":
                return self.name_or_call()
        raise self.error("expected a type")

    def name_or_call(self) -> Expression:
        name = self.take().text
        if self.accept("("):
            arguments: list[Expression] = []
            while not self.accept(")"):
                if arguments:
                    self.expect(",")
                arguments.append(self.expression())
            return Call(name, tuple(arguments))
        return Name(name, self.nullability_mark())

    def nullability_mark(self) -> bool:
        """Skip a ``?`` that marks nullability. One that an operand follows asks a question: ``a ? b : c``."""
        then = self.after_next
        asks = then.text in ("(", "!", "-") or (
            then.kind in ("number", "name", "user") and then.text.lower() not in _INFIX_WORDS
        )
        return not asks and self.accept("?")

    # --- types

    def is_type(self, token: _Token) -> bool:
        word = token.text.lower()
        return word in KEYWORDS or (self.variables is not None and word in ANY_LABELS)

    def type_node(self) -> TypeNode:
        """Return a type: ``keyword[variation]<parameters>?``; the mark may also follow the keyword."""
        token = self.next
        if token.kind == "user" or (token.kind == "name" and self.after_next.text == "."):
            keyword, (name, urn) = "u!", self.user_type()
        elif token.kind == "name" and self.is_type(token):
            word = self.take().text.lower()
            keyword, name, urn = KEYWORDS.get(word, word), "", ""
        elif token.kind == "name":
            raise self.unknown_type(token)
        else:
            raise self.error("expected a type")
        nullable = self.nullability_mark()
        variation = self.variation(keyword)
        names: tuple[str, ...] = ()
        parameters: tuple[Expression, ...] = ()
        if self.accept("<"):
            names, parameters = self.nstruct_fields() if keyword == "nstruct" else ((), self.parameters(keyword))
        if not nullable:
            nullable = self.nullability_mark()
        self.check_count(keyword, len(parameters), token)
        return TypeNode(keyword, parameters, nullable, variation, urn, name, names)

    def user_type(self) -> tuple[str, str]:
        """``u!name`` or ``alias.u!name``: the name and the URN."""
        alias = ""
        if self.next.kind == "name":
            alias = self.take().text + "."
            self.expect(".")
        if self.take().kind != "user":
            raise self.error('expected "u!"')
        return self.declared("user-defined type", alias)

    def declared(self, what: str, alias: str = "") -> tuple[str, str]:
        token = self.take()
        name = alias + token.text
        urn = self.urns.get(name)
        if urn is None or token.kind != "name":
            hint = suggestion(name, self.urns)
            raise self.error(f"expected a {what} that an extension declares", token, came=f'"{name}"', hint=hint)
        return token.text, urn

    def variation(self, keyword: str) -> TypeVariation | None:
        token = self.next
        if not self.accept("["):
            return None
        if keyword == "func" or keyword in ANY_LABELS:
            raise self.error(f"{keyword} has no variations, expected none", token)
        name, urn = self.declared("type variation")
        self.expect("]")
        return TypeVariation(urn, name)

    def parameters(self, keyword: str) -> tuple[Expression, ...]:
        """Parse the parameters after ``<``, up to and with ``>``."""
        if keyword == "func":
            return self.func_parameters()
        if keyword == "struct" and self.after_next.text == ":":
            hint = f"the fields of nstruct<{self.next.text}: ...> have names"
            raise self.error("expected the type of a field without a name", hint=hint)
        parameters = [self.parameter(keyword)]
        while self.accept(","):
            parameters.append(self.parameter(keyword))
        self.expect(">")
        return tuple(parameters)

    def parameter(self, keyword: str) -> Expression:
        token = self.next
        node = self.expression(in_brackets=True)
        if keyword in TYPES_OF_TYPES:
            self.check_type_position(node, token)
        elif keyword != "u!" and self.variables is None and not isinstance(node, Constant):
            raise self.error("expected a number", token)  # a bare name is a value of an enumeration in u!name<..> only
        return node

    def func_parameters(self) -> tuple[Expression, ...]:
        inputs: list[Expression] = []
        if self.accept("("):
            while not self.accept(")"):
                if inputs:
                    self.expect(",")
                inputs.append(self.parameter("func"))
        else:
            inputs.append(self.parameter("func"))
        self.expect("->")
        result = self.parameter("func")
        self.expect(">")
        return (*inputs, result)

    def nstruct_fields(self) -> tuple[tuple[str, ...], tuple[Expression, ...]]:
        fields: list[tuple[str, Expression]] = []
        while not fields or self.accept(","):
            name = self.take()
            if name.kind != "name":
                raise self.error("expected the name of a field", name)
            self.expect(":")
            fields.append((name.text, self.parameter("nstruct")))
        self.expect(">")
        return tuple(name for name, _ in fields), tuple(type_ for _, type_ in fields)

    def check_count(self, keyword: str, count: int, token: _Token) -> None:
        expected = PARAMETER_NAMES.get(keyword, () if keyword in ANY_LABELS else None)
        came = f"{count or 'no'} parameter{'' if count == 1 else 's'}"
        if keyword == "func" and not count:
            raise self.error("expected func<parameters -> result>", token, came=came)
        if expected is not None and count != len(expected):
            form = f"{keyword}<{','.join(expected)}>" if expected else f"{keyword} without parameters"
            raise self.error(f"expected {form}", token, came=came)
