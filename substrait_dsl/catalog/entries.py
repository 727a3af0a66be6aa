"""Strict reading of the mappings of an extension file: an unknown key is refused by name and line."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NoReturn, TypeVar, cast

import attrs

from substrait_dsl.algebra.frozen_values import FrozenValue
from substrait_dsl.algebra.type_parser import is_name, parse_program, parse_type_node
from substrait_dsl.algebra.type_syntax import Constant, Expression, Name, Program, TypeNode, parts_of
from substrait_dsl.catalog.records import Extension
from substrait_dsl.catalog.user_types import problem_in_text
from substrait_dsl.errors import CatalogError, PlanFormatError, quote, shorten, suggestion

Word = TypeVar("Word", bound=str)

MAX_NESTING = 99
"""How many levels a file, or a type in it, may have. No plan can hold a type of more."""

_MAX_REREAD = 1_000_000
"""How many characters the parser in Python, which is slow, reads again where the C parser has refused a text."""

_shown = reprlib.repr
"""A value for a message, shortened."""


def read_yaml(text: str, source: str) -> object:
    """Return the mappings, sequences and texts of a YAML document.

    Raises:
        CatalogError: If it is no YAML, or nests too deeply.
    """
    import yaml  # not at the top: importing the library must not cost what only a first function call needs

    # Where the C parser is missing, the Python one stands in; it refuses some texts, such as {value: i32?}, by name.
    base: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)

    class Loader(base):  # type: ignore[misc]  # which of two classes it extends is known when it runs
        """Refuses a key that a mapping has twice; the first of both would be lost."""

        def construct_mapping(self, node: Any, deep: bool = False) -> object:
            mapping = super().construct_mapping(node, deep)
            if len(mapping) < len(node.value):
                _refuse_repeated_key(node, source)
            return mapping

    try:
        _require_shallow(yaml.parse(text, Loader=base), source)
        return yaml.load(text, Loader=Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        if base is not yaml.BaseLoader and mark is not None and mark.index <= _MAX_REREAD:
            with suppress(yaml.YAMLError):  # some versions of the C parser refuse deep texts in words of their own
                _require_shallow(yaml.parse(text[: mark.index + 1], Loader=yaml.BaseLoader), source)
        raise CatalogError(f"{source} is not valid YAML: {' '.join(str(error).split())}") from error
    except UnicodeEncodeError:  # of the C parser; the other one raises an error of YAML
        raise CatalogError(f"{source} is not valid YAML: it is no Unicode text (a lone surrogate)") from None


def _require_shallow(events: Iterable[Any], source: str) -> None:
    """Raise `CatalogError` for a text that nests too deeply, or says with aliases more than it has letters for.

    Before it is read: the C parser overflows the stack of the process in a text of fifty thousand brackets, and aliases
    of aliases double what is read with every line.
    """
    import yaml

    depth = 0
    for event in events:
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.AliasEvent):
            line = "" if event.start_mark is None else f"line {event.start_mark.line + 1} has "
            raise CatalogError(
                f"{source}: {line}an alias, *{event.anchor}, which files about functions have no use for",
                hint="write the value instead",
            )
        if depth > MAX_NESTING:
            raise CatalogError(f"{source}: line {event.start_mark.line + 1} nests more than {MAX_NESTING} levels")


def _refuse_repeated_key(node: Any, source: str) -> NoReturn:
    lines: dict[str, int] = {}
    for key, _ in node.value:
        line = key.start_mark.line + 1
        if key.value in lines:
            raise CatalogError(
                f'{source}: line {line} has the key "{shorten(str(key.value), 60)}" again, '
                f"which line {lines[key.value]} has",
                hint="remove one of them",
            )
        lines[key.value] = line
    raise AssertionError("the keys differ")


@attrs.frozen(eq=False, repr=False)
class Entry(FrozenValue):
    """One mapping of the file. `where` names it in messages."""

    values: Mapping[str, object]
    where: str

    @classmethod
    def of(cls, value: object, where: str) -> Entry:
        """Return the mapping that a YAML value must be; an empty value is an empty mapping."""
        if value in ("", None):
            return cls({}, where)
        if not isinstance(value, Mapping):
            raise CatalogError(f"{where}: expected a mapping, got {_shown(value)}")
        return cls(value, where)

    def with_location(self, where: str) -> Entry:
        """Return the same mapping under another name."""
        return attrs.evolve(self, where=where)

    def require_only(self, *keys: str) -> None:
        """Refuse keys outside this list."""
        for key in self.values:
            if key not in keys:
                raise CatalogError(
                    f'{self.where}: unknown key "{key}"; expected {quote(keys, limit=20)}',
                    hint=suggestion(key, keys),
                )

    def text(self, key: str) -> str:
        """Return a text, empty if the key is absent."""
        value = self.values.get(key, "")
        if not isinstance(value, str):
            raise CatalogError(f"{self.where}: {key} must be a text, got {_shown(value)}")
        return value.strip()

    def require_text(self, key: str) -> str:
        """Return a text that must be there."""
        text = self.text(key)
        if not text:
            raise CatalogError(f'{self.where}: the key "{key}" is missing')
        return text

    def flag(self, key: str, *, default: bool = False) -> bool:
        """``true`` or ``false``."""
        word = self.text(key).lower() or str(default).lower()
        if word not in ("true", "false"):
            raise CatalogError(f"{self.where}: {key} must be true or false, got {self.text(key)!r}")
        return word == "true"

    def count(self, key: str) -> int | None:
        """Return an integer that is not negative, or None if the key is absent."""
        number = self.integer(key)
        if number is not None and number < 0:
            raise CatalogError(f"{self.where}: {key} must not be negative, got {number}")
        return number

    def integer(self, key: str) -> int | None:
        """Return an integer, or None if the key is absent."""
        text = self.text(key)
        try:
            return int(text) if text else None
        except ValueError:
            raise CatalogError(f"{self.where}: {key} must be an integer, got {_shown(text)}") from None

    def choice(self, key: str, allowed: Sequence[Word], default: Word | None = None) -> Word:
        """One of a closed list of words."""
        word = self.text(key) or default
        if word not in allowed:
            raise CatalogError(
                f"{self.where}: {key} must be one of {quote(allowed)}, got {word!r}",
                hint=suggestion(str(word), allowed),
            )
        return cast("Word", word)

    def words(self, key: str, *, may_be_empty: bool = False) -> tuple[str, ...]:
        """Return a sequence of texts: of at least one, unless it may be empty."""
        value = self.values.get(key)
        if (
            not isinstance(value, list)
            or not (value or may_be_empty)
            or not all(isinstance(word, str) for word in value)
        ):
            raise CatalogError(f"{self.where}: {key} must be a sequence of words, got {_shown(value)}")
        return tuple(value)

    def entry(self, key: str) -> Entry:
        """Return a mapping, empty if the key is absent."""
        return Entry.of(self.values.get(key), f"{self.where}, {key}")

    def mapping(self, key: str) -> dict[str, str]:
        """Return a mapping from texts to texts, empty if the key is absent."""
        entry = self.entry(key)
        return {name: entry.require_text(name) for name in entry.values}

    def entries(self, key: str) -> list[Entry]:
        """Return a sequence of mappings, empty if the key is absent."""
        value: Any = self.values.get(key) or []
        if not isinstance(value, list):
            raise CatalogError(f"{self.where}: {key} must be a sequence, got {_shown(value)}")
        return [Entry.of(item, f"{self.where}, {key} {number}") for number, item in enumerate(value, 1)]


class TypeTexts:
    """Reads the types of one file, each text once: files repeat a few types hundreds of times."""

    def __init__(self, urns: Mapping[str, str]) -> None:
        self._urns = urns
        self._extensions: Mapping[str, Extension] = {}
        self._patterns: dict[str, TypeNode] = {}
        self._programs: dict[str, Program] = {}

    def check_types_of(self, extensions: Mapping[str, Extension]) -> None:
        """From now on refuse user-defined types that are not as these extensions declare them."""
        self._extensions = extensions

    def require_declared(self, expression: Expression, where: str) -> None:
        """Raise `CatalogError` for a user-defined type that is not as its extension declares it."""
        problem = problem_in_text(self._extensions, expression)
        if problem is not None:
            raise CatalogError(f"{where}: {problem}")

    def pattern(self, text: str, where: str) -> TypeNode:
        """Return the pattern of an argument.

        Raises:
            CatalogError: If it is none; naming the place.
        """
        if text not in self._patterns:
            with _locate_errors(where, text):
                pattern = parse_type_node(text, self._urns, variables=True)
                _require_flat(pattern)
            _check_pattern(pattern, where)
            self.require_declared(pattern, where)
            self._patterns[text] = pattern
        return self._patterns[text]

    def struct_pattern(self, fields: Mapping[str, str], where: str) -> TypeNode:
        """Return the pattern of a struct with named fields, of which each type is a text by itself.

        Raises:
            CatalogError: As `pattern`; and for no fields, and for what is no name of one.
        """
        if not fields:
            raise CatalogError(f"{where}: expected at least one field")
        for name in fields:
            if not is_name(name):
                raise CatalogError(f'{where}: expected the name of a field, got "{name}"')
        patterns = tuple(self.pattern(pattern, f"{where}, {name}") for name, pattern in fields.items())
        pattern = TypeNode("nstruct", patterns, names=tuple(fields))
        with _locate_errors(where, str(pattern)):
            _require_flat(pattern)
        return pattern

    def program(self, text: str, where: str) -> Program:
        """Return a return type.

        Raises:
            CatalogError: As `pattern`.
        """
        if text not in self._programs:
            with _locate_errors(where, text):
                program = parse_program(text, self._urns)
                for expression in program.expressions():
                    _require_flat(expression)
            for expression in program.expressions():
                self.require_declared(expression, where)
            self._programs[text] = program
        return self._programs[text]


def _check_pattern(pattern: TypeNode, where: str) -> None:
    """Refuse what can be computed but not matched: ``decimal<P + 1, S>``."""
    for part in parts_of(pattern):
        if isinstance(part, TypeNode):
            _check_pattern(part, where)
        elif not isinstance(part, Name | Constant):
            raise CatalogError(f"{where}: an argument pattern holds types, names and numbers, got {part}")


def _require_flat(expression: Expression) -> None:
    """Raise `RecursionError` for an expression that nests too deeply for whoever goes through it later."""
    level: list[Expression] = [expression]
    for _ in range(MAX_NESTING):
        level = [part for each in level for part in parts_of(each)]
        if not level:
            return
    raise RecursionError


@contextmanager
def _locate_errors(where: str, text: str) -> Iterator[None]:
    try:
        yield
    except PlanFormatError as error:
        raise CatalogError(f"{where}: {error.message}", hint=error.hint) from error
    except RecursionError:
        raise CatalogError(f"{where}: cannot read a type nested this deeply: {shorten(text, 60)}") from None
