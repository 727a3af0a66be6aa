"""Translation of removed fields into current fields.

One function for each message that had such fields or in which an unset field meant something else. It is called after
all messages inside are current. Where a plan has both the old and the new field, as producers wrote it during a
transition, they have to agree.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass
from substrait import algebra_pb2 as pb
from substrait import type_pb2

from substrait_dsl.algebra.findings import FindingCode
from substrait_dsl.errors import PlanFormatError
from substrait_dsl.proto.legacy_plan import OldPlan
from substrait_dsl.proto.legacy_schema import DECLARATION, FILE, INTERVAL_DAY, PACKAGE

MICROSECONDS = 6
"""The precision of all times before they had one."""

MAX_ROWS = 2**63 - 1
"""The count that stands for all rows where consumers take no -1; no relation has more."""

# --- the plan and its declarations


def _document(document: Any, old: OldPlan) -> None:
    document.ClearField("extension_uris")
    if old.repeated:
        old.report(
            FindingCode.GROUPING_REPEATED,
            "a grouping lists an expression twice, and no root says how many columns that makes: read as one",
        )


def _root(root: Any, old: OldPlan) -> None:
    """Translate a root: with a name for each listed grouping expression it has that many columns, repeated ones too."""
    rel = root.input
    while (rel_type := rel.WhichOneof("rel_type")) in _SAME_COLUMNS:
        if getattr(rel, rel_type).common.HasField("emit"):
            return
        rel = getattr(rel, rel_type).input
    if rel_type != "aggregate" or rel.aggregate.common.HasField("emit"):
        return
    aggregate = rel.aggregate
    for position, (found, listed) in enumerate(old.repeated):
        if found is aggregate:
            if len(root.names) == len(listed) + len(aggregate.measures):
                _repeat_keys(aggregate, listed)
                old.report(
                    FindingCode.ROOT_NAMES,
                    "a grouping lists an expression twice, and the root names both: read as two columns",
                )
                del old.repeated[position]
            elif len(root.names) == len(aggregate.grouping_expressions) + len(aggregate.measures):
                del old.repeated[position]
            return


_SAME_COLUMNS = ("filter", "sort", "fetch")
"""The relations of one input that put out its columns."""


def _repeat_keys(aggregate: Any, listed: list[int]) -> None:
    """Make a grouping expression of each one that the only grouping lists."""
    keys = [copy.deepcopy(aggregate.grouping_expressions[position]) for position in listed]
    del aggregate.grouping_expressions[:]
    aggregate.grouping_expressions.extend(keys)
    del aggregate.groupings[0].expression_references[:]
    aggregate.groupings[0].expression_references.extend(range(len(keys)))


def _declaration(declaration: Any, old: OldPlan) -> None:
    reference = old.extension(declaration.extension_urn_reference, declaration.extension_uri_reference)
    declaration.extension_urn_reference = reference
    declaration.ClearField("extension_uri_reference")


# --- relations


def _file(file: Any, old: OldPlan) -> None:
    if file.format not in (0, 1):
        raise PlanFormatError(f"unknown format {file.format} of a file; expected FILE_FORMAT_PARQUET (1)")
    if file.format and file.WhichOneof("file_format") not in (None, "parquet"):
        raise PlanFormatError(f"the format of a file is both PARQUET and {file.WhichOneof('file_format')}")
    if file.format:
        file.parquet.SetInParent()
    file.ClearField("format")


def _virtual_table(table: Any, old: OldPlan) -> None:
    rows = []
    for values in table.values:
        row = _new(table, "expressions")
        for value in values.fields:
            row.fields.add().literal.CopyFrom(value)
        rows.append(row)
    _replace(table, "values", "expressions", rows)


def _fetch(fetch: Any, old: OldPlan) -> None:
    has_expressions = fetch.HasField("offset_expr") or fetch.HasField("count_expr")
    if fetch.offset < 0 or fetch.count < -1:
        raise PlanFormatError(f"a fetch skips and takes 0 rows or more, not {min(fetch.offset, fetch.count)}")
    for field, unset in (("offset", (0,)), ("count", (-1, MAX_ROWS))):
        if fetch.HasField(field) and fetch.HasField(f"{field}_expr"):
            _require_agreement(field, getattr(fetch, field), getattr(fetch, f"{field}_expr"), unset)
    if fetch.offset and not fetch.HasField("offset_expr"):
        fetch.offset_expr.literal.i64 = fetch.offset
    if fetch.HasField("count"):
        if fetch.count not in (-1, MAX_ROWS) and not fetch.HasField("count_expr"):  # unset means all rows today
            fetch.count_expr.literal.i64 = fetch.count
    elif not has_expressions:  # which came with 0.63, whatever version the plan declares
        _unset_count(fetch, old)
    fetch.ClearField("offset")
    fetch.ClearField("count")


def _require_agreement(field: str, number: int, expression: Any, unset: tuple[int, ...]) -> None:
    """Refuse a number of rows that differs from the expression beside it; an unset expression is NULL."""
    value = integer_of(expression)
    is_null = expression.literal.WhichOneof("literal_type") == "null"
    if (number not in unset) if is_null else (value != number):
        raise PlanFormatError(f"{field} and {field}_expr must agree, and differ: {field} is {number}")


def integer_of(expression: Any) -> int | None:
    """Return the value of an integer literal; None for other expressions."""
    field = expression.literal.WhichOneof("literal_type")
    return getattr(expression.literal, field) if field in _INTEGERS else None


_INTEGERS = ("i8", "i16", "i32", "i64")


def _unset_count(fetch: Any, old: OldPlan) -> None:
    """Set the count of a fetch: before 0.63 it was a plain number, 0 when unset, and -1 for all rows."""
    if old.is_before(0, 63):
        old.report(
            FindingCode.FETCH_COUNT,
            "a fetch has no count, which before version 0.63 of the specification takes no row; read so",
        )
        fetch.count_expr.literal.i64 = 0
    elif old.has_removed and not old.is_since(0, 63):
        raise PlanFormatError(
            "a fetch without a count takes no row before version 0.63 of the specification, and all rows since then",
            hint="the plan does not set its version: set it, or the count (-1 takes all rows)",
        )


def _aggregate(aggregate: Any, old: OldPlan) -> None:
    """Translate grouping expressions, which were in each grouping set; columns were the distinct ones in order."""
    positions: dict[bytes, int] = {}
    for position, expression in enumerate(aggregate.grouping_expressions):
        positions.setdefault(_key(expression), position)
    for grouping in aggregate.groupings:
        if not grouping.grouping_expressions:
            continue
        if grouping.expression_references:
            declared = aggregate.grouping_expressions
            referenced = [
                declared[reference] for reference in grouping.expression_references if reference < len(declared)
            ]
            if list(map(_key, referenced)) != list(map(_key, grouping.grouping_expressions)):
                raise PlanFormatError("the expressions of a grouping and what its references refer to differ")
        else:
            for expression in grouping.grouping_expressions:
                key = _key(expression)
                if key not in positions:
                    positions[key] = len(aggregate.grouping_expressions)
                    aggregate.grouping_expressions.add().CopyFrom(expression)
                grouping.expression_references.append(positions[key])
            references = list(grouping.expression_references)
            if len(aggregate.groupings) == 1 and len(set(references)) < len(references):
                old.repeated.append((aggregate, references))
        grouping.ClearField("grouping_expressions")


def _physical_join(join: Any, old: OldPlan) -> None:
    if len(join.left_keys) != len(join.right_keys):
        raise PlanFormatError(f"a join has {len(join.left_keys)} left keys and {len(join.right_keys)} right keys")
    keys = []
    for left, right in zip(join.left_keys, join.right_keys, strict=True):
        key = _new(join, "keys")
        key.left.CopyFrom(left)
        key.right.CopyFrom(right)
        key.comparison.simple = pb.ComparisonJoinKey.SIMPLE_COMPARISON_TYPE_EQ
        keys.append(key)
    join.ClearField("right_keys")
    _replace(join, "left_keys", "keys", keys)
    # both join types have INNER as their first
    if join.HasField("post_join_filter") and join.type > pb.HashJoinRel.JOIN_TYPE_INNER and not old.is_since(0, 91):
        old.report(
            FindingCode.JOIN_FILTER,
            "post_join_filter may have been meant as a condition of the join; it filters the output",
        )  # spec decision 50


# --- expressions


def _function(call: Any, old: OldPlan) -> None:
    arguments = []
    for value in call.args:
        argument = _new(call, "arguments", value=value)
        _argument(argument, old)
        arguments.append(argument)
    _replace(call, "args", "arguments", arguments)
    for index, argument in reversed(list(enumerate(call.arguments))):
        if _is_left_open(argument):
            old.report(
                FindingCode.FUNCTION_ARGUMENTS,
                f"argument {index} leaves an option open; so it is in today's plans if it is not mentioned at all",
            )
            del call.arguments[index]


def _window_function(call: Any, old: OldPlan) -> None:
    _function(call, old)
    if old.is_before(0, 32) and not call.bounds_type:  # bounds counted records before they could have another type
        call.bounds_type = pb.Expression.WindowFunction.BOUNDS_TYPE_ROWS


def _argument(argument: Any, old: OldPlan) -> None:
    """Translate an enum argument: a message under the number of the current string.

    The bytes of that message begin with the number of its field, a character that begins no name of an option.
    """
    if argument.enum.startswith(("\n", "\x12")):
        try:
            argument.value.enum.ParseFromString(argument.enum.encode())
        except DecodeError:
            raise PlanFormatError(f"{argument.enum!r} is no enum, which is a word") from None
    if argument.value.WhichOneof("rex_type") == "enum" and not _is_left_open(argument):
        argument.enum = argument.value.enum.specified


def _enum_object(argument: dict[str, Any]) -> bool:
    """Translate the JSON of an enum argument: a message in place of the current string."""
    is_old = isinstance(argument.get("enum"), dict) and "value" not in argument
    if is_old:
        argument["value"] = {"enum": argument.pop("enum")}
    return is_old


_LARGEST = 3.4028234663852886e38
_SHORTEST = 3.4028235e38


def _largest_float(literal: dict[str, Any]) -> bool:
    """Replace the shortest decimal of the largest fp32, which protobuf writes and does not read."""
    value = literal.get("fp32")
    if not (isinstance(value, float) and _LARGEST < abs(value) <= _SHORTEST):
        return False
    literal["fp32"] = math.copysign(_LARGEST, value)
    return True


def _one_optimization(extension: dict[str, Any]) -> bool:
    """Make a list of the single optimization that an extension had before version 0.50."""
    is_old = isinstance(extension.get("optimization"), dict)
    if is_old:
        extension["optimization"] = [extension["optimization"]]
    return is_old


FORMER_OBJECTS = {
    f"{PACKAGE}extensions.AdvancedExtension": _one_optimization,
    f"{PACKAGE}FunctionArgument": _enum_object,
    f"{PACKAGE}Expression.Literal": _largest_float,
}
"""The translation of JSON objects of former messages, by message.

The objects of an old plan have fields that were removed later.
"""


def _is_left_open(argument: Any) -> bool:
    return argument.value.HasField("enum") and not argument.value.enum.HasField("specified")


# --- literals and types


def _literal(literal: Any, old: OldPlan) -> None:
    for then, now in _TIMES.items():
        if literal.HasField(then):
            value = getattr(literal, then)
            getattr(literal, now).precision = MICROSECONDS
            getattr(literal, now).value = value


def _interval(interval: Any, old: OldPlan) -> None:
    """Translate an interval: microseconds, then optionally a precision, then only a precision."""
    if interval.HasField("microseconds") and (interval.HasField("precision") or interval.subseconds):
        if interval.subseconds * 10**MICROSECONDS != interval.microseconds * 10**interval.precision:
            raise PlanFormatError("the microseconds and the subseconds of an interval must agree, and differ")
        interval.ClearField("microseconds")
        return
    if interval.HasField("microseconds"):
        carried = abs(interval.microseconds) // 10**MICROSECONDS * (-1 if interval.microseconds < 0 else 1)
        seconds = interval.seconds + carried
        if not -(2**31) <= seconds < 2**31:
            raise PlanFormatError(f"the seconds of an interval, {seconds} with its microseconds, have no place in it")
        interval.seconds = seconds
        interval.subseconds = interval.microseconds - carried * 10**MICROSECONDS
        interval.ClearField("microseconds")
    elif interval.HasField("precision") or interval.subseconds or old.is_since(0, 98):
        return
    interval.precision = MICROSECONDS


def _type(type_: Any, old: OldPlan) -> None:
    for then, now in _TIMES.items():
        if type_.HasField(then):
            body = getattr(type_, then)
            shared_fields = {"nullability": body.nullability, "type_variation_reference": body.type_variation_reference}
            getattr(type_, now).MergeFrom(_new(type_, now, precision=MICROSECONDS, **shared_fields))
    if type_.HasField("user_defined_type_reference"):  # required, and without a variation
        type_.user_defined.MergeFrom(
            _new(
                type_,
                "user_defined",
                type_reference=type_.user_defined_type_reference,
                nullability=type_pb2.Type.NULLABILITY_REQUIRED,
            )
        )


_TIMES = {"timestamp": "precision_timestamp", "time": "precision_time", "timestamp_tz": "precision_timestamp_tz"}


def _interval_type(type_: Any, old: OldPlan) -> None:
    if not type_.HasField("precision") and not old.is_since(0, 97):
        type_.precision = MICROSECONDS


TRANSLATIONS: dict[str, Callable[[Any, OldPlan], None]] = {
    "Plan": _document,
    "ExtendedExpression": _document,
    "RelRoot": _root,
    f"{DECLARATION}.ExtensionType": _declaration,
    f"{DECLARATION}.ExtensionTypeVariation": _declaration,
    f"{DECLARATION}.ExtensionFunction": _declaration,
    FILE: _file,
    "ReadRel.VirtualTable": _virtual_table,
    "FetchRel": _fetch,
    "AggregateRel": _aggregate,
    "HashJoinRel": _physical_join,
    "MergeJoinRel": _physical_join,
    "FunctionArgument": _argument,
    "AggregateFunction": _function,
    "Expression.ScalarFunction": _function,
    "Expression.WindowFunction": _window_function,
    "Expression.Literal": _literal,
    INTERVAL_DAY: _interval,
    "Type": _type,
    "Type.IntervalDay": _interval_type,
}
"""The translation of each message."""


def _new(message: Any, field: str, **fields: Any) -> Any:
    """Return a new message of the type of a field."""
    return GetMessageClass(message.DESCRIPTOR.fields_by_name[field].message_type)(**fields)


def _replace(message: Any, then: str, now: str, values: list[Any]) -> None:
    """Write the repeated field that replaces an old one; if both are there, they have to agree."""
    today = getattr(message, now)
    if values and today and list(map(_key, values)) != list(map(_key, today)):
        raise PlanFormatError(f"{then} and {now} must agree, and differ")
    if not today:
        today.extend(values)
    message.ClearField(then)


def _key(message: Message) -> bytes:
    return message.SerializeToString(deterministic=True)
