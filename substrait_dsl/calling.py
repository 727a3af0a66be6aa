"""Calls with arguments that no parameter takes: an error of the library's own, with what to write, not Python's.

The verbs, and the functions of the package, are called through a wrapper, which nothing but a call that does not fit
the signature notices.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import ParamSpec, TypeVar

from substrait_dsl.errors import SignatureError, quoted, shortened, suggestion

P = ParamSpec("P")
R = TypeVar("R")
V = TypeVar("V")

FIRST_OF_EACH = "filter by row_number().over(partition_by=..., order_by=...) for the first rows of each group"
UNNEST_OUTER = (
    'lateral_join(lambda r: read_virtual([(0,)], {"z": "i64"}).with_columns(x=r.xs).unnest("x"), how="left"); '
    "unnest(...) leaves out rows whose list is empty or NULL"
)
_FALLING = 'sort(desc("x")): each key says whether it falls'
_NULLS = 'sort(asc("x", nulls="last")): each key says where its NULLs stand'
_PARTITIONED = 'files_target("out/{x}/{y}", "parquet")'
_FRAME = "rows=(first, last) or range=(first, last)"
_ROWS = "rows=(first, last), such as (None, 0)"
_RANGE = "range=(first, last), such as (None, 0)"
_KEY_ORDER = {
    "nulls_last": 'nulls="last"',
    "nulls_first": 'nulls="first"',
    **dict.fromkeys(("ascending", "descending", "reverse"), 'asc("x") or desc("x")'),
}
_CONDITION = "join(other, lambda left, right: left.a == right.b)"
_REPLACE = 'write(name, "ctas", create_mode="replace_if_exists"), or write(name) to add the rows'
_NAMED = "name=expression, such as {}(total=lambda r: r.price * r.quantity)"
_LENIENT = 'on_failure="return_null"'
_SCHEMA = 'a schema class or a mapping such as {"id": "i64", "name": "string?"}; nothing is inferred'
_SESSION = "the session is the first argument: {0}(spark), or session=spark"
_TEXT_FILES = 'format=DelimitedText(field_delimiter=";", header_lines_to_skip=1)'
_ALIAS = 'as_="x", the name that the other expressions know it by'
_HEADER = "header_lines_to_skip=1"

ARGUMENTS: Mapping[str, Mapping[str, str]] = {
    "asc": _KEY_ORDER,
    "broadcast": {"": "relation.exchange(broadcast()) of one side of a join"},
    "cast": {**dict.fromkeys(("strict", "safe", "errors", "try_"), _LENIENT), "dtype": "cast(I64)"},
    "create_table": {
        "if_not_exists": 'rows.limit(0).write(name, "ctas", create_mode="ignore_if_exists")',
        **dict.fromkeys(("replace", "overwrite"), "or_replace=True"),
    },
    "col": {"": "select(...) of several names; col(...) is one column"},
    "DelimitedText": {
        **dict.fromkeys(("delimiter", "sep", "separator"), "field_delimiter=..."),
        **dict.fromkeys(("header", "has_header", "skip_rows"), _HEADER),
        **dict.fromkeys(("quotechar", "quote_char"), "quote=..."),
        **dict.fromkeys(("escapechar", "escape_char"), "escape=..."),
        **dict.fromkeys(("null_values", "nullValue", "na_values"), 'null_value=""'),
    },
    "desc": _KEY_ORDER,
    "distinct": {
        "": f"distinct() for whole rows; {FIRST_OF_EACH}",
        **dict.fromkeys(("subset", "on", "keep"), FIRST_OF_EACH),
    },
    "drop": dict.fromkeys(("columns", "labels"), 'drop("x", "y")'),
    "exchange": {"": 'exchange(scatter("x", ...))'},
    "explain": dict.fromkeys(("extended", "formatted"), 'explain(spark, "extended")'),
    "files_target": {
        **dict.fromkeys(("partitionBy", "partition_by", "partition_cols"), _PARTITIONED),
        **dict.fromkeys(("mode", "overwrite"), 'write(files_target(uri), "ctas", create_mode="replace_if_exists")'),
    },
    "filter": {"*": "filter(lambda r: (r.x == 1) & (r.y > 2))"},
    "is_in": {"": "one list: is_in([1, 2, 3])"},
    "join": {
        **dict.fromkeys(("left_on", "right_on", "condition", "predicate"), _CONDITION),
        **dict.fromkeys(("suffix", "lsuffix", "rsuffix", "suffixes"), 'rename(x="y") on one side before the join'),
        **dict.fromkeys(("type", "join_type"), "how=..."),
        "using": 'on="x", or on=["x", "y"]',
        **dict.fromkeys(("validate", "allow_many"), 'how="left_single", which fails on a second match'),
        **dict.fromkeys(
            ("nulls_equal", "join_nulls"), "functions.is_not_distinct_from(left.x, right.x) in the condition"
        ),
        "+on": 'the columns or the condition: "x", ["x", "y"], a lambda of both rows, or True; '
        "cross(other) pairs all rows",
    },
    "limit": {"offset": "fetch(count, offset)", "": "fetch(count, offset)", "n": "limit(count)"},
    "over": {
        **dict.fromkeys(("frame", "window"), _FRAME),
        **dict.fromkeys(("rows_between", "rowsBetween"), _ROWS),
        **dict.fromkeys(("range_between", "rangeBetween"), _RANGE),
    },
    "project": {"": _NAMED.format("project")},
    "read_files": {
        **dict.fromkeys(("sep", "delimiter", "separator", "header", "quote"), _TEXT_FILES),
        **dict.fromkeys(("inferSchema", "infer_schema", "dtypes"), "the schema: nothing is inferred"),
        "+schema": _SCHEMA,
    },
    "read_named": {"+schema": _SCHEMA},
    "read_virtual": {"+schema": _SCHEMA},
    "rename": {"": 'rename(old="new") or rename({"old": "new"})'},
    "sort": {
        "*": 'sort("x", desc("y"))',
        **dict.fromkeys(("descending", "ascending", "reverse"), _FALLING),
        **dict.fromkeys(("nulls_last", "na_position", "nulls"), _NULLS),
        "by": 'sort("x")',
    },
    "top_n": {
        **dict.fromkeys(("partition_by", "by_group", "over"), FIRST_OF_EACH),
        **dict.fromkeys(("by", "order_by", "descending", "reverse"), 'top_n(3, desc("x"))'),
    },
    "unnest": dict.fromkeys(("outer", "keep_empty", "preserve_nulls"), UNNEST_OUTER),
    "update": {"+where": "where=True, for all rows"},
    "when": {"": "when(condition).then(value).otherwise(other)"},
    "with_columns": {"": _NAMED.format("with_columns")},
    "write": {
        **dict.fromkeys(("mode", "overwrite", "if_exists", "if_table_exists"), _REPLACE),
        **dict.fromkeys(("format", "path"), 'write(files_target(uri, "parquet")), for files'),
        **dict.fromkeys(("partitionBy", "partition_by"), _PARTITIONED),
    },
    **{verb: {"spark": _SESSION.format(verb)} for verb in ("collect", "execute", "running", "show")},
    **{verb: {**dict.fromkeys(("alias", "name"), _ALIAS), "+as_": _ALIAS} for verb in ("scan", "unpivot")},
}
"""What other libraries call arguments, for each verb, and what to write here.

``""`` stands for an argument that is too many, ``"*"`` for any other name, ``"+x"`` for a missing `x`.
"""

_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_MANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class Called:
    """A class whose public methods say by an error of the library what is wrong with their arguments."""

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name, member in list(vars(cls).items()):
            if isinstance(member, FunctionType) and not name.startswith("_"):
                setattr(cls, name, guarded(member, name, is_method=True))
            elif isinstance(member, classmethod):
                setattr(cls, name, classmethod(guarded(member.__func__, name, is_method=True)))
        _guard_making(cls, cls.__name__)


def public(value: V, name: str, package: str) -> V:
    """What a package offers under a name: a function or a class, which say the same of their arguments."""
    if isinstance(value, FunctionType):
        function = guarded(value, name)
        function.__module__ = package  # where the function itself is found, which is not in the module it is from
        return function  # type: ignore[return-value]  # a function like the one it calls
    if hasattr(value, "__attrs_attrs__") and isinstance(value, type):  # people call no others, or they are `Called`
        _guard_making(value, name)
    return value


def _guard_making(cls: type, name: str) -> None:
    """Let the class say what is wrong with the arguments that an instance is made from."""
    if isinstance(initialise := vars(cls).get("__init__"), FunctionType):
        setattr(cls, "__init__", guarded(initialise, name, is_method=True))  # noqa: B010  # mypy: no assignment


def guarded(function: Callable[P, R], name: str, *, is_method: bool = False) -> Callable[P, R]:
    """The function, or the method, with an `SignatureError` for arguments that its signature does not take."""
    if hasattr(function, "__wrapped__"):
        return function

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise  # the function was called: what it says stands
            parameters = list(inspect.signature(function).parameters.values())[is_method:]
            raise _mistake(name, parameters, args[is_method:], kwargs) or error from None

    return call


def _mistake(
    name: str, parameters: Sequence[inspect.Parameter], args: Sequence[object], kwargs: Mapping[str, object]
) -> SignatureError | None:
    """What is wrong with the arguments of a call; None if they fit."""
    advice = ARGUMENTS.get(name, {})
    kinds = {each.kind for each in parameters}
    positional = [each.name for each in parameters if each.kind in _BY_POSITION]
    named = [each.name for each in parameters if each.kind in _BY_NAME]
    given = positional[: len(args)]
    unknown = [] if inspect.Parameter.VAR_KEYWORD in kinds else [each for each in kwargs if each not in named]
    surplus = [] if inspect.Parameter.VAR_POSITIONAL in kinds else args[len(positional) :]
    twice = [each for each in given if each in kwargs and each in named]
    required = [each.name for each in parameters if each.default is each.empty and each.kind not in _MANY]
    missing = [each for each in required if each not in given and each not in kwargs]
    hint: str | None = None
    if unknown:
        message = f"there is no argument {quoted(unknown)}"
        habit = next((advice[each] for each in unknown if each in advice), advice.get("*"))
        hint = f"write {habit}" if habit else suggestion(unknown[0], [each for each in named if each not in given])
    elif surplus:
        message = f"nothing takes the argument {shortened(repr(surplus[0]), 80)}"
        hint = f"write {advice['']}" if "" in advice else None
    elif twice:
        message = f"{quoted(twice)} is given by position and by name"
    elif missing:
        message = f"{quoted(missing)} {'is' if len(missing) == 1 else 'are'} missing"
        hint = next((f"give {advice[f'+{each}']}" for each in missing if f"+{each}" in advice), None)
    else:
        return None
    error = SignatureError(f"{message}; expected {name}({_shown(parameters)})", hint=hint)
    error.verb = name
    return error


def _shown(parameters: Sequence[inspect.Parameter]) -> str:
    """The parameters by name, those that may be left out with ``=...``."""
    parts: list[str] = []
    for each in parameters:
        if each.annotation == "Never":  # it is there to tell what is misplaced
            continue
        if each.kind is inspect.Parameter.KEYWORD_ONLY and not any(part.startswith("*") for part in parts):
            parts.append("*")
        stars = "*" * (_MANY.index(each.kind) + 1) if each.kind in _MANY else ""
        parts.append(f"{stars}{each.name}{'' if each.default is each.empty else '=...'}")
    return ", ".join(parts)
