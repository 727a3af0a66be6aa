"""Names, texts, and what a plan declares of extensions.

A name is written as it is if it is an identifier, else between double quotes; a text stands between single ones.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, get_args

import attrs

from substrait_dsl.proto.plan_text.scanner import Scanner

Kind = Literal["function", "type", "type_variation"]
"""What an extension declares."""

HEADINGS: Mapping[str, Kind] = {"Functions:": "function", "Types:": "type", "Type Variations:": "type_variation"}
"""The headings in the section of extensions, in their order."""

IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_SIGNATURE = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?::(?:u!)?[A-Za-z0-9]*(?:_(?:u!)?[A-Za-z0-9]+)*)?")
DECLARED = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?::(?:(?:u!)?[A-Za-z][A-Za-z0-9]*(?:_(?:u!)?[A-Za-z][A-Za-z0-9]*)*)?)?")
"""The names of extensions that the format has: an identifier, and the signature of a function."""

_QUOTED = {quote: re.compile(rf"{quote}((?:\\.|[^{quote}\\\n])*){quote}", re.DOTALL) for quote in "\"'"}
_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "'": "\\'", '"': '\\"'}
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_MEANT = {"n": "\n", "r": "\r", "t": "\t"}
_ANCHOR = re.compile(r"# *(\d+)")
_URN_ANCHOR = re.compile(r"@ *(\d+)")


def write_text(text: str, quote: str = "'") -> str:
    """Write a text between quotes: what a line cannot have is escaped, all else stands as it is."""
    return f"{quote}{''.join(_ESCAPES.get(character, character) for character in text)}{quote}"


def read_quoted(scanner: Scanner, quote: str) -> str | None:
    """Read what stands between quotes; None if none begins here. Raises `PlanFormatError` if it does not end."""
    if not scanner.sees(quote):
        return None
    found = scanner.match(_QUOTED[quote])
    if found is None:
        raise scanner.error(f"nothing ends what the {quote} begins")
    return _ESCAPED.sub(lambda escape: _MEANT.get(escape[1], escape[1]), found[1])


def write_name(name: str) -> str:
    """Write the name of a table, a column or an extension message."""
    return name if IDENTIFIER.fullmatch(name) else write_text(name, '"')


def read_name(scanner: Scanner, what: str) -> str:
    """Read a name. Raises `PlanFormatError` if none stands here."""
    quoted = read_quoted(scanner, '"')
    if quoted is not None:
        return quoted
    found = scanner.match(IDENTIFIER)
    if found is None:
        raise scanner.unexpected(what)
    return found[0]


def read_anchor(scanner: Scanner, of_urn: bool = False) -> int | None:
    """Read an anchor, or that of a URN; None if none stands here. Raises `PlanFormatError` for a number too large."""
    found = scanner.match(_URN_ANCHOR if of_urn else _ANCHOR)
    if found is None:
        return None
    if len(found[1]) > _MAX_DIGITS or int(found[1]) >= 2**32:
        raise scanner.error("an anchor is an integer of 32 bits")
    return int(found[1])


_MAX_DIGITS = 20


def base_of(name: str) -> str:
    """Return the name of a function without its signature."""
    return name.partition(":")[0]


@attrs.define
class Extensions:
    """What a plan declares of extensions: URNs by their anchors, and names by kind and anchor, with their URNs."""

    urns: dict[int, str] = attrs.field(factory=dict)
    declared: dict[Kind, dict[int, tuple[int, str]]] = attrs.field(
        factory=lambda: {kind: {} for kind in get_args(Kind)}
    )

    def write_reference(self, kind: Kind, anchor: int) -> str | None:
        """Write a reference to something declared, as short as it is clear; None if nothing has that anchor.

        The signature of a function is written if others have its name, the anchor if others have both.
        """
        if anchor not in self.declared[kind]:
            return None
        _, name = self.declared[kind][anchor]
        others = [other for number, (_, other) in self.declared[kind].items() if number != anchor]
        has_namesake = kind == "function" and base_of(name) in map(base_of, others)
        needs_anchor = name in others or (has_namesake and ":" not in name)
        return f"{name if has_namesake else base_of(name)}{f'#{anchor}' if needs_anchor else ''}"

    def read_reference(self, scanner: Scanner, kind: Kind) -> int:
        """Read a reference to something declared. Raises `PlanFormatError` if nothing, or more, has that name."""
        start = scanner.position
        found = scanner.match(_SIGNATURE if kind == "function" else IDENTIFIER)
        if found is None:
            raise scanner.unexpected(f"the name of a {kind.replace('_', ' ')}")
        anchor, urn = read_anchor(scanner), read_anchor(scanner, of_urn=True)
        return self._find(scanner, kind, found[0], anchor, urn, start)

    def _find(self, scanner: Scanner, kind: Kind, name: str, anchor: int | None, urn: int | None, start: int) -> int:
        """Return the anchor of what is declared under a name, and under an anchor if one is written."""
        declared, what = self.declared[kind], kind.replace("_", " ")
        known = [
            number
            for number, (of_urn, other) in declared.items()
            if name in (other, base_of(other)) and urn in (None, of_urn) and anchor in (None, number)
        ]
        if len(known) == 1:
            return known[0]
        scanner.position = start
        if known:
            names = ", ".join(f"{declared[number][1]}#{number}" for number in sorted(known))
            raise scanner.error(f'{len(known)} {what}s are called "{name}"', hint=f"say which: {names}")
        if anchor is not None and anchor in declared:
            raise scanner.error(f'{what} {anchor} is declared as "{declared[anchor][1]}", not as "{name}"')
        if anchor is not None:
            raise scanner.error(f"no {what} is declared as {anchor}")
        raise scanner.unknown(what, name, (base_of(other) for _, other in declared.values()), start)
