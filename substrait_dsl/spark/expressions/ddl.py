"""Columns as DDL, the text that PySpark takes for a schema: ``id BIGINT NOT NULL, tags ARRAY<STRING>``.

A type is read as Spark reads it, and written if reading it gives the same type; what has no counterpart is refused by
name. Reading needs neither Spark nor Java.

Specification: https://spark.apache.org/docs/latest/sql-ref-datatypes.html and ``colTypeList`` of Spark's grammar.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import NoReturn

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.algebra.type_text import parse_type
from substrait_dsl.algebra.types import refuse_deep_types
from substrait_dsl.errors import InvalidArgumentError, PlanFormatError, SchemaError, UnsupportedError, shorten
from substrait_dsl.spark.expressions.types import ATOMS, MICROSECONDS

# Reading

_TOKEN = re.compile(
    r"\s*(?:(?P<quoted>`(?:[^`]|``)*`)|(?P<text>'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.|\"\")*\")|(?P<word>\w+)|(?P<sign>[<>(),:]))"
)

_SYNONYMS: Mapping[str, str] = {
    "BYTE": "TINYINT",
    "SHORT": "SMALLINT",
    "INTEGER": "INT",
    "LONG": "BIGINT",
    "REAL": "FLOAT",
    "TIMESTAMP": "TIMESTAMP_LTZ",  # a point in time, as Spark has it unless it is set otherwise
}
_DECIMALS = ("DECIMAL", "DEC", "NUMERIC")
_CHARACTERS = {"CHAR": t.FixedChar, "CHARACTER": t.FixedChar, "VARCHAR": t.VarChar}
_INTERVALS = ("INTERVAL DAY TO SECOND", "INTERVAL YEAR TO MONTH")
_WITHOUT_COUNTERPART: Mapping[str, str] = {
    "GEOGRAPHY": "convert it to well-known binary",
    "GEOMETRY": "convert it to well-known binary",
    "VARIANT": "extract the values, or cast it to a text",
    "VOID": "give it the type that its values should have",
}


@cache
def _simple_types() -> Mapping[str, t.Type]:
    """By its name, each type that has no parameters and no types inside."""
    named = {atom.sql: type_ for type_, atom in ATOMS.items()}
    return named | {synonym: named[name] for synonym, name in _SYNONYMS.items()}


@refuse_deep_types()
def parse_ddl(text: str) -> NamedStruct:
    """Read columns from DDL.

    Args:
        text: the columns as Spark's DDL has them, with ``NOT NULL`` and ``COMMENT``, or a struct of them as
            ``simpleString()`` of a schema of PySpark writes it.

    Returns:
        The columns. What is not ``NOT NULL`` is nullable, and so are elements of arrays and values of maps. Comments
        are no part of them.

    Raises:
        SchemaError: the text is no DDL: with the place and what was expected.
        UnsupportedError: a type has no Substrait equal.
    """
    parser = _Parser(text)
    if re.match(r"\s*struct\s*<", text, re.IGNORECASE):
        type_ = parser.type_("")
        parser.expect_end()
        assert isinstance(type_, t.Struct)
        return NamedStruct.of(zip(type_.field_names, type_.types, strict=True))
    fields = parser.fields("")
    parser.expect_end()
    return NamedStruct(fields)


class _Parser:
    """Reads one text from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0
        self._next = self._read()

    def _read(self) -> re.Match[str] | None:
        """Return the next token; None at the end."""
        found = _TOKEN.match(self._text, self._place)
        if found is None and self._text[self._place :].strip():
            self._refuse("a name, a type or a sign")
        return found

    @property
    def _word(self) -> str:
        """The next token in capitals; empty at the end."""
        return "" if self._next is None else self._next[0].strip().upper()

    def _is(self, *groups: str) -> bool:
        """Return whether the next token is of one of some groups."""
        return self._next is not None and self._next.lastgroup in groups

    def _take(self) -> re.Match[str]:
        assert self._next is not None
        taken, self._place = self._next, self._next.end()
        self._next = self._read()
        return taken

    def _takes(self, word: str) -> bool:
        """Return whether the next token is a word or a sign, and pass over it then."""
        if self._word != word:
            return False
        self._take()
        return True

    def _expect(self, *words: str) -> None:
        for word in words:
            if not self._takes(word):
                self._refuse(f'"{word}"')

    def _refuse(self, expected: str, hint: str | None = None) -> NoReturn:
        rest = self._text[self._place :].lstrip()
        came = f'"{shorten(rest, 30)}"' if rest else "the end"
        raise SchemaError(
            f"cannot read the DDL at character {len(self._text) - len(rest) + 1}: expected {expected}, got {came}",
            names=[self._text],
            hint=hint or 'write "id bigint not null, name string", as PySpark takes it',
        )

    def expect_end(self) -> None:
        """Refuse what stands after the last column."""
        if self._next is not None:
            self._refuse('"," or NOT NULL or COMMENT')

    def fields(self, path: str) -> tuple[Field, ...]:
        """Read columns, or the fields of the struct at a path."""
        fields = [self._field(path)]
        while self._takes(","):
            fields.append(self._field(path))
        return tuple(fields)

    def _field(self, path: str) -> Field:
        if not self._is("word", "quoted"):
            self._refuse("the name of a column")
        token = self._take()
        name = token["word"] if token["quoted"] is None else token["quoted"][1:-1].replace("``", "`")
        self._takes(":")
        type_ = self.type_(f"{path}.{name}" if path else name)
        nullable = not self._takes("NOT")
        if not nullable:
            self._expect("NULL")
        if self._takes("COMMENT"):
            if not self._is("text"):
                self._refuse("the text of a comment in quotes")
            self._take()
        return Field(name, type_.with_nullability(nullable))

    def type_(self, path: str) -> t.Type:
        """Read the type of the column at a path, required."""
        if not self._is("word"):
            self._refuse("a type")
        start = self._place
        word = self._word
        self._take()
        try:
            return self._parameterized(word, path)
        except InvalidArgumentError as error:  # parameters that the Substrait type cannot have
            written = self._text[start : self._place].strip()
            raise UnsupportedError(f"{shorten(written)} has no Substrait type: {error.message}", path=path) from error
        except LookupError:
            self._place = start
            self._next = self._read()
            self._refuse_word(word, path)

    def _refuse_word(self, word: str, path: str) -> NoReturn:
        """Refuse a word that no type begins with."""
        if word in _WITHOUT_COUNTERPART:
            raise UnsupportedError(
                f"the Spark type {word} has no Substrait type", hint=_WITHOUT_COUNTERPART[word], path=path
            )
        self._refuse("a type of Spark such as BIGINT, DECIMAL(10,2) or ARRAY<STRING>", _hint(word))

    def _parameterized(self, word: str, path: str) -> t.Type:
        """Read what follows the first word of a type. Raise `LookupError` if no type begins with it."""
        match word:
            case "ARRAY":
                self._expect("<")
                element = self.type_(f"{path}[]").as_nullable()
                self._expect(">")
                return t.List(element)
            case "MAP":
                self._expect("<")
                key = self.type_(f"{path}[key]")
                self._expect(",")
                value = self.type_(f"{path}[value]").as_nullable()
                self._expect(">")
                return t.Map(key, value)
            case "STRUCT":
                self._expect("<")
                fields = self.fields(path)
                self._expect(">")
                return NamedStruct(fields).row_type()
            case "INTERVAL":
                return self._interval(path)
            case "TIME":
                return t.PrecisionTime(*(self._numbers(1) or (MICROSECONDS,)))  # type: ignore[type-var]  # known only now
            case _ if word in _DECIMALS:
                precision, *scale = self._numbers(2) or (10,)
                return t.Decimal(precision, *(scale or (0,)))  # type: ignore[type-var]  # likewise
            case _ if word in _CHARACTERS:
                if not (length := self._numbers(1)):
                    self._refuse("a length in parentheses")
                return _CHARACTERS[word](*length)
            case _:
                if self._word == "COLLATE":
                    self._refuse('"," or NOT NULL or COMMENT; collations compare texts otherwise than Substrait does')
                return _simple_types()[word]

    def _interval(self, path: str) -> t.Type:
        words = []
        while self._word in ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "TO"):
            words.append(self._word)
            self._take()
        name = " ".join(["INTERVAL", *words])
        if name not in _INTERVALS:
            raise UnsupportedError(
                f"the Spark type {name} has no Substrait type", hint=f"write {' or '.join(_INTERVALS)}", path=path
            )
        return _simple_types()[name]

    def _numbers(self, most: int) -> tuple[int, ...]:
        """Read up to so many numbers in parentheses; none if there are no parentheses."""
        if not self._takes("("):
            return ()
        numbers: list[int] = []
        while True:
            if not self._word.isdecimal():
                self._refuse("a number")
            numbers.append(int(self._take()[0]))
            if len(numbers) == most or not self._takes(","):
                break
        self._expect(")")
        return tuple(numbers)


def _hint(word: str) -> str | None:
    """Return the hint for a type of Substrait in DDL."""
    try:
        type_ = parse_type(word.lower())
    except PlanFormatError:
        return None
    spark = f"Spark has it as {ATOMS[type_].sql}; " if type_ in ATOMS else ""
    return f'{spark}a dict takes the types of Substrait: {{"x": "{word.lower()}"}}'


# Writing


def to_ddl(schema: NamedStruct) -> str:
    """Write columns as DDL that `parse_ddl` reads back to equal ones.

    Raises:
        UnsupportedError: Spark's DDL has no such type; the error names it and the path to the column.
    """
    return ", ".join(_written(field.name, field.type, field.name, " ") for field in schema)


_PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def _written(name: str, type_: t.Type, path: str, between: str) -> str:
    quoted = name if _PLAIN.fullmatch(name) else f"`{name.replace('`', '``')}`"
    return f"{quoted}{between}{_text(type_, path)}{'' if type_.nullable else ' NOT NULL'}"


def _text(type_: t.Type, path: str) -> str:
    required = type_.as_required()
    if required.variation is not None:
        raise UnsupportedError(f"DDL has no variations of types, got {type_}", path=path)
    match required:
        case t.List(element=element) if element.nullable:
            return f"ARRAY<{_text(element, f'{path}[]')}>"
        case t.Map(key=key, value=value) if value.nullable and not key.nullable:
            return f"MAP<{_text(key, f'{path}[key]')}, {_text(value, f'{path}[value]')}>"
        case t.Struct(names=names) if names:
            fields = zip(names, required.types, strict=True)
            return f"STRUCT<{', '.join(_written(name, each, f'{path}.{name}', ': ') for name, each in fields)}>"
        case t.Decimal(precision=precision, scale=scale):
            return f"DECIMAL({precision},{scale})"
        case t.FixedChar(length=length):
            return f"CHAR({length})"
        case t.VarChar(length=length):
            return f"VARCHAR({length})"
        case t.PrecisionTime(precision=digits) if digits <= MICROSECONDS:
            return f"TIME({digits})"
        case _ if required in ATOMS:
            return ATOMS[required].sql
    raise UnsupportedError(f"Spark's DDL has no type for {type_}", hint=_way_out(required), path=path)


def _way_out(type_: t.Type) -> str | None:
    """Return the hint for a type that DDL cannot write."""
    match type_:
        case t.List(element=element):
            return f"it says that elements may be NULL: {t.List(element.as_nullable())}"
        case t.Map(key=key, value=value):
            return f"it says that values may be NULL, and keys not: {t.Map(key.as_required(), value.as_nullable())}"
        case t.Struct():
            return "give its fields names"
        case t.PrecisionTime() | t.PrecisionTimestamp() | t.PrecisionTimestampTZ() | t.IntervalDay():
            return f"Spark has {MICROSECONDS} digits after the second: {type(type_)(MICROSECONDS)} can be written"
        case t.UUID():
            return "to_spark() makes a Spark schema, with texts for uuids"
        case _:
            return None
