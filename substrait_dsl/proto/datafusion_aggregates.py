"""Aggregate functions as DataFusion defines them: names, and the types of sums and averages of decimals.

DataFusion's plans do not declare the types of aggregate and window functions. Its sum of a decimal has ten digits more,
its average four more, all of them after the point, and the average is truncated there like every quotient.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.findings import FindingCode
from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.relations import Aggregate, Emit, Project
from substrait_dsl.algebra.types import FP32, FP64, I8, I16, I32, I64, INTEGER_RANGES, Decimal, Type
from substrait_dsl.catalog.described_arguments import describe_argument
from substrait_dsl.catalog.everyday import URN as EVERYDAY
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.proto.construction import URN, cast_to, scalar_call
from substrait_dsl.proto.datafusion_decimals import average_type, sum_type, truncate_quotient

if TYPE_CHECKING:
    from substrait import algebra_pb2 as pb

    from substrait_dsl.algebra.function_ids import FunctionId
    from substrait_dsl.proto.decoder import Decoder

Call = ex.AggregateFunction | ex.WindowCall


@attrs.frozen
class FunctionForm:
    """A function of the specification, by its name and its leading enum arguments."""

    name: str
    words: tuple[str, ...] = ()
    is_of_rising_values: bool = False
    """Whether its values are in rising order, which the specification's function does not say."""

    def order_values(self, arguments: Sequence[ex.Argument], sorts: tuple[ex.SortKey, ...]) -> tuple[ex.SortKey, ...]:
        """Return the order of the values to the specification's function.

        Raises:
            UnsupportedError: the function has an order of its own, and this is another one.
        """
        if not self.is_of_rising_values:
            return sorts
        values = _without_cast(arguments[0])
        if not all(_without_cast(key.expression) == values and str(key.direction).startswith("asc") for key in sorts):
            raise UnsupportedError(
                f"DataFusion's {self.name} of values that are not in rising order is no function of an extension",
                hint="write 1 - share, and order by the value itself, without desc",
            )
        return ()


def _without_cast(argument: ex.Argument) -> ex.Argument:
    return argument.input if isinstance(argument, ex.Cast) else argument


FUNCTION_FORMS: Mapping[str, FunctionForm] = {
    "stddev": FunctionForm("std_dev", ("SAMPLE",)),
    "stddev_pop": FunctionForm("std_dev", ("POPULATION",)),
    "var": FunctionForm("variance", ("SAMPLE",)),
    "var_pop": FunctionForm("variance", ("POPULATION",)),
    "median": FunctionForm("median", ("EXACT",)),
    "percentile_cont": FunctionForm("percentile", is_of_rising_values=True),
    "array_agg": FunctionForm("collect_list"),
}
"""The specification's forms of DataFusion's aggregate functions, where they differ."""

_OF_FLOATS = frozenset({"avg", "stddev", "stddev_pop", "var", "var_pop"})
"""The functions that DataFusion computes in fp64 for all numbers but decimals."""


def type_of_computation(name: str, argument: Type, declared: Type | None) -> Type | None:
    """Return the type that an aggregate function is computed in; None for that of its argument.

    DataFusion casts arguments when it analyses a plan. A plan that is written before that has no cast.

    Args:
        name: the name of the function.
        argument: the type of its argument.
        declared: the type that the call declares; None where it declares none.
    """
    if not (declared is None or isinstance(declared, FP64)):
        return None
    is_integer = type(argument) in INTEGER_RANGES
    if name in _OF_FLOATS and (is_integer or isinstance(argument, FP32)):
        return FP64()
    # The median of fp32 is an fp32.
    return FP64() if name == "median" and is_integer else None


@attrs.frozen
class _Parts:
    """The calls that a value is computed from, and the expression over their results."""

    calls: tuple[Call, ...]
    value: Callable[[Sequence[ex.Expression]], ex.Expression]
    described: str
    """The text of the finding."""


def _parts(decoder: Decoder, call: Call, condition: ex.Expression | None = None) -> _Parts | None:
    """Return the calls for a function that DataFusion computes otherwise; None where it follows the specification."""
    if call.phase != "initial_to_result" or not (
        call.function.urn == EVERYDAY or decoder.may_be_specified(call.function)
    ):
        return None
    match call.function.name, call.arguments:
        case "sum", (ex.Expression(type=Decimal() as summed),):
            type_ = sum_type(summed)
            return _Parts((call,), lambda values: cast_to(values[0], type_), f"read as DataFusion's, of {type_}")
        case "avg", (ex.Expression(type=Decimal() as averaged) as argument,):
            type_ = average_type(averaged)
            total = _same_call(decoder, call, "arithmetic_decimal", "sum", argument)
            count = _same_call(decoder, call, "aggregate_generic", "count", argument)
            return _Parts(
                (total, count),
                lambda values: truncate_quotient(decoder, cast_to(values[0], sum_type(averaged)), values[1], type_),
                f"read as DataFusion computes it: sum by count, cut to {type_}",
            )
        case "string_agg", (ex.Expression(type=joined) as argument, _):
            count = _same_call(decoder, call, "aggregate_generic", "count", argument)
            return _Parts(
                (call, count),
                lambda values: _null_if_none(decoder, values[0], values[1], joined),
                "read as DataFusion's, which is NULL where there are no texts",
            )
        case "collect_list", (ex.Expression(type=collected) as argument,):
            if collected.nullable and not _leaves_out_null(condition, argument):
                raise UnsupportedError(
                    "array_agg collects NULLs, too, which no function of an extension does",
                    hint="write array_agg(x) filter (where x is not null)",
                )
            count = _same_call(decoder, call, "aggregate_generic", "count", argument)
            return _Parts(
                (call, count),
                lambda values: _null_if_none(decoder, values[0], values[1], call.output_type),
                "read as DataFusion's, which is NULL where there are no values",
            )
        case "percentile", (ex.Expression(type=Decimal()), _):
            raise UnsupportedError(
                "percentile_cont of decimals has digits of its own in DataFusion",
                hint="cast the decimal: percentile_cont(0.5) within group (order by x::double)",
            )
        case _:
            return None


def _leaves_out_null(condition: ex.Expression | None, value: ex.Expression) -> bool:
    """Whether a condition is that a value is not NULL."""
    return (
        isinstance(condition, ex.ScalarFunction)
        and condition.function.name == "is_not_null"
        and condition.arguments == (value,)
    )


def _null_if_none(decoder: Decoder, value: ex.Expression, count: ex.Expression, type_: Type) -> ex.Expression:
    """Return a value, or NULL if there are no values."""
    is_none = scalar_call(decoder, "comparison", "equal", count, ex.literal(0, I64()))
    return ex.IfThen((ex.IfClause(is_none, ex.literal(None, type_.as_nullable())),), value)


def _same_call(decoder: Decoder, call: Call, extension: str, name: str, argument: ex.Expression) -> Call:
    """Return a call of another aggregate function over the same values, in any order."""
    found = decoder.catalog.resolve("aggregate", name, (describe_argument(argument),), urn=f"{URN}{extension}")
    function: FunctionId = found.overload.function
    if isinstance(call, ex.AggregateFunction):
        call = attrs.evolve(call, sorts=())
    return attrs.evolve(call, function=function, arguments=(argument,), output_type=found.output_type, options=())


def own_window(decoder: Decoder, function: ex.WindowFunction, message: Any) -> ex.Expression:
    """Return a window function as DataFusion computes it."""
    if (value := _as_nullable(decoder, function)) is not None:
        types = _argument_types(function.call)
        text = f"{function.call.function.name} of {types}: read as DataFusion's, which may be NULL"
        decoder.report(FindingCode.PRODUCER_MEANING, text, message)
        return value
    parts = _parts(decoder, function.call)
    if parts is None:
        return function
    text = f"{function.call.function.name} of {_argument_types(function.call)}: {parts.described}"
    decoder.report(FindingCode.PRODUCER_MEANING, text, message)
    return parts.value([attrs.evolve(function, call=call) for call in parts.calls if isinstance(call, ex.WindowCall)])


def _as_nullable(decoder: Decoder, function: ex.WindowFunction) -> ex.Expression | None:
    """Return the first or last value of a frame as nullable; None where it cannot be NULL.

    The specification declares both required, whatever the value is. DataFusion has the nullability of the value. The
    field of a struct may be NULL where the struct is required, so it is that of the first or last struct.
    """
    call = function.call
    match call.function.name, call.arguments:
        case "first_value" | "last_value", (ex.Expression(type=type_) as value,) if decoder.may_be_specified(
            call.function
        ):
            if not type_.nullable and _has_current_row(call):
                return None
            struct = ex.NestedStruct((value if type_.nullable else ex.Cast(value, type_.as_nullable()),))
            call = attrs.evolve(call, arguments=(struct,), output_type=struct.type)
            return ex.FieldAccess(attrs.evolve(function, call=call), ex.StructField(0))
        case _:
            return None


def _has_current_row(call: ex.WindowCall) -> bool:
    """Whether the current row is in every frame, so that no frame is empty."""
    begins = call.lower.kind in ("unbounded", "preceding", "current_row")
    return begins and call.upper.kind in ("unbounded", "following", "current_row")


def _argument_types(call: Call) -> str:
    return ", ".join(str(value.type) for value in call.arguments if isinstance(value, ex.Expression))


def own_columns(decoder: Decoder, rel: Aggregate, message: pb.AggregateRel) -> Rel:
    """Return an aggregate with DataFusion's columns: distinct keys, the number of the set, measures.

    Args:
        decoder: the state of decoding.
        rel: the aggregate as its message has it.
        message: its message.
    """
    several = len(rel.grouping_sets) > 1
    parts = [_parts(decoder, measure.function, measure.filter) for measure in rel.measures]
    keys, names_of_keys, sets = _counted_keys(decoder, rel, message)
    if not several and not any(parts):
        names = (*names_of_keys, *rel.names[len(rel.keys) :])
        return rel if len(keys) == len(rel.keys) else attrs.evolve(rel, keys=keys, grouping_sets=sets, names=names)
    measures: list[ex.Measure] = []
    found: list[tuple[_Parts | None, range]] = []
    """The calls of each measure, and their columns."""
    for measure, part in zip(rel.measures, parts, strict=True):
        calls = (measure.function,) if part is None else part.calls
        begin = len(keys) + len(measures)
        measures += [attrs.evolve(measure, function=call) for call in calls if isinstance(call, ex.AggregateFunction)]
        found.append((part, range(begin, begin + len(calls))))
    names = (*names_of_keys, *(f"measure_{number}" for number in range(len(measures))), GROUPING_SET)
    width = len(keys) + len(measures)
    inner = attrs.evolve(
        rel, keys=keys, grouping_sets=sets, measures=tuple(measures), names=names if several else names[:-1]
    )
    columns = [ex.FieldReference(position, type_) for position, type_ in enumerate(inner.schema.types)]
    computed: list[ex.Expression] = []
    named: list[str] = []
    mapping = list(range(len(keys)))
    if several:
        decoder.report(
            FindingCode.PRODUCER_MEANING,
            "DataFusion counts the distinct keys of several grouping sets, a number with a bit for each key, and the "
            "measures: read so",
            message,
        )
        mapping.append(width + 1 + len(computed))
        computed.append(_grouping_id(columns[width], sets, len(keys)))
        named.append(GROUPING_ID)
    for measure, (part, positions), finding in zip(rel.measures, found, message.measures, strict=True):
        if part is None:
            mapping.append(positions[0])
            continue
        text = f"{measure.function.function.name} of {_argument_types(measure.function)}: {part.described}"
        decoder.report(FindingCode.PRODUCER_MEANING, text, finding.measure)
        mapping.append(len(columns) + len(computed))
        computed.append(part.value([columns[position] for position in positions]))
        named.append(measure.function.function.name)
    return Emit(Project(inner, tuple(computed), tuple(named)), tuple(mapping))


GROUPING_SET = "grouping_set"
"""The name of the column with the grouping set index."""

GROUPING_ID = "__grouping_id"
"""DataFusion's name of the column with the grouping ID."""


def _counted_keys(
    decoder: Decoder, rel: Aggregate, message: pb.AggregateRel
) -> tuple[tuple[ex.Expression, ...], tuple[str, ...], tuple[tuple[int, ...], ...]]:
    """Return the keys that DataFusion counts as columns, their names, and the grouping sets over them.

    Raises:
        UnsupportedError: a key is listed twice, and nothing says how many columns that makes.
    """
    first = {key: position for position, key in reversed(list(enumerate(rel.keys)))}
    keys = tuple(dict.fromkeys(rel.keys))
    several = len(rel.grouping_sets) > 1
    if not several and (len(keys) == len(rel.keys) or not decoder.column_counts.counts_keys_once(message, len(keys))):
        return rel.keys, rel.names[: len(rel.keys)], rel.grouping_sets
    if not several:
        text = "DataFusion counts a key once that an aggregate lists twice: read so"
        decoder.report(FindingCode.PRODUCER_MEANING, text, message)
    return keys, tuple(rel.names[first[key]] for key in keys), _sets_of_distinct_keys(rel, keys)


def _sets_of_distinct_keys(rel: Aggregate, keys: Sequence[ex.Expression]) -> tuple[tuple[int, ...], ...]:
    """Return the grouping sets, each key by its position among the distinct ones."""
    positions = {key: position for position, key in enumerate(keys)}
    return tuple(tuple(dict.fromkeys(positions[rel.keys[key]] for key in each)) for each in rel.grouping_sets)


def _grouping_id(index: ex.Expression, sets: Sequence[tuple[int, ...]], keys: int) -> ex.Expression:
    """Return DataFusion's grouping ID: a bit for each key, the lowest for the last, 1 where the set lacks it.

    Repeated sets have a further bit, or several, above these. The type is the smallest unsigned integer of 8, 16, 32 or
    64 bits. It is read as a signed one: a number that does not fit fails, where it is used.
    """
    seen: Counter[frozenset[int]] = Counter()
    numbers = []
    for each in sets:
        lacking = sum(1 << (keys - 1 - key) for key in range(keys) if key not in each)
        numbers.append(lacking | seen[frozenset(each)] << keys)
        seen[frozenset(each)] += 1
    bits = keys + (max(seen.values()) - 1).bit_length()
    types = [type_ for limit, type_ in _UNSIGNED if bits <= limit]
    if not types:
        raise UnsupportedError(f"{keys} keys in several grouping sets are more than DataFusion has bits for")
    cases = [ex.SwitchCase(ex.literal(number, I32()), ex.literal(value, I64())) for number, value in enumerate(numbers)]
    return ex.Cast(ex.Switch(index, tuple(cases[1:]), cases[0].then), types[0])


_UNSIGNED: tuple[tuple[int, Type], ...] = ((8, I8()), (16, I16()), (32, I32()), (64, I64()))
"""The integers by their bits, with the names of Arrow's unsigned ones."""
