"""Strict parsing of protobuf's JSON form, with the position of errors.

Protobuf's own parser gives a position for some mistakes only, and misses others: it takes a list for an empty message,
and skips invalid base64. So the shape is checked first, and the values when it refuses one.
"""

from __future__ import annotations

import base64
import binascii
import functools
import importlib
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from google.protobuf import json_format
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from substrait_dsl.errors import PlanFormatError, quote, suggestion
from substrait_dsl.texts import object_of_pairs

SHOWN = 40
"""The maximal number of characters of a wrong value in a message."""

WELL_KNOWN = ("any", "duration", "empty", "field_mask", "struct", "timestamp", "wrappers")
"""The modules of protobuf's own types: an ``Any`` of one has a JSON form once its module is imported."""


def import_well_known_types() -> None:
    """Import protobuf's own types."""
    for name in WELL_KNOWN:
        importlib.import_module(f"google.protobuf.{name}_pb2")


_REFUSALS = (json_format.ParseError, RecursionError, OverflowError, SystemError)
"""The exceptions of protobuf's parser; the last but one for an enum ``Infinity``, the last for a lone surrogate."""

Since = Callable[[str, str], str | None]
"""Returns what is known of an unknown key of a message."""
Former = Mapping[str, Callable[[dict[str, Any]], bool]]
"""Changes a JSON object of a message, by its full name, from a former shape; returns whether it did."""


def read_json(text: str, message: Message, since: Since, former: Former) -> None:
    """Fill a message with what a text says.

    Args:
        text: the JSON.
        message: an empty message.
        since: asked about unknown keys.
        former: asked about objects, if the text cannot be read without.

    Raises:
        PlanFormatError: the text is no JSON, or has a key or a value that the message cannot have.
    """
    try:
        value = json.loads(text, object_pairs_hook=object_of_pairs)
    except RecursionError:
        raise PlanFormatError("this is no plan in JSON: it nests too deeply") from None
    except ValueError as error:
        raise PlanFormatError(f"this is no JSON: {error}") from None
    import_well_known_types()
    try:
        _check(value, message.DESCRIPTOR, since, _is_in_shape)
        json_format.Parse(text, message)
    except (PlanFormatError, *_REFUSALS) as error:
        if _change_former(value, message.DESCRIPTOR, former):
            message.Clear()
            read_json(json.dumps(value), message, since, {})
            return
        if isinstance(error, PlanFormatError):
            raise
        _check(value, message.DESCRIPTOR, since, _fits)
        raise _refusal(str(error)) from None


def _change_former(root: object, descriptor: Any, former: Former) -> bool:
    """Change the objects in the JSON of a message that are in a former shape; return whether there were any."""
    changed = False
    stack: list[tuple[object, Any]] = [(root, descriptor)]
    while stack:
        message, descriptor = stack.pop()
        if not isinstance(message, dict):
            continue
        if descriptor.full_name in former:
            changed |= former[descriptor.full_name](message)
        fields = _fields(descriptor)
        for key, value in message.items():
            field = fields.get(key)
            if field is not None and field.message_type is not None:
                stack.extend((each, field.message_type) for each in (value if isinstance(value, list) else [value]))
    return changed


def _check(root: object, descriptor: Any, since: Since, fits: Callable[[object, FieldDescriptor], bool]) -> None:
    """Refuse the first unknown key, and the first value that is wrong in its place."""
    stack: list[tuple[object, Any, str]] = [(root, descriptor, "")]
    while stack:
        message, descriptor, path = stack.pop()
        if not isinstance(message, dict):
            raise PlanFormatError(
                f"expected an object for {descriptor.full_name}, not {_shorten(message)}", path=path or None
            )
        if descriptor.file.package == "google.protobuf":
            continue  # such as Any, whose JSON is not that of its fields
        fields = _fields(descriptor)
        inner: list[tuple[object, Any, str]] = []
        for key, value in message.items():
            field = fields.get(key)
            if field is None:
                newer = since(descriptor.full_name, key)
                text = f'{descriptor.full_name} has no field "{key}"' + (f", {newer}" if newer else "")
                hint = None if newer else suggestion(key, [each.json_name for each in descriptor.fields])
                raise PlanFormatError(text, path=path or None, hint=hint)
            if key != field.json_name and field.json_name in message:
                text = f"{descriptor.full_name} has {field.name} twice, once as {field.json_name}"
                raise PlanFormatError(text, path=path or None)
            for each, place in _values(value, field, f"{path}.{key}" if path else key):
                if field.message_type is not None:
                    inner.append((each, field.message_type, place))
                elif not fits(each, field):
                    text = f"expected {_describe_expected(field)} for {key}, not {_shorten(each)}"
                    raise PlanFormatError(text, path=place, hint=_hint(each, field))
        stack.extend(reversed(inner))


@functools.cache
def _fields(descriptor: Any) -> Mapping[str, FieldDescriptor]:
    """Return the fields of a message by their names in JSON and in the ``.proto`` files, which JSON may use, too."""
    return {field.name: field for field in descriptor.fields} | {field.json_name: field for field in descriptor.fields}


def _values(value: object, field: FieldDescriptor, place: str) -> list[tuple[object, str]]:
    """Return the values of a field, with their positions; null is none."""
    if value is None:
        return []
    if not field.is_repeated:
        return [(value, place)]
    if not isinstance(value, list):
        raise PlanFormatError(f"expected a list for {field.name}, not {_shorten(value)}", path=place)
    return [(each, f"{place}[{index}]") for index, each in enumerate(value)]


def _is_in_shape(value: object, field: FieldDescriptor) -> bool:
    """Whether bytes are valid base64; protobuf checks everything else."""
    if field.type != FieldDescriptor.TYPE_BYTES or not isinstance(value, str):
        return True
    try:
        base64.b64decode(value.translate(_URL_SAFE) + "=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


_URL_SAFE = str.maketrans("-_", "+/")
"""The other alphabet of base64, which protobuf accepts as well, as it does bytes without padding."""


def _fits(value: object, field: Any) -> bool:
    """Whether protobuf takes a value for a field."""
    text = {field.name: [value] if field.is_repeated else value}
    try:
        json_format.ParseDict(text, GetMessageClass(field.containing_type)())
    except _REFUSALS:
        return False
    return True


def _refusal(text: str) -> PlanFormatError:
    """Return the error for a refusal of protobuf, without the names of the enclosing fields."""
    text = re.sub(r"^(Failed to (parse \w+ field|load JSON|parse JSON): )+", "", text).rstrip(". ")
    if text.startswith("SystemError"):  # protobuf gives no position
        return PlanFormatError("a key or a name in it is no Unicode text (a lone surrogate)")
    head, _, place = text.rpartition(" at ")
    path = re.fullmatch(r'"?\w+\.([\w.\[\]]+)"?', place)
    return PlanFormatError(head, path=path[1]) if path else PlanFormatError(text)


_NUMBERS: dict[int, str] = {
    FieldDescriptor.CPPTYPE_BOOL: "true or false",
    FieldDescriptor.CPPTYPE_INT32: "an integer of 32 bits",
    FieldDescriptor.CPPTYPE_INT64: "an integer of 64 bits",
    FieldDescriptor.CPPTYPE_UINT32: "an integer of 32 bits from 0 on",
    FieldDescriptor.CPPTYPE_UINT64: "an integer of 64 bits from 0 on",
    FieldDescriptor.CPPTYPE_FLOAT: "a number",
    FieldDescriptor.CPPTYPE_DOUBLE: "a number",
}


def _describe_expected(field: FieldDescriptor) -> str:
    if field.enum_type is not None:
        return f"a name of {field.enum_type.full_name}"
    if field.type == FieldDescriptor.TYPE_BYTES:
        return "bytes in base64"
    return _NUMBERS.get(field.cpp_type, "Unicode text")


def _hint(value: object, field: FieldDescriptor) -> str | None:
    """Return the nearest name of an enum, or all of them."""
    if field.enum_type is None:
        return None
    names = field.enum_type.values_by_name
    return (suggestion(value, names) if isinstance(value, str) else None) or f"its names are {quote(names, limit=20)}"


def _shorten(value: object) -> str:
    match value:
        case dict():
            return "an object"
        case list():
            return "a list"
        case _:
            text = json.dumps(value)
            return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
