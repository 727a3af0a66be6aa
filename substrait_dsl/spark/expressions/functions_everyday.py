"""The functions of this library's extension for everyday work, ``catalog/everyday.yaml``, that Spark runs exactly."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

import attrs

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import AggregateFunction, Expression, Literal
from substrait_dsl.catalog.everyday import URN as EVERYDAY_URN
from substrait_dsl.catalog.everyday_json import JSON_PATH
from substrait_dsl.catalog.strict_json import NUMBER
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.expressions.literals import failing, text_to_sql
from substrait_dsl.spark.expressions.named_values import template_with_name, with_name
from substrait_dsl.spark.expressions.templates import Call, Table, Template
from substrait_dsl.spark.expressions.types import spark_sql_type
from substrait_dsl.spark.session.engines import ENGINE

__all__ = ["EVERYDAY", "EVERYDAY_AGGREGATES", "EVERYDAY_URN", "require_share"]

_MONTHS = "CAST((year({1}) - year({0})) * 12 + month({1}) - month({0})"
_INCOMPLETE = (
    "CASE WHEN {1} > {0} AND day({1}) < day({0}) THEN 1 WHEN {1} < {0} AND day({1}) > day({0}) THEN -1 ELSE 0 END"
)

_READ = "map('allowNonNumericNumbers', 'false', 'allowSingleQuotes', 'false')"
_WRITTEN = "map('ignoreNullFields', 'false', 'timestampNTZFormat', 'yyyy-MM-dd\\'T\\'HH:mm:ss.SSSSSS')"

_OBJECT = "concat('{\"v\":', x, '}')"
_IS_ONE = "try_parse_json(concat('[', x, ']')) IS NOT NULL"
"""Spark reads the first value of a text, and does not look at what follows. In brackets, and as a field of an object,
only a text of one value is JSON both times. This one refuses objects that have a name twice, too."""


def _read_as_field(type_: str) -> str:
    """Read a text as a field of an object, with what tells whether it was read."""
    fields = f"v: {type_}, _corrupt_record: STRING" if type_ else "_corrupt_record: STRING"
    return f"from_json({_OBJECT}, {text_to_sql(f'STRUCT<{fields}>')}, {_READ})"


def _get_json(call: Call, texts: Sequence[str], choices: Mapping[str, str]) -> str:
    path = call.arguments[1].value if isinstance(call.arguments[1], Literal) else None
    if not isinstance(path, str) or not JSON_PATH.fullmatch(path):  # to Spark others are patterns
        raise UnsupportedError(f"get_json takes a constant path such as $.user.tags[0], not {path!r}")
    is_json = f"{_IS_ONE} AND {_read_as_field('')}._corrupt_record IS NULL"
    found = f"get_json_object({_OBJECT}, {text_to_sql(f'$.v{path[1:]}')})"  # at the top null would be a text
    return with_name(texts[0], "x", f"if({is_json}, {found}, NULL)")


def _from_json(call: Call, texts: Sequence[str], choices: Mapping[str, str]) -> str:
    type_ = call.output_type
    read = _read_as_field(_type_with_names(type_, _field_names(call, type_)))
    fails = failing(f"a text is no JSON of {type_}") if choices["#0"] == "THROW" else "NULL"
    is_read = f"{_IS_ONE} AND r._corrupt_record IS NULL"
    if (plain := _replace_decimals(type_)) is not None:
        texts_of = f"{_read_as_field(_type_with_names(plain, _field_names(call, type_)))}.v"
        has_numbers = _has_numbers(f"CAST({texts_of} AS {spark_sql_type(plain)})", type_)
        is_read += f" AND (NOT x RLIKE {text_to_sql(_OTHER_DIGITS)} OR {has_numbers})"
    value = f"if({is_read}, CAST(r.v AS {spark_sql_type(type_)}), {fails})"
    return with_name(texts[0], "x", f"if(x IS NULL, NULL, {with_name(read, 'r', value)})")


_OTHER_DIGITS = r'(^|[:\[,])\s*"[-+.,eE\p{Nd}]*[,\P{ASCII}][-+.,eE\p{Nd}]*"|\\u'
"""Spark reads a string of a decimal without its commas, 1,5 as 15, and takes the digits of all scripts. Where a text
may have such a string, it is read once more, with strings for decimals, and these are compared with a pattern."""


def _replace_decimals(type_: t.Type) -> t.Type | None:
    """Return a type with strings in place of decimals; None if it has none."""
    match type_:
        case t.Decimal():
            return t.String(nullable=True)
        case t.Struct():
            found = [_replace_decimals(each) for each in type_.types]
            types = tuple(new or old for new, old in zip(found, type_.types, strict=True))
            return attrs.evolve(type_, types=types) if any(found) else None
        case t.List():
            return attrs.evolve(type_, element=new) if (new := _replace_decimals(type_.element)) else None
        case t.Map():
            return attrs.evolve(type_, value=new) if (new := _replace_decimals(type_.value)) else None
        case _:
            return None


def _has_numbers(value: str, type_: t.Type, depth: int = 0) -> str:
    """Write whether the texts in a value of a type from `_replace_decimals` are those of numbers, or NULL."""
    inside = f"e{depth}"
    match type_:
        case t.Struct():
            decimals = [
                (number, each) for number, each in enumerate(type_.types) if _replace_decimals(each) is not None
            ]
            return " AND ".join(_has_numbers(f"{value}.f{number}", each, depth) for number, each in decimals)
        case t.List():
            return f"coalesce(forall({value}, {inside} -> {_has_numbers(inside, type_.element, depth + 1)}), TRUE)"
        case t.Map():
            return _has_numbers(f"map_values({value})", t.List(type_.value), depth)
        case _:
            return f"coalesce({value} RLIKE {text_to_sql(f'^{NUMBER}$')}, TRUE)"


def _to_json(call: Call, texts: Sequence[str], choices: Mapping[str, str]) -> str:
    value = next(each for each in call.arguments if isinstance(each, Expression))
    named = _value_with_names("x", value.type, _field_names(call, value.type))
    text = f"to_json(array({named}), {_WRITTEN})"
    return with_name(texts[0], "x", f"if(x IS NULL, NULL, substring({text}, 2, length({text}) - 2))")


def _field_names(call: Call, type_: t.Type) -> Iterator[str]:
    """Return the names of fields that a call says, depth first. Raises `UnsupportedError` if they are not those."""
    texts = [each.value for each in call.arguments if isinstance(each, Literal) and isinstance(each.value, str)]
    try:
        names = json.loads(texts[-1]) if texts else None
    except (ValueError, RecursionError):
        names = None
    are_texts = isinstance(names, list) and all(isinstance(name, str) for name in names)
    if names is None or not are_texts or len(names) != len([*t.struct_names(type_)]):
        raise UnsupportedError(f"{call.function.name} says other names of fields than {type_} has fields")
    return iter(names)


def _type_with_names(type_: t.Type, names: Iterator[str]) -> str:
    """Write a type as DDL, with the names of fields. It is no SQL: Spark gets it as a constant."""
    match type_:
        case t.Struct():
            fields = [f"`{next(names).replace('`', '``')}`: {_type_with_names(each, names)}" for each in type_.types]
            return f"STRUCT<{', '.join(fields)}>"
        case t.List():
            return f"ARRAY<{_type_with_names(type_.element, names)}>"
        case t.Map():
            return f"MAP<{spark_sql_type(type_.key)}, {_type_with_names(type_.value, names)}>"
        case _:
            return spark_sql_type(type_)


def _value_with_names(value: str, type_: t.Type, names: Iterator[str], depth: int = 0) -> str:
    """Write a value whose structs have the names of fields, which are constants: no name is a part of SQL."""
    inside = f"e{depth}"
    match type_:
        case t.Struct():
            fields = [
                f"{text_to_sql(next(names))}, {_value_with_names(f'{value}.f{number}', each, names, depth)}"
                for number, each in enumerate(type_.types)
            ]
            return f"if({value} IS NULL, NULL, named_struct({', '.join(fields)}))"
        case t.List():
            return f"transform({value}, {inside} -> {_value_with_names(inside, type_.element, names, depth + 1)})"
        case t.Map():
            values = _value_with_names(inside, type_.value, names, depth + 1)
            return f"transform_values({value}, (k{depth}, {inside}) -> {values})"
        case _:
            return value


_WORDS: Mapping[str, str] = {"THROW": "THROW", "RETURN_NULL": "RETURN_NULL"}

EVERYDAY: Table = {
    "date_diff_days": Template("CAST(datediff({1}, {0}) AS BIGINT)"),
    "date_diff_months": Template(f"{_MONTHS} - {_INCOMPLETE} AS BIGINT)"),
    "last_day": Template("last_day({0})"),
    "md5": Template("md5({0})"),
    "sha256": Template("sha2({0}, 256)"),
    "sha512": Template("sha2({0}, 512)"),
    "get_json": Template(_get_json, literal_arguments=(1,)),
    "from_json": Template(_from_json, enums=(_WORDS,), literal_arguments=(1, 2)),
    "to_json": Template(_to_json, literal_arguments=(1,)),
    "array_distinct": Template("array_distinct({0})", requires_comparable=True),
    "map_keys": Template("map_keys({0})"),
    "map_values": Template("map_values({0})"),
    "map_entries": Template("transform(map_entries({0}), e -> named_struct('f0', e.key, 'f1', e.value))"),
    "xxhash64": Template("if({0} IS NULL, NULL, xxhash64({0}))"),  # which hashes NULL, too
}

_POSITION = "CAST({1} AS DECIMAL(7,6)) * CAST(size(v) - 1 AS DECIMAL(10,0))"
_BELOW, _ABOVE = (f"get(v, CAST({way}({_POSITION}) AS INT))" for way in ("floor", "ceil"))
_PART = f"({_POSITION}) % 1BD"
_BETWEEN = f"CAST({_BELOW} * CAST(1BD - {_PART} AS DECIMAL(7,6)) + {_ABOVE} * ({_PART}) AS {{T}})"
_OF_DECIMALS = template_with_name("sort_array(collect_list({0}){filter})", "v", _BETWEEN)
"""A percentile of decimals: Spark's own is one of doubles."""

_MAX_DIGITS = 29
"""The most digits of decimals by whose products with a share of six digits Spark loses none."""


def require_share(call: AggregateFunction) -> None:
    """Raise `UnsupportedError` for a percentile that there is none, or that Spark would round before it is computed."""
    value, share, *accuracy = call.arguments
    assert isinstance(value, Expression)
    if not isinstance(share, Literal) or share.value is None or not 0 <= share.value <= 1:
        raise UnsupportedError(f"the share of {call.function.name} is a constant from 0 to 1")
    if not all(isinstance(each, Literal) and each.value and 1 <= each.value < 2**31 for each in accuracy):
        raise UnsupportedError(f"the accuracy of {call.function.name} is a constant from 1 to 2147483647")
    if accuracy or not isinstance(value.type, t.Decimal):
        return
    if value.type.precision > _MAX_DIGITS:
        raise UnsupportedError(
            f"{ENGINE} cannot compute a percentile of {value.type} exactly",
            hint=f"cast the values to a decimal of at most {_MAX_DIGITS} digits",
        )
    if round(share.value, 6) != share.value:
        raise UnsupportedError(
            f"{ENGINE} cannot compute the percentile {share.value} of decimals: it has over six digits"
        )


EVERYDAY_AGGREGATES: Table = {
    "collect_list": Template("collect_list({0}){filter}"),
    "collect_set": Template("collect_set({0}){filter}", requires_comparable=True),
    "max_by": Template("max_by({0}, {1}){filter}"),
    "min_by": Template("min_by({0}, {1}){filter}"),
    "percentile": Template("percentile({0}, {1}){filter}"),
    "percentile:dec": Template(_OF_DECIMALS, literal_arguments=(1,)),
    "approx_percentile": Template("approx_percentile({0}, {1}, {2}){filter}", literal_arguments=(1, 2)),
    "mode": Template("mode({0}){filter}"),
    "min": Template("min({0}){filter}"),
    "max": Template("max({0}){filter}"),
}
