"""The section of extensions: the URNs that a plan uses, and what it declares of each, all with their anchors."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from substrait.plan_pb2 import Plan

from substrait_dsl.proto.plan_text.context import TextReader, TextWriter
from substrait_dsl.proto.plan_text.further_words import URN
from substrait_dsl.proto.plan_text.names import DECLARED, HEADINGS, Kind, read_anchor
from substrait_dsl.proto.plan_text.scanner import Scanner
from substrait_dsl.proto.plan_text.words import EXTENSIONS, INDENT

URNS = "URNs:"
"""The heading of the URNs."""

_KINDS: Mapping[str, Kind] = {f"extension_{kind}": kind for kind in HEADINGS.values()}
"""What the fields of a declaration declare."""

_URN = re.compile(r"\S+")
_NAME = re.compile(r"\S+")


def take_declarations(writer: TextWriter) -> None:
    """Take over what a plan declares."""
    for urn in writer.plan.extension_urns:
        if not _URN.fullmatch(urn.urn) or urn.extension_urn_anchor in writer.extensions.urns:
            raise writer.refuse("a URN with a space in it, or whose anchor another one has", urn)
        if urn.urn == URN:
            raise writer.refuse(f"the extension {URN}, whose functions stand for other things in a text", urn)
        writer.extensions.urns[urn.extension_urn_anchor] = urn.urn
    for extension in writer.plan.extensions:
        _add(writer, extension)


def write_declarations(writer: TextWriter) -> list[str]:
    """Write what is declared, in the order of the anchors; no lines if nothing is."""
    urns, declared = writer.extensions.urns, writer.extensions.declared
    lines = [URNS] if urns else []
    lines += [f"{INDENT}@{anchor:3}: {urns[anchor]}" for anchor in sorted(urns)]
    for heading, kind in HEADINGS.items():
        lines += [heading] if declared[kind] else []
        lines += [f"{INDENT}#{anchor:3} @{urn:3}: {name}" for anchor, (urn, name) in sorted(declared[kind].items())]
    return [EXTENSIONS, *lines] if lines else []


def _add(writer: TextWriter, extension: Any) -> None:
    """Take over the declaration of a function, a type or a type variation."""
    field = extension.WhichOneof("mapping_type") or ""
    declaration = getattr(extension, field)
    kind = _KINDS[field]
    anchor = getattr(declaration, f"{kind}_anchor")
    urn, name = declaration.extension_urn_reference, declaration.name
    what = kind.replace("_", " ")
    if urn not in writer.extensions.urns:
        raise writer.refuse(f'the {what} "{name}", which is of no extension', declaration)
    if kind == "type" and name.startswith("u!"):
        raise writer.refuse(f'the type "{name}": "u!" in front of a name is no part of it', declaration)
    if not (DECLARED.fullmatch(name) and (kind == "function" or ":" not in name)):
        raise writer.refuse(f'the {what} "{name}": a name is of letters, digits and underscores', declaration)
    if anchor in writer.extensions.declared[kind]:
        raise writer.refuse(f"a second {what} with the anchor {anchor}", declaration)
    writer.extensions.declare(kind, anchor, urn, name)


def read_declaration(reader: TextReader, scanner: Scanner, kind: Kind | None) -> None:
    """Read the line of a URN, if the kind is None, or of something that an extension declares."""
    extensions = reader.extensions
    if kind is None:
        anchor = _anchor(scanner, of_urn=True)
        scanner.expect(":")
        if anchor in extensions.urns:
            raise scanner.error(f"two URNs have the anchor {anchor}")
        extensions.urns[anchor] = _word(scanner, _URN, "a URN")
        return
    anchor, urn = _anchor(scanner, of_urn=False), _anchor(scanner, of_urn=True)
    if urn not in extensions.urns:
        raise scanner.error(f"no URN is declared as {urn}")
    if anchor in extensions.declared[kind]:
        raise scanner.error(f"two {kind.replace('_', ' ')}s have the anchor {anchor}")
    scanner.expect(":")
    scanner.skip_spaces()
    start = scanner.position
    name = _word(scanner, _NAME, "a name").removeprefix("u!" if kind == "type" else "")
    if not (DECLARED.fullmatch(name) and (kind == "function" or ":" not in name)):
        scanner.position = start
        raise scanner.error("a name is of letters, digits and underscores")
    extensions.declare(kind, anchor, urn, name)


def _anchor(scanner: Scanner, *, of_urn: bool) -> int:
    anchor = read_anchor(scanner, of_urn)
    if anchor is None:
        raise scanner.unexpected('an anchor, such as "@1"' if of_urn else 'an anchor, such as "#1"')
    return anchor


def _word(scanner: Scanner, pattern: re.Pattern[str], what: str) -> str:
    """Read the last word of a line."""
    found = scanner.match(pattern)
    if found is None:
        raise scanner.unexpected(what)
    scanner.skip_spaces()
    if scanner.position < len(scanner.text):
        raise scanner.unexpected("the end of the line")
    return found[0]


def fill_declarations(reader: TextReader, message: Plan) -> None:
    """Set what a plan declares, without the extension of this library for what the format has no word for."""
    for anchor, urn in reader.extensions.urns.items():
        if urn == URN:
            continue
        message.extension_urns.add(extension_urn_anchor=anchor, urn=urn)
    for kind, declared in reader.extensions.declared.items():
        for anchor, (reference, name) in declared.items():
            if reader.extensions.urns[reference] == URN:
                continue
            declaration = getattr(message.extensions.add(), f"extension_{kind}")
            declaration.extension_urn_reference = reference
            setattr(declaration, f"{kind}_anchor", anchor)
            declaration.name = name
