"""Legacy fields, written beside the current fields for consumers of earlier versions.

One function for each message that had such fields: the inverse of `legacy_translation`, from the same table. A consumer
of an earlier version ignores an unknown field, so that a limit becomes no rows and the keys of a join none. A plan part
without a legacy form is therefore refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import attrs
from google.protobuf.message import DecodeError, Message
from substrait import algebra_pb2 as pb
from substrait.extended_expression_pb2 import ExtendedExpression
from substrait.plan_pb2 import Plan

from substrait_dsl.catalog import standard_catalog
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.proto.declarations import NO_URN
from substrait_dsl.proto.legacy import messages_of
from substrait_dsl.proto.legacy_schema import DECLARATION, INTERVAL_DAY, PACKAGE, REMOVED_FIELDS, old_class
from substrait_dsl.proto.legacy_translation import MAX_ROWS, MICROSECONDS, integer_of
from substrait_dsl.proto.versions import WORDS

_HINT = 'the encoding "spec" can say it'

_NUMBERS = {(field.message, field.name): field.number for field in REMOVED_FIELDS if field.unwritten is None}
"""The numbers of the fields that are written."""


def add_legacy_fields(document: Plan | ExtendedExpression, omitted: Collection[str] = ()) -> None:
    """Add the legacy fields to a message and to those inside it; today's classes carry them as unknown fields.

    Args:
        document: the message, with outer references by ``steps_out``; it is changed.
        omitted: the fields not to write, such as ``ReadRel.VirtualTable.values``: substrait-java 0.89 refuses a virtual
            table in both forms.

    Raises:
        UnsupportedError: something has no legacy form, and readers of earlier versions would take it for something
            else; or the legacy fields nest more than 100 deep.
    """
    for message, place in reversed(list(messages_of(document))):
        name = message.DESCRIPTOR.full_name.removeprefix(PACKAGE)
        write = LEGACY_WRITERS.get(name)
        if write is None:
            continue
        fields = _Fields(name, omitted)
        try:
            write(message, fields)
        except UnsupportedError as error:
            error.path = str(place) if place else None
            raise
        if fields.data:
            message.MergeFromString(bytes(fields.data))
    with_known_fields(document)


def with_known_fields(document: Plan | ExtendedExpression) -> Any:
    """The same message, of a class that knows the legacy fields by their names.

    Raises:
        UnsupportedError: the legacy fields nest messages more than 100 deep.
    """
    try:
        return old_class(type(document)).FromString(document.SerializeToString())
    except DecodeError:  # grouping expressions take a level more than references to them
        what = WORDS[document.DESCRIPTOR.name]
        raise UnsupportedError(
            f"in the legacy encoding, {what} nests messages more than 100 deep", hint=_HINT
        ) from None


@attrs.define
class _Fields:
    """The legacy fields of one message, in protobuf's binary form."""

    message: str
    omitted: Collection[str]
    data: bytearray = attrs.field(factory=bytearray)

    def has(self, field: str) -> bool:
        """Whether the field is to be written."""
        return f"{self.message}.{field}" not in self.omitted

    def number(self, field: str, value: int) -> None:
        """Write a number."""
        if self.has(field):
            self.data += _number(_NUMBERS[self.message, field], value)

    def submessage(self, field: str, data: bytes) -> None:
        """Write a message, or a further one."""
        if self.has(field):
            self.data += _submessage(_NUMBERS[self.message, field], data)


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value % 2**64)


def _submessage(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    data = bytearray()
    while value > 0x7F:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    data.append(value)
    return bytes(data)


def _bytes(message: Message) -> bytes:
    return message.SerializeToString(deterministic=True)


# --- extensions


def _document(document: Any, fields: _Fields) -> None:
    for each in document.extension_urns:
        # each URI has the number of its URN
        fields.submessage(
            "extension_uris", _number(1, each.extension_urn_anchor) + _submessage(2, uri_of(each.urn).encode())
        )


def uri_of(urn: str) -> str:
    """Return the URI by which plans named an extension before it had a URN.

    A file of the specification is named by its path from the root, which all consumers take: Acero looks for functions
    of the specification's own address in one file only, and there is none for decimals. Other extensions have their
    URN, so that no consumer takes their functions for those of the specification.
    """
    owner, _, name = urn.rpartition(":")
    return f"/{name}.yaml" if owner == "extension:io.substrait" and urn in standard_catalog().urns else urn


def _declaration(declaration: Any, fields: _Fields) -> None:
    if declaration.extension_urn_reference != NO_URN:
        fields.number("extension_uri_reference", declaration.extension_urn_reference)


# --- relations


def _fetch(fetch: Any, fields: _Fields) -> None:
    """Write a fetch: an unset count is no row before 0.63, and some consumers refuse -1."""
    for field, unset in (("offset", 0), ("count", MAX_ROWS)):
        value: int | None = unset
        if fetch.HasField(f"{field}_expr"):
            expression = getattr(fetch, f"{field}_expr")
            if expression.literal.WhichOneof("literal_type") != "null":
                value = integer_of(expression)
        if value is None:
            raise UnsupportedError(
                f"the {field} of a fetch is an expression, and in the legacy encoding it is a number: older readers "
                f"would {'take no rows' if field == 'count' else 'skip none'}",
                hint=_HINT,
            )
        fields.number(field, value)


def _virtual_table(table: Any, fields: _Fields) -> None:
    if not fields.has("values"):
        return
    for row in table.expressions:
        data = b""
        for field in row.fields:
            if field.WhichOneof("rex_type") != "literal":
                raise UnsupportedError(
                    "a row of a virtual table holds an expression, and in the legacy encoding it holds literals only: "
                    "older readers would see no rows",
                    hint=_HINT,
                )
            data += _submessage(1, _bytes(field.literal))
        fields.submessage("values", data)


def _aggregate(aggregate: Any, fields: _Fields) -> None:
    """Write an aggregate: columns were the distinct expressions of the groupings in order of appearance."""
    keys = [_bytes(key) for key in aggregate.grouping_expressions]
    used = dict.fromkeys(reference for grouping in aggregate.groupings for reference in grouping.expression_references)
    if list(used) != list(range(len(keys))) or len(set(keys)) < len(keys):
        raise UnsupportedError(
            "in the legacy encoding, the keys of an aggregate are the different expressions of its grouping sets in "
            "order of appearance: older readers would see other columns",
            hint="give each key once, in the order in which the grouping sets name them",
        )
    for grouping in aggregate.groupings:
        data = b"".join(
            _submessage(_NUMBERS["AggregateRel.Grouping", "grouping_expressions"], keys[reference])
            for reference in grouping.expression_references
        )
        if "AggregateRel.Grouping.grouping_expressions" not in fields.omitted:
            grouping.MergeFromString(data)


def _physical_join(join: Any, fields: _Fields) -> None:
    if not fields.has("left_keys"):
        return
    for key in join.keys:
        if key.comparison.simple != pb.ComparisonJoinKey.SIMPLE_COMPARISON_TYPE_EQ:
            raise UnsupportedError(
                "in the legacy encoding, the keys of a join are compared for equality: older readers would join other "
                "rows",
                hint=_HINT,
            )
    for side in ("left", "right"):
        for key in join.keys:
            fields.submessage(f"{side}_keys", _bytes(getattr(key, side)))


# --- expressions


def _write_bound(bound: Any, fields: _Fields) -> None:
    """Write a bound; the offset as a number is deprecated, and not removed."""
    if not bound.HasField("offset_expr"):
        return
    offset = integer_of(bound.offset_expr)
    if offset is None:
        raise UnsupportedError(
            "the offset of a bound is no integer, and in the legacy encoding it is: older readers would take 0",
            hint=_HINT,
        )
    bound.offset = offset


def _interval(interval: Any, fields: _Fields) -> None:
    if not interval.subseconds:
        return
    microseconds, rest = divmod(interval.subseconds * 10**MICROSECONDS, 10**interval.precision)
    if rest or not -(2**31) <= microseconds < 2**31:
        raise UnsupportedError(
            "an interval has parts of a second that are no number of microseconds, which the legacy encoding has: "
            "older readers would take none",
            hint=_HINT,
        )
    fields.number("microseconds", microseconds)


LEGACY_WRITERS: dict[str, Callable[[Any, _Fields], None]] = {
    "Plan": _document,
    "ExtendedExpression": _document,
    f"{DECLARATION}.ExtensionType": _declaration,
    f"{DECLARATION}.ExtensionTypeVariation": _declaration,
    f"{DECLARATION}.ExtensionFunction": _declaration,
    "FetchRel": _fetch,
    "ReadRel.VirtualTable": _virtual_table,
    "AggregateRel": _aggregate,
    "HashJoinRel": _physical_join,
    "MergeJoinRel": _physical_join,
    "Expression.WindowFunction.Bound.Preceding": _write_bound,
    "Expression.WindowFunction.Bound.Following": _write_bound,
    INTERVAL_DAY: _interval,
}
"""The writer of the legacy fields of each message, inner ones first."""
