"""What the plugin evaluates: functions, methods and attributes that are pure, each by its name and its class.

A checker reads programs that nobody has looked at yet: to check one is neither to run it nor to reach out of it. So
what is not in these tables is not called and not looked up, and what it gives is not known. No name in them begins with
an underscore. What could give much more than it is given has its size computed first.
"""

from __future__ import annotations

import builtins
import datetime as dt
import decimal
import re
import string
import types
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal

from mypy.operators import op_methods, reverse_op_methods

from substrait_dsl import api, functions
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.fluent.calls import Measure, WindowFunction
from substrait_dsl.fluent.conditions import Then, When, record
from substrait_dsl.fluent.expr import Expr
from substrait_dsl.fluent.grouping import GroupBy
from substrait_dsl.fluent.lambdas import LambdaFunction
from substrait_dsl.fluent.namespace import CatalogFunction
from substrait_dsl.fluent.relation import Relation
from substrait_dsl.fluent.schemas import DynRow, RelationSchema, Schema
from substrait_dsl.mypy_plugin.budget import (
    CONTAINERS,
    LONGEST,
    Budget,
    UnevaluatedError,
    is_of_library,
    is_scalar,
    require_arguments,
    require_length,
)

Names = frozenset[str]
Method = Callable[..., Any]


def _names(text: str) -> Names:
    return frozenset(text.split())


# --- the library

LIBRARY = _names("""
    AdvancedExtension AnyMessage Arrow Binary Boolean Compound Computation Date DaySeconds Decimal DelimitedText
    Distribution Dwrf DynExpr DynRow Expr ExtendedExpression ExtensionFormat F FP32 FP64 Field FileSlice FixedBinary
    FixedChar Func GroupBy I16 I32 I64 I8 IntervalCompound IntervalDay IntervalYear JoinKey LambdaFunction List Map
    Measure Null Nullable Orc OrderKey Parquet PrecisionTime PrecisionTimestamp PrecisionTimestampTZ Properties
    Relation RelationSchema Req Row Schema SortKey String Struct Subtree Switching Type TypeVariation UUID Unbound
    UserDefined VarChar WindowFunction YearMonths all_of alter_table alter_view any_of asc broadcast clustered col
    compared create_table create_view current_date current_timestamp current_timezone desc drop_table drop_view
    elements exchange_target exists extension_leaf extension_multi extension_object files_target following join_key
    lambda_ list_of lit map_of multi_bucket null parameter parse_type preceding read_extension read_files
    read_iceberg read_named read_virtual record round_robin scalar_subquery scatter shared single_bucket struct_of
    subtree switch switching unique update virtual_target when
""")
"""What the library offers that only makes what a program is made of: functions and classes."""

METHODS: Mapping[type, Names] = {
    Relation: _names("""
        aggregate as_ as_value cross distinct drop emit exchange expand extension_single fetch filter group_by hash_join
        hint intersect into join lateral_join limit merge_join merging_capture nested_loop_join project rename select
        set_op simple_capture sort subtract top_n union union_all unnest window with_columns with_extension write
    """),
    GroupBy: _names("agg cube rollup"),
    Expr: _names("alias asc assert_not_null between cast desc is_in is_not_null is_null keep"),
    Measure: _names("alias distinct filter frame order_by over windowed"),
    WindowFunction: _names("frame over"),
    When: _names("then"),
    Then: _names("otherwise when"),
    t.Type: _names("as_nullable as_required matches with_nullability"),
    NamedStruct: _names("position"),
    record: _names("is_in"),
}
"""Methods of the library's classes: they make something, of what they are given alone."""

ATTRIBUTES: Mapping[type, Names] = {
    Relation: _names("c columns schema"),
    RelationSchema: _names("fields names types"),
    NamedStruct: _names("fields names types"),
    Field: _names("name type"),
    t.Type: _names("field_names nullable precision scale types"),
}
"""Attributes of the library's objects. A row has its columns as well."""

CLASS_METHODS: Mapping[type, Names] = {
    t.Struct: _names("of"),
    dt.date: _names("fromisocalendar fromisoformat fromordinal"),
    dt.time: _names("fromisoformat"),
    decimal.Decimal: _names("from_float"),
    dict: _names("fromkeys"),
    bytes: _names("fromhex"),
}
CLASS_ATTRIBUTES: Mapping[type, Names] = {
    dt.date: _names("max min"),
    dt.time: _names("max min"),
    dt.timedelta: _names("max min resolution"),
    dt.timezone: _names("max min utc"),
}

OPERATORS = frozenset(
    (*op_methods.values(), *reverse_op_methods.values(), "__abs__", "__getitem__", "__invert__", "__neg__", "__pos__")
)
"""The methods that mypy asks about for operators: those of expressions and relations are called, no others."""

# --- Python


def _bounded(owner: Any, *arguments: Any) -> None:
    """What a method gives is hardly larger than what it is given."""


def _padded(owner: Any, width: int, *fill: str) -> None:
    require_length(width)


def _replaced(owner: str, old: str, new: str, *count: int) -> None:
    require_length(len(owner) + owner.count(old) * len(new))


def _joined(owner: str, parts: Any) -> None:
    texts = list(parts)
    require_length(sum(map(len, texts)) + len(owner) * len(texts))


_CODECS = ("ascii", "latin-1", "latin1", "utf-8", "utf8")


def _coded(owner: str | bytes, codec: str = "utf-8", errors: str = "strict") -> None:
    """Other codecs are looked for, and imported."""
    if codec not in _CODECS or errors not in ("strict", "ignore", "replace"):
        raise UnevaluatedError


_DATE_FORM = re.compile(r"(?:[^%]|%-?[dfHjmMSuwyY%])*")
"""What a date is written by in the same way everywhere: not by the names of days and months, nor by time zones."""


def _dated(owner: object, form: str) -> None:
    if not _DATE_FORM.fullmatch(form):
        raise UnevaluatedError
    require_length(8 * len(form))


def _formatted(owner: str, *positional: Any, **named: Any) -> None:
    """Only values of Python are formatted, by themselves: attributes and items of values are not looked up."""
    numbers = iter(range(len(positional)))
    length = 0
    for literal, field, form, conversion in string.Formatter().parse(owner):
        length += len(literal)
        if field is None:
            continue
        value = _field(field, numbers, positional, named)
        parts = []
        for text, inner, deeper, changed in string.Formatter().parse(form or ""):
            if deeper or changed:
                raise UnevaluatedError
            parts += [text] if inner is None else [text, str(_field(inner, numbers, positional, named))]
        length += _formatted_length(value, "".join(parts), conversion)
        require_length(length)


def _field(field: str, numbers: Iterator[int], positional: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """The argument that a field of a format stands for: a value of Python, or a type."""
    if field.startswith("_") or not (field == "" or field.isdecimal() or field.isidentifier()):
        raise UnevaluatedError
    if field == "":
        value = positional[next(numbers, len(positional))]
    else:
        value = positional[int(field)] if field.isdecimal() else named[field]
    if not is_scalar(value) and not isinstance(value, t.Type):
        raise UnevaluatedError
    return value


def _formatted_length(value: object, form: str, conversion: str | None) -> int:
    """How long a text is at most that a value is formatted to."""
    if isinstance(value, dt.date | dt.time) and not conversion:
        _dated(value, form)
        return 40 + 8 * len(form)
    sizes = "".join(each if each.isdecimal() else " " for each in form).split()
    if any(len(size) > len(str(LONGEST)) for size in sizes):
        raise UnevaluatedError
    text = len(value) if isinstance(value, str | bytes) else LONGEST // 10
    return (10 * text if conversion else text) + sum(map(int, sizes))


PYTHON_METHODS: Mapping[type, Mapping[str, Method]] = {
    str: {
        **dict.fromkeys(
            _names("""
                capitalize casefold count endswith find index isalnum isalpha isascii isdecimal isdigit isidentifier
                islower isnumeric isspace istitle isupper lower lstrip partition removeprefix removesuffix rfind rindex
                rpartition rsplit rstrip split splitlines startswith strip swapcase title upper
            """),
            _bounded,
        ),
        **dict.fromkeys(_names("center ljust rjust zfill"), _padded),
        "encode": _coded,
        "format": _formatted,
        "join": _joined,
        "replace": _replaced,
    },
    bytes: {"decode": _coded, "hex": _bounded},
    int: {"bit_length": _bounded},
    float: {"is_integer": _bounded},
    list: dict.fromkeys(_names("copy count index"), _bounded),
    tuple: dict.fromkeys(_names("count index"), _bounded),
    dict: dict.fromkeys(_names("copy get items keys values"), _bounded),
    dt.date: {
        **dict.fromkeys(_names("isoformat isoweekday replace toordinal weekday"), _bounded),
        "strftime": _dated,
    },
    dt.datetime: {
        **dict.fromkeys(_names("date isoformat isoweekday replace time toordinal weekday"), _bounded),
        "strftime": _dated,
    },
    dt.time: {**dict.fromkeys(_names("isoformat replace"), _bounded), "strftime": _dated},
    dt.timedelta: {"total_seconds": _bounded},
    decimal.Decimal: dict.fromkeys(_names("copy_abs copy_negate normalize quantize to_integral_value"), _bounded),
}
"""Methods of Python's own values, with what computes the size of what they give; a mutable value is not changed."""


def _of_text(*arguments: Any) -> None:
    """A text is made of what is written without the library, or of a type."""
    if not all(is_scalar(argument) or isinstance(argument, t.Type) for argument in arguments):
        raise UnevaluatedError


def _any(*arguments: Any, **named: Any) -> None:
    """What a function gives is hardly larger than what it is given."""


PYTHON_FUNCTIONS: Mapping[str, tuple[Callable[..., Any], Method]] = {
    **{
        f"builtins.{name}": (getattr(builtins, name), _any)
        for name in _names("abs all any bool dict float int list max min sorted sum tuple")
    },
    "builtins.str": (str, _of_text),
    **{
        f"datetime.{kind.__name__}": (kind, _any) for kind in (dt.date, dt.datetime, dt.time, dt.timedelta, dt.timezone)
    },
    "decimal.Decimal": (decimal.Decimal, _any),
    "uuid.UUID": (uuid.UUID, _any),
}
"""Functions and classes of Python that give the same wherever they are called: a set has another order each time."""

PYTHON_CLASSES = _names("bool bytes complex dict float frozenset int list object set str tuple")
"""Classes of Python that people take for types of Substrait: the library says what to write."""

VARIABLES: Mapping[str, Any] = {"datetime.UTC": dt.UTC, "typing.Literal": Literal, "typing_extensions.Literal": Literal}
"""Variables of Python that stand in values and in types."""

_MAKERS: Mapping[Any, Method] = dict(PYTHON_FUNCTIONS.values())
_PUBLIC: Mapping[str, Any] = {
    f"{value.__module__}.{value.__qualname__}": value for value in (getattr(api, name) for name in LIBRARY)
}
_MADE = frozenset(map(id, _PUBLIC.values()))
_FUNCTIONS = f"{functions.__name__}."


MOST_CUBED = 12
"""The most keys of a `cube`, which has a grouping set for each set of them."""

# --- what is asked for


def is_evaluated(fullname: str) -> bool:
    """Whether a name is that of a function or class of this library that only makes what a program is made of."""
    return fullname in _PUBLIC or fullname.startswith(_FUNCTIONS)


def named(fullname: str) -> Any:
    """The function or class that a full name means. Raises `UnevaluatedError` if it is not evaluated."""
    if fullname in _PUBLIC:
        return _PUBLIC[fullname]
    if fullname in PYTHON_FUNCTIONS:
        return PYTHON_FUNCTIONS[fullname][0]
    module, _, name = fullname.rpartition(".")
    if module == "builtins" and name in PYTHON_CLASSES:
        return getattr(builtins, name)
    if f"{module}." == _FUNCTIONS and not name.startswith("_"):
        found = getattr(functions, name)
        if isinstance(found, CatalogFunction):
            return found
    raise UnevaluatedError


def attribute(owner: Any, name: str) -> Any:
    """An attribute or method of a value. Raises `UnevaluatedError` if it is not evaluated.

    What an object of the library has not, it says itself, with what to write instead.
    """
    if isinstance(owner, Schema):
        return _column(owner, name)
    if not name.startswith("_"):
        if isinstance(owner, type):
            if any(_is_in(table, owner, name) for table in (CLASS_METHODS, CLASS_ATTRIBUTES, METHODS)):
                return getattr(owner, name)
        elif name in PYTHON_METHODS.get(type(owner), ()):
            return getattr(owner, name)
        elif is_of_library(owner) and not isinstance(owner, CatalogFunction):
            is_there = any(name in vars(kind) for kind in type(owner).__mro__) or name in getattr(owner, "__dict__", ())
            if isinstance(owner, GroupBy) and name == "cube" and len(owner.keys) > MOST_CUBED:
                raise UnevaluatedError
            if not is_there or _is_in(METHODS, type(owner), name) or _is_in(ATTRIBUTES, type(owner), name):
                return getattr(owner, name)
    raise UnevaluatedError


def _is_in(table: Mapping[type, Names], kind: type, name: str) -> bool:
    return any(name in table.get(base, ()) for base in kind.__mro__)


def _column(row: Schema, name: str) -> Any:
    """A column of a row. What a row has not, it says itself."""
    if any(name in vars(kind) for kind in (DynRow, Schema, object)):
        raise UnevaluatedError
    if isinstance(row, DynRow) and (not name.startswith("_") or name in row.__row__[0].names):
        return row[name]
    if not isinstance(row, DynRow) and name in row.__columns__:
        return row.__columns__[name]
    raise UnevaluatedError


def operator(owner: Any, name: str) -> Any:
    """The method of an operator, or another one, that mypy asks about. Raises as `attribute` does."""
    if name in OPERATORS and is_of_library(owner):
        return getattr(owner, name)
    return attribute(owner, name)


def part(whole: Any, key: Any) -> Any:
    """An item of a value, or a class with its parameters. Raises `UnevaluatedError` if it is not evaluated."""
    if isinstance(whole, type):
        parameters = key if isinstance(key, tuple) else (key,)
        if any(isinstance(parameter, str | bytes) for parameter in parameters):
            raise UnevaluatedError  # Python takes a text for an expression
        if whole not in (list, dict, tuple, set, frozenset) and not issubclass(whole, t.Type | t.Nullable):
            raise UnevaluatedError
    elif whole is Literal:
        if not all(is_scalar(value) for value in (key if isinstance(key, tuple) else (key,))):
            raise UnevaluatedError
    elif not isinstance(whole, (str, bytes, *CONTAINERS)) and not is_of_library(whole):
        raise UnevaluatedError
    return whole[key]


def call(function: Any, positional: Sequence[Any], named: Mapping[str, Any], budget: Budget) -> Any:
    """What a function, class or method gives. Raises `UnevaluatedError` if it is not evaluated, or takes too much."""
    owner = getattr(function, "__self__", None)
    rule: Method | None = None
    if isinstance(function, types.BuiltinMethodType | types.MethodType) and not isinstance(owner, types.ModuleType):
        name = function.__name__
        if isinstance(owner, type) and _is_in(CLASS_METHODS, owner, name):
            rule = _any
        elif type(owner) in PYTHON_METHODS and name in PYTHON_METHODS[type(owner)]:
            rule = partial(PYTHON_METHODS[type(owner)][name], owner)
    elif isinstance(function, type | types.BuiltinFunctionType):
        rule = _MAKERS.get(function)
    if rule is not None:
        budget.step()
        budget.keep_all((*positional, *named.values()))
        rule(*positional, **named)
        return function(*positional, **named)
    if not _is_made_by_the_plugin(function):
        if not _is_of_library(function):
            raise UnevaluatedError
        require_arguments(function, len(positional))
        budget.call_library(positional[0] if owner is None and positional else owner)
    return function(*positional, **named)


def _is_made_by_the_plugin(function: object) -> bool:
    """Whether a function is a lambda of the program, which is evaluated as the rest."""
    return isinstance(function, types.FunctionType) and function.__module__.startswith(__package__)


def _is_of_library(function: Any) -> bool:
    """Whether a function, class or method is one of the tables; only these are ever looked up."""
    if isinstance(function, types.MethodType):
        owner = function.__self__
        kind = owner if isinstance(owner, type) else type(owner)
        return _is_in(METHODS, kind, function.__name__) or _is_in(CLASS_METHODS, kind, function.__name__)
    if isinstance(function, CatalogFunction | LambdaFunction):
        return True
    return id(function) in _MADE or _is_verb(function)


def _is_verb(function: object) -> bool:
    """Whether a function is a method of a class, as in ``Relation.select(orders, "key")``."""
    return isinstance(function, types.FunctionType) and any(
        function.__name__ in names and getattr(kind, function.__name__, None) is function
        for kind, names in METHODS.items()
    )
