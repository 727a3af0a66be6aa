"""The tables of what the plugin evaluates: pure functions, methods and attributes, by name and class.

To check a program is not to run it: a checker reads programs that nobody has looked at yet. So what is not in these
tables is neither called nor looked up, and its value is unknown. No name in them begins with an underscore. Where a
result may be much larger than the arguments, its size is computed first.
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

from substrait_dsl import api, everyday, functions
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.fluent.calls import Measure, WindowFunction
from substrait_dsl.fluent.conditionals import Then, When
from substrait_dsl.fluent.expr import Expr
from substrait_dsl.fluent.grouping import GroupBy
from substrait_dsl.fluent.lambdas import LambdaFunction
from substrait_dsl.fluent.namespace import CatalogFunction
from substrait_dsl.fluent.relation import Relation
from substrait_dsl.fluent.relation_schema import RelationSchema
from substrait_dsl.fluent.schemas import DynRow, Schema
from substrait_dsl.fluent.subqueries import record
from substrait_dsl.mypy_plugin.budget import (
    CONTAINERS,
    MAX_LENGTH,
    Budget,
    NotEvaluatedError,
    is_of_library,
    is_scalar,
    require_arguments,
    require_length,
)
from substrait_dsl.mypy_plugin.mypy_internals import OPERATOR_METHODS, REVERSE_METHODS

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
    lambda_ list_of lit map_of multi_bucket null parameter parse_type preceding read_csv read_extension read_files
    read_iceberg read_json read_named read_virtual record round_robin scalar_subquery scatter shared single_bucket
    struct_of subtree switch switching unique update virtual_target when
""")
"""Functions and classes of the library that are pure: they build parts of a program."""

EVERYDAY = frozenset(everyday.__all__) - {"URN", "catalog"}
"""The functions of `substrait_dsl.everyday`, which are pure, too."""

METHODS: Mapping[type, Names] = {
    Relation: _names("""
        aggregate as_ as_value asof_join cross describe distinct drop drop_nulls emit exchange expand extension_single
        fetch fill_null filter first_of group_by hash_join hint intersect into join lateral_join limit merge_join
        merging_capture nested_loop_join project rename select set_op simple_capture sort subtract top_n union
        union_all unnest unpivot value_counts window with_columns with_extension write
    """),
    GroupBy: _names("agg cube pivot rollup"),
    Expr: _names("alias asc assert_not_null between cast desc is_in is_not_null is_null keep"),
    Measure: _names("""
        alias assert_not_null between cast distinct filter frame is_in is_not_null is_null order_by over windowed
    """),
    WindowFunction: _names("frame over"),
    When: _names("then"),
    Then: _names("otherwise when"),
    t.Type: _names("as_nullable as_required matches with_nullability"),
    NamedStruct: _names("position"),
    record: _names("is_in"),
}
"""Methods of the library's classes whose results depend on their arguments alone."""

ATTRIBUTES: Mapping[type, Names] = {
    Relation: _names("c columns schema"),
    RelationSchema: _names("fields names types"),
    NamedStruct: _names("fields names types"),
    Field: _names("name type"),
    t.Type: _names("field_names nullable precision scale types"),
}
"""Attributes of the library's objects. A row has its columns, too."""

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
    (
        *OPERATOR_METHODS.values(),
        *REVERSE_METHODS.values(),
        "__abs__",
        "__getitem__",
        "__invert__",
        "__neg__",
        "__pos__",
    )
)
"""The methods of operators. Only those of the library's objects are called."""

# --- Python


def _allow(owner: Any, *arguments: Any) -> None:
    """Allow a method whose result is hardly larger than its arguments."""


def _check_padding(owner: Any, width: int, *fill: str) -> None:
    """Check the length of a padded text."""
    require_length(width)


def _check_replacement(owner: str, old: str, new: str, *count: int) -> None:
    """Check the length of a text with replacements."""
    require_length(len(owner) + owner.count(old) * len(new))


def _check_join(owner: str, parts: Any) -> None:
    """Check the length of joined texts."""
    texts = list(parts)
    require_length(sum(map(len, texts)) + len(owner) * len(texts))


_CODECS = ("ascii", "latin-1", "latin1", "utf-8", "utf8")


def _check_codec(owner: str | bytes, codec: str = "utf-8", errors: str = "strict") -> None:
    """Check that a codec is a known one: Python imports others."""
    if codec not in _CODECS or errors not in ("strict", "ignore", "replace"):
        raise NotEvaluatedError


_DATE_FORM = re.compile(r"(?:[^%]|%-?[dfHjmMSuwyY%])*")
"""Formats of dates that do not depend on the locale or the time zone: no names of days and months."""


def _check_date_format(owner: object, form: str) -> None:
    """Check that the format of a date gives the same text everywhere, and a short one."""
    if not _DATE_FORM.fullmatch(form):
        raise NotEvaluatedError
    require_length(8 * len(form))


def _check_format(owner: str, *positional: Any, **named: Any) -> None:
    """Check the arguments and the length of a formatted text. Attributes and items of arguments are not looked up."""
    numbers = iter(range(len(positional)))
    length = 0
    for literal, field, form, conversion in string.Formatter().parse(owner):
        length += len(literal)
        if field is None:
            continue
        value = _find_format_argument(field, numbers, positional, named)
        parts = []
        for text, inner, deeper, changed in string.Formatter().parse(form or ""):
            if deeper or changed:
                raise NotEvaluatedError
            parts += [text] if inner is None else [text, str(_find_format_argument(inner, numbers, positional, named))]
        length += _max_formatted_length(value, "".join(parts), conversion)
        require_length(length)


def _find_format_argument(
    field: str, numbers: Iterator[int], positional: Sequence[Any], named: Mapping[str, Any]
) -> Any:
    """Return the argument of a format field, which must be a scalar or a type."""
    if field.startswith("_") or not (field == "" or field.isdecimal() or field.isidentifier()):
        raise NotEvaluatedError
    if field == "":
        value = positional[next(numbers, len(positional))]
    else:
        value = positional[int(field)] if field.isdecimal() else named[field]
    if not is_scalar(value) and not isinstance(value, t.Type):
        raise NotEvaluatedError
    return value


def _max_formatted_length(value: object, form: str, conversion: str | None) -> int:
    """Return an upper bound of the length of a formatted value."""
    if isinstance(value, dt.date | dt.time) and not conversion:
        _check_date_format(value, form)
        return 40 + 8 * len(form)
    sizes = "".join(each if each.isdecimal() else " " for each in form).split()
    if any(len(size) > len(str(MAX_LENGTH)) for size in sizes):
        raise NotEvaluatedError
    text = len(value) if isinstance(value, str | bytes) else MAX_LENGTH // 10
    return (10 * text if conversion else text) + sum(map(int, sizes))


PYTHON_METHODS: Mapping[type, Mapping[str, Method]] = {
    str: {
        **dict.fromkeys(
            _names("""
                capitalize casefold count endswith find index isalnum isalpha isascii isdecimal isdigit isidentifier
                islower isnumeric isspace istitle isupper lower lstrip partition removeprefix removesuffix rfind rindex
                rpartition rsplit rstrip split splitlines startswith strip swapcase title upper
            """),
            _allow,
        ),
        **dict.fromkeys(_names("center ljust rjust zfill"), _check_padding),
        "encode": _check_codec,
        "format": _check_format,
        "join": _check_join,
        "replace": _check_replacement,
    },
    bytes: {"decode": _check_codec, "hex": _allow},
    int: {"bit_length": _allow},
    float: {"is_integer": _allow},
    list: dict.fromkeys(_names("copy count index"), _allow),
    tuple: dict.fromkeys(_names("count index"), _allow),
    dict: dict.fromkeys(_names("copy get items keys values"), _allow),
    dt.date: {
        **dict.fromkeys(_names("isoformat isoweekday replace toordinal weekday"), _allow),
        "strftime": _check_date_format,
    },
    dt.datetime: {
        **dict.fromkeys(_names("date isoformat isoweekday replace time toordinal weekday"), _allow),
        "strftime": _check_date_format,
    },
    dt.time: {**dict.fromkeys(_names("isoformat replace"), _allow), "strftime": _check_date_format},
    dt.timedelta: {"total_seconds": _allow},
    decimal.Decimal: dict.fromkeys(_names("copy_abs copy_negate normalize quantize to_integral_value"), _allow),
}
"""Methods of Python's own values, with the check of their arguments. None of them changes its value."""


def _check_text_arguments(*arguments: Any) -> None:
    """Check that only scalars and types are converted to text."""
    if not all(is_scalar(argument) or isinstance(argument, t.Type) for argument in arguments):
        raise NotEvaluatedError


def _allow_any(*arguments: Any, **named: Any) -> None:
    """Allow a function whose result is hardly larger than its arguments."""


PYTHON_FUNCTIONS: Mapping[str, tuple[Callable[..., Any], Method]] = {
    **{
        f"builtins.{name}": (getattr(builtins, name), _allow_any)
        for name in _names("abs all any bool dict float int list max min sorted sum tuple")
    },
    "builtins.str": (str, _check_text_arguments),
    **{
        f"datetime.{class_.__name__}": (class_, _allow_any)
        for class_ in (dt.date, dt.datetime, dt.time, dt.timedelta, dt.timezone)
    },
    "decimal.Decimal": (decimal.Decimal, _allow_any),
    "uuid.UUID": (uuid.UUID, _allow_any),
}
"""Functions and classes of Python with the same result in each process, unlike a set, whose order varies."""

PYTHON_CLASSES = _names("bool bytes complex dict float frozenset int list object set str tuple")
"""Classes of Python that are written in place of types of Substrait: the library's error says what to write."""

VARIABLES: Mapping[str, Any] = {"datetime.UTC": dt.UTC, "typing.Literal": Literal, "typing_extensions.Literal": Literal}
"""Variables of Python that are read."""

_FUNCTION_RULES: Mapping[Any, Method] = dict(PYTHON_FUNCTIONS.values())
_PUBLIC: Mapping[str, Any] = {
    f"{value.__module__}.{value.__qualname__}": value
    for value in (*(getattr(api, name) for name in LIBRARY), *(getattr(everyday, name) for name in EVERYDAY))
}
_PUBLIC_IDS = frozenset(map(id, _PUBLIC.values()))
_FUNCTIONS = f"{functions.__name__}."


MAX_CUBE_KEYS = 12
"""The most keys of a `cube`, which has a grouping set for each subset of them."""

# --- lookups


def is_evaluated(fullname: str) -> bool:
    """Whether a function or class of the library is pure, so that it is called."""
    return fullname in _PUBLIC or fullname.startswith(_FUNCTIONS)


def find_named(fullname: str) -> Any:
    """Return the function or class with a full name. Raise `NotEvaluatedError` if it is not in the tables."""
    if fullname in _PUBLIC:
        return _PUBLIC[fullname]
    if fullname in PYTHON_FUNCTIONS:
        return PYTHON_FUNCTIONS[fullname][0]
    module, _, name = fullname.rpartition(".")
    if module == "builtins" and name in PYTHON_CLASSES:
        return getattr(builtins, name)
    if f"{module}." == _FUNCTIONS and not name.startswith("_"):
        function = getattr(functions, name)
        if isinstance(function, CatalogFunction):
            return function
    raise NotEvaluatedError


def read_attribute(owner: Any, name: str) -> Any:
    """Return an attribute or method of a value. Raise `NotEvaluatedError` if it is not in the tables.

    For an attribute that an object of the library does not have, the library raises its own error, with a hint.
    """
    if isinstance(owner, Schema):
        return _read_column(owner, name)
    if not name.startswith("_") and _is_readable(owner, name):
        return getattr(owner, name)
    raise NotEvaluatedError


def _is_readable(owner: Any, name: str) -> bool:
    """Whether the tables have an attribute, or the library raises an error for it."""
    if isinstance(owner, type):
        return any(_is_in(table, owner, name) for table in (CLASS_METHODS, CLASS_ATTRIBUTES, METHODS))
    if name in PYTHON_METHODS.get(type(owner), ()):
        return True
    if not is_of_library(owner) or isinstance(owner, CatalogFunction):
        return False
    if isinstance(owner, GroupBy) and name == "cube" and len(owner.keys) > MAX_CUBE_KEYS:
        return False
    is_there = any(name in vars(class_) for class_ in type(owner).__mro__) or name in getattr(owner, "__dict__", ())
    return not is_there or _is_in(METHODS, type(owner), name) or _is_in(ATTRIBUTES, type(owner), name)


def _is_in(table: Mapping[type, Names], class_: type, name: str) -> bool:
    return any(name in table.get(base, ()) for base in class_.__mro__)


def _read_column(row: Schema, name: str) -> Any:
    """Return a column of a row. For one that it does not have, the row raises its own error."""
    if any(name in vars(class_) for class_ in (DynRow, Schema, object)):
        raise NotEvaluatedError
    if isinstance(row, DynRow) and (not name.startswith("_") or name in row.__row__[0].names):
        return row[name]
    if not isinstance(row, DynRow) and name in row.__columns__:
        return row.__columns__[name]
    raise NotEvaluatedError


def find_operator(owner: Any, name: str) -> Any:
    """Return a method, which may be that of an operator. Raise `NotEvaluatedError` if it is not in the tables."""
    if name in OPERATORS and is_of_library(owner):
        return getattr(owner, name)
    return read_attribute(owner, name)


def read_item(owner: Any, key: Any) -> Any:
    """Return an item of a value, or a class with type arguments. Raise `NotEvaluatedError` if that is not allowed."""
    if isinstance(owner, type):
        parameters = key if isinstance(key, tuple) else (key,)
        if any(isinstance(parameter, str | bytes) for parameter in parameters):
            raise NotEvaluatedError  # Python evaluates a text as an expression
        if owner not in (list, dict, tuple, set, frozenset) and not issubclass(owner, t.Type | t.Nullable):
            raise NotEvaluatedError
    elif owner is Literal:
        if not all(is_scalar(value) for value in (key if isinstance(key, tuple) else (key,))):
            raise NotEvaluatedError
    elif not isinstance(owner, (str, bytes, *CONTAINERS)) and not is_of_library(owner):
        raise NotEvaluatedError
    return owner[key]


def call(function: Any, positional: Sequence[Any], named: Mapping[str, Any], budget: Budget) -> Any:
    """Call a function, class or method. Raise `NotEvaluatedError` if it is not in the tables, or costs too much."""
    owner = getattr(function, "__self__", None)
    rule: Method | None = None
    if isinstance(function, types.BuiltinMethodType | types.MethodType) and not isinstance(owner, types.ModuleType):
        name = function.__name__
        if isinstance(owner, type) and _is_in(CLASS_METHODS, owner, name):
            rule = _allow_any
        elif type(owner) in PYTHON_METHODS and name in PYTHON_METHODS[type(owner)]:
            rule = partial(PYTHON_METHODS[type(owner)][name], owner)
    elif isinstance(function, type | types.BuiltinFunctionType):
        rule = _FUNCTION_RULES.get(function)
    if rule is not None:
        budget.spend()
        budget.require_all_small((*positional, *named.values()))
        rule(*positional, **named)
        return function(*positional, **named)
    if not _is_program_lambda(function):
        if not _is_of_library(function):
            raise NotEvaluatedError
        require_arguments(function, len(positional))
        budget.spend_call(positional[0] if owner is None and positional else owner)
    return function(*positional, **named)


def _is_program_lambda(function: object) -> bool:
    """Whether a function is a lambda of the program: its body is evaluated by the same tables."""
    return isinstance(function, types.FunctionType) and function.__module__.startswith(__package__)


def _is_of_library(function: Any) -> bool:
    """Whether a function, class or method of the library is in the tables."""
    if isinstance(function, types.MethodType):
        owner = function.__self__
        class_ = owner if isinstance(owner, type) else type(owner)
        return _is_in(METHODS, class_, function.__name__) or _is_in(CLASS_METHODS, class_, function.__name__)
    if isinstance(function, CatalogFunction | LambdaFunction):
        return True
    return id(function) in _PUBLIC_IDS or _is_verb(function)


def _is_verb(function: object) -> bool:
    """Whether a function is a method of a class, as in ``Relation.select(orders, "key")``."""
    return isinstance(function, types.FunctionType) and any(
        function.__name__ in names and getattr(class_, function.__name__, None) is function
        for class_, names in METHODS.items()
    )
