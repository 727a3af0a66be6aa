"""Names, texts, and what a plan declares of extensions.

A name is written as it is if it is an identifier, else between double quotes; a text stands between single ones.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, get_args

import attrs

from substrait_dsl.proto.plan_text.scanner import Scanner, to_integer

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
_STANDS = r"all characters stand as they are, but \n, \r and \t, and \\ for a backslash"
_ANCHOR = re.compile(r"# *([0-9]+)")
_URN_ANCHOR = re.compile(r"@ *([0-9]+)")


def write_text(text: str, quote: str = "'") -> str:
    """Write a text between quotes: what a line cannot have is escaped, all else stands as it is."""
    return f"{quote}{''.join(_ESCAPES.get(character, character) for character in text)}{quote}"


def read_quoted(scanner: Scanner, quote: str) -> str | None:
    """Read what stands between quotes; None if none begins here.

    Raises `PlanFormatError` if it does not end, or has a backslash in front of a letter that means nothing with it.
    """
    if not scanner.sees(quote):
        return None
    found = scanner.match(_QUOTED[quote])
    if found is None:
        raise scanner.error(f"nothing ends what the {quote} begins")
    for escape in _ESCAPED.finditer(found[1]):
        # The program writes \0 and \u{1b} for characters, and reads them as letters.
        if escape[1].isalnum() and escape[1] not in _MEANT:
            scanner.position = found.start(1) + escape.start()
            raise scanner.error(f"there is no escape {escape[0]}", hint=_STANDS)
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
    anchor = to_integer(found[1])
    if anchor is None or anchor >= 2**32:
        raise scanner.error("an anchor is an integer of 32 bits")
    return anchor


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
    _anchors: dict[tuple[Kind, str, int | None], list[int]] = attrs.field(factory=dict)
    """The anchors of what has a name, or this in front of a signature: of any URN (None), and of each."""

    def declare(self, kind: Kind, anchor: int, urn: int, name: str) -> None:
        """Add something that is declared."""
        self.declared[kind][anchor] = urn, name
        for each in {name, base_of(name)}:
            for of_urn in (None, urn):
                self._anchors.setdefault((kind, each, of_urn), []).append(anchor)

    def has(self, kind: Kind, name: str) -> bool:
        """Whether something is declared under a name."""
        return (kind, name, None) in self._anchors

    def write_reference(self, kind: Kind, anchor: int) -> str | None:
        """Write a reference to something declared, as short as it is clear; None if nothing has that anchor.

        The signature of a function is written if others have its name, the anchor if others have both.
        """
        if anchor not in self.declared[kind]:
            return None
        _, name = self.declared[kind][anchor]
        has_namesake = kind == "function" and len(self._anchors[kind, base_of(name), None]) > 1
        needs_anchor = len(self._anchors[kind, name, None]) > 1
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
        known = self._anchors.get((kind, name, urn), [])
        if anchor is not None:
            of_urn, other = declared.get(anchor, (None, ""))
            known = [anchor] if name in (other, base_of(other)) and urn in (None, of_urn) else []
        if len(known) == 1:
            return known[0]
        scanner.position = start
        if known:
            names = ", ".join(f"{declared[number][1]}#{number}" for number in sorted(known)[:_LISTED])
            more = ", ..." if len(known) > _LISTED else ""
            raise scanner.error(f'{len(known)} {what}s are called "{name}"', hint=f"say which: {names}{more}")
        if anchor is None and self.has(kind, name):
            raise scanner.error(f'no {what} "{name}" is of the URN {urn}')
        if anchor is not None and anchor in declared:
            of_urn, other = declared[anchor]
            is_named = name in (other, base_of(other))
            differs = f"of the URN {of_urn}, not of {urn}" if is_named else f'declared as "{other}", not as "{name}"'
            raise scanner.error(f"{what} {anchor} is {differs}")
        if anchor is not None:
            raise scanner.error(f"no {what} is declared as {anchor}")
        raise scanner.unknown(what, name, (base_of(other) for _, other in declared.values()), start)


_LISTED = 20
"""The number of names that an error lists."""
