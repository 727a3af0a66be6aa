"""The JSON form of a plan's ``Any`` messages, and the refusal of those that have none.

JSON writes the fields of an ``Any``: so the type must be known, and some values have no form: an unknown field, a
duration of too many years, an infinite number in a ``Struct``. A message that does not come back the same is refused.

Specification: https://protobuf.dev/programming-guides/json/.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from google.protobuf import descriptor_pool, json_format
from google.protobuf.any_pb2 import Any
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from substrait_dsl.errors import UnsupportedError, shorten
from substrait_dsl.proto.json_text import import_well_known_types
from substrait_dsl.proto.paths import path_of, walk_messages

_FAILURES = (
    json_format.Error, DecodeError, TypeError, ValueError, KeyError, ArithmeticError, AttributeError, RecursionError,
)  # fmt: skip
"""The exceptions of protobuf for a message without a JSON form; which one depends on its version."""


def encode_json(message: Message) -> str:
    """Return the JSON form of a message.

    Raises:
        UnsupportedError: it has a message of others inside that JSON cannot say.
    """
    import_well_known_types()
    try:
        text = json_format.MessageToJson(message)
    except _FAILURES as error:
        _require_known(message)
        raise UnsupportedError(f"JSON cannot hold it: {_words(error)}", hint="write the binary form") from None
    if '"@type"' in text:
        _require_known(message)
    return text


def _require_known(message: Message) -> None:
    """Raise `UnsupportedError` for the first ``Any`` in a plan without a JSON form, with its path."""
    for part in walk_messages(message):
        if isinstance(part, Any) and (problem := _problem(part)) is not None:
            raise UnsupportedError(
                f'JSON cannot hold the extension message "{shorten(part.type_url)}": {problem}',
                hint="write the binary form",
                path=path_of(message, part) or None,
            )


def _problem(part: Any) -> str | None:
    """Return why a message has no JSON form; None if it has one."""
    try:
        known = _unpack(part)
    except KeyError:
        return "its type is not known here"
    except (DecodeError, RecursionError):
        return "its bytes are no message of that type"
    try:
        read = json_format.Parse(json_format.MessageToJson(part), Any())
        comes_back = _canonical(_unpack(read)) == _canonical(known)
    except _FAILURES as error:
        return _words(error)
    return None if comes_back else "it has what JSON has no words for, such as a field that is not known here"


def _words(error: Exception) -> str:
    return "it nests too deeply" if isinstance(error, RecursionError) else shorten(str(error).rstrip(" .:"))


def _unpack(part: Any) -> Message:
    """Unpack an ``Any``. Raises `KeyError` for an unknown type, `DecodeError` for other bytes."""
    if not part.type_url and not part.value:
        return Any()
    found = GetMessageClass(descriptor_pool.Default().FindMessageTypeByName(part.type_url.rpartition("/")[2]))()
    found.ParseFromString(part.value)
    return found


def _canonical(message: Message) -> bytes:
    """Return canonical bytes of a message, also of each ``Any`` in it."""
    if isinstance(message, Any) and message.type_url:
        message = Any(type_url=message.type_url, value=_canonical(_unpack(message)))
    else:
        for part in _parts(message):
            if isinstance(part, Any) and part.type_url:
                part.value = _canonical(_unpack(part))
            else:
                _canonical(part)
    return message.SerializeToString(deterministic=True)


def _parts(message: Message) -> Iterator[Message]:
    """Return the messages directly inside a message, also those in maps."""
    for field, value in message.ListFields():
        if field.type not in (FieldDescriptor.TYPE_MESSAGE, FieldDescriptor.TYPE_GROUP):
            continue
        if isinstance(value, Message):
            yield value
        else:
            values = value.values() if isinstance(value, Mapping) else value
            yield from (each for each in values if isinstance(each, Message))
