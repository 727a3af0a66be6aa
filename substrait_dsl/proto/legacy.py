"""Plans of any version of the specification as current messages.

Decoding sees only current messages, with all that was in the bytes: fields that `legacy_translation` does not know are
refused. Bytes and JSON go one way: into the messages of `legacy_schema`, and from there on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, MutableSequence
from typing import Any, TypeVar

import attrs
from google.protobuf.message import DecodeError, EncodeError, Message
from google.protobuf.unknown_fields import UnknownFieldSet
from substrait.extended_expression_pb2 import ExtendedExpression
from substrait.plan_pb2 import Plan

from substrait_dsl.algebra.findings import Finding
from substrait_dsl.errors import PlanFormatError
from substrait_dsl.proto.complexity_limits import require_few_parts
from substrait_dsl.proto.json_text import read_json
from substrait_dsl.proto.legacy_plan import OldPlan, version_of
from substrait_dsl.proto.legacy_schema import NEW_FIELDS, PACKAGE, REMOVED_FIELDS, NewField, old_class
from substrait_dsl.proto.legacy_translation import FORMER_OBJECTS, TRANSLATIONS
from substrait_dsl.proto.unknown_fields import drop_unknown_fields
from substrait_dsl.proto.versions import WORDS, installed_version, require_known_major

W = TypeVar("W", Plan, ExtendedExpression)

LAST_REMOVAL = (0, 98)
"""The version that removed the last field: a plan of it or newer, without unknown fields, is current."""


def modern_plan(data: bytes, findings: MutableSequence[Finding] | None = None) -> Plan:
    """Read the bytes of a plan of any version of the specification.

    Args:
        data: the serialised plan.
        findings: is told what was read by a reading of ours rather than by the letter.

    Returns:
        The plan as a message of today, without unknown fields.

    Raises:
        PlanFormatError: the bytes are no plan, a field is unknown, or an old field cannot be said today.
    """
    return _modern(Plan, data, findings)


def modern_extended_expression(data: bytes, findings: MutableSequence[Finding] | None = None) -> ExtendedExpression:
    """Read the bytes of an extended expression of any version. Arguments, result and errors as of `modern_plan`."""
    return _modern(ExtendedExpression, data, findings)


def _modern(message_class: type[W], data: bytes, findings: MutableSequence[Finding] | None) -> W:
    document: W = _parse(message_class, data)
    require_few_parts(document)
    require_known_major(document)
    has_removed = drop_unknown_fields(document, data)
    if not has_removed and version_of(document) >= LAST_REMOVAL:
        return document
    old: Any = _parse(old_class(message_class), data)
    for message, place, number in _unknown_fields(old) if has_removed else ():
        raise _unknown_field(message, place, number)
    found: list[Finding] = []
    try:
        _translate(old, OldPlan.of(old, has_removed, found))
        data = old.SerializeToString()
        modern = message_class.FromString(data)
    except (DecodeError, EncodeError):  # arguments take a level more than the same as args
        what = WORDS[message_class.DESCRIPTOR.name]
        raise PlanFormatError(f"in current messages, {what} nests them more than 100 deep") from None
    if drop_unknown_fields(modern, data):
        for message, place, number in _unknown_fields(message_class.FromString(data)):
            raise _left_over_error(message, place, number)
    if findings is not None:
        findings.extend(found)
    return modern


def modern_plan_from_json(text: str, findings: MutableSequence[Finding] | None = None) -> Plan:
    """Read the JSON of a plan of any version; comment lines (``// ...``) may stand in front of it.

    Args:
        text: the plan in protobuf's JSON form, in the names of any version.
        findings: as for `modern_plan`.

    Returns:
        The plan as a message of today.

    Raises:
        PlanFormatError: as for `modern_plan`; or the text is no JSON, or has a key or a value that no plan has.
    """
    return _modern_from_json(Plan, text, findings)


def modern_extended_expression_from_json(
    text: str, findings: MutableSequence[Finding] | None = None
) -> ExtendedExpression:
    """Read the JSON of an extended expression of any version. Arguments, result and errors as of `modern_plan`."""
    return _modern_from_json(ExtendedExpression, text, findings)


def _modern_from_json(message_class: type[W], text: str, findings: MutableSequence[Finding] | None) -> W:
    old: Any = old_class(message_class)()
    read_json(_without_heading(text), old, _since, FORMER_OBJECTS)
    return _modern(message_class, old.SerializeToString(), findings)


_HEADING = re.compile(r"\s*//.*\n")


def _without_heading(text: str) -> str:
    """Return the text without leading comments and a byte order mark; its lines keep their numbers."""
    text = text.removeprefix("\ufeff")
    end = 0
    while match := _HEADING.match(text, end):
        end = match.end()
    return "\n" * text.count("\n", 0, end) + text[end:]


def _parse(message_class: type[Any], data: bytes) -> Any:
    try:
        return message_class.FromString(data)
    except DecodeError:
        what = WORDS[message_class.DESCRIPTOR.name].removeprefix("the ")
        raise PlanFormatError(
            f"these bytes are no Substrait {what}",
            hint="they look like JSON: read their text, data.decode(), with from_json, and a file with load"
            if data.lstrip(_IN_FRONT_OF_JSON).startswith((b"{", b"//"))
            else "they are cut short, are something else, or nest messages more than 100 deep, which parsers refuse",
        ) from None


_IN_FRONT_OF_JSON = b"\xef\xbb\xbf \t\r\n"


def _translate(plan: Message, old: OldPlan) -> None:
    """Translate legacy fields to current ones, those of the inner messages first."""
    for message, place in reversed(list(messages_of(plan))):
        translate = TRANSLATIONS.get(message.DESCRIPTOR.full_name.removeprefix(PACKAGE))
        if translate is None:
            continue
        try:
            translate(message, old)
        except PlanFormatError as error:
            error.path = str(place)
            raise
        for code, text in old.take():
            old.findings.append(Finding(code, text, (str(place),)))


# --- what is in a message


@attrs.frozen
class _Place:
    """The path of a message in its plan."""

    around: _Place | None
    field: str
    index: int | None

    def __str__(self) -> str:
        steps = []
        place: _Place | None = self
        while place is not None:
            steps.append(place.field if place.index is None else f"{place.field}[{place.index}]")
            place = place.around
        return ".".join(reversed(steps))


def messages_of(root: Message) -> Iterator[tuple[Message, _Place | None]]:
    """Yield all messages of a message, each before those inside it."""
    stack: list[tuple[Message, _Place | None]] = [(root, None)]
    while stack:
        message, place = stack.pop()
        yield message, place
        for field, value in message.ListFields():
            if field.message_type is None:
                continue
            if field.is_repeated:
                stack.extend((inner, _Place(place, field.name, index)) for index, inner in enumerate(value))
            else:
                stack.append((value, _Place(place, field.name, None)))


def _unknown_fields(root: Message) -> Iterator[tuple[Message, _Place | None, int]]:
    """Yield the numbers of unknown fields, each with its message."""
    for message, place in messages_of(root):
        fields: Any = UnknownFieldSet(message)
        for field in fields:
            yield message, place, field.field_number


# --- what is refused


def _unknown_field(message: Message, place: _Place | None, number: int) -> PlanFormatError:
    name = message.DESCRIPTOR.full_name
    path = str(place) if place else None
    for new in NEW_FIELDS:
        if (PACKAGE + new.message, new.number) == (name, number):
            return PlanFormatError(f"{name} has the field {new.name} ({number}), {_newer(new)}", path=path)
    return PlanFormatError(
        f"{name} has the unknown field {number}; version {_list_known()} of the specification is known, "
        "and what was removed before it",
        path=path,
    )


def _since(message: str, key: str) -> str | None:
    """Return a note for a key that later versions of the messages have."""
    for new in NEW_FIELDS:
        if PACKAGE + new.message == message and key.replace("_", "").lower() == new.name.replace("_", ""):
            return _newer(new)
    return None


def _newer(new: NewField) -> str:
    return f"which is newer ({new.since}) than version {_list_known()} of the specification, the one known here"


def _left_over_error(message: Message, place: _Place | None, number: int) -> PlanFormatError:
    name = message.DESCRIPTOR.full_name
    field = next(old.name for old in REMOVED_FIELDS if (PACKAGE + old.message, old.number) == (name, number))
    return PlanFormatError(
        f"{name} has the field {field} of old plans where it means nothing",
        path=str(place),
        hint="an enum stands only among the arguments of a function" if field == "enum" else None,
    )


def _list_known() -> str:
    return ".".join(map(str, installed_version()))
