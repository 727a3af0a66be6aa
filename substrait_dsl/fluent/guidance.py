"""Hints for what people write by habit: other libraries' names, Python's own operators, literals of another type."""

from __future__ import annotations

import datetime as dt
import difflib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import NoneType
from typing import Any, get_args, get_origin

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.type_syntax import PARAMETER_NAMES
from substrait_dsl.algebra.type_text import parse_type
from substrait_dsl.algebra.types import (
    Boolean,
    Date,
    Decimal,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Type,
    UserDefined,
    VarChar,
)
from substrait_dsl.catalog import standard_catalog
from substrait_dsl.errors import LiteralError, PlanFormatError, SubstraitDslError, TypeMismatchError, suggestion
from substrait_dsl.fluent.habits import NAMES, PYTHON_TYPES, TYPE_HABITS

_FIRST_OF_EACH = "distinct() for whole rows; for some columns, filter by row_number().over(partition_by=, order_by=)"

VERBS: Mapping[str, str] = {
    "agg": "aggregate(...)",
    "assign": "with_columns(...)",
    "concat": "union_all(...)",
    "count": "aggregate(n=functions.count())",
    "cube": "group_by(...).cube(...)",
    "except_": "subtract(...)",
    "explode": "unnest(...)",
    "filter_": "filter(...)",
    "groupBy": "group_by(...)",
    "groupby": "group_by(...)",
    "having": "filter(...) after the aggregate",
    "head": "limit(...)",
    "intersectAll": 'set_op("intersection_multiset_all", ...)',
    "exceptAll": 'set_op("minus_primary_all", ...)',
    "mutate": "with_columns(...)",
    "orderBy": "sort(...)",
    "order_by": "sort(...)",
    "save": "to_plan().save(path)",
    "to_arrow": "execute(spark).toArrow()",
    "toArrow": "execute(spark).toArrow()",
    "take": "limit(...)",
    "minus": "subtract(...)",
    "pivot": "group_by(...).agg(...) with functions.sum(x).filter(...) for each value",
    "unique": _FIRST_OF_EACH,
    "dropna": "filter(lambda r: r.x.is_not_null())",
    "melt": "expand(x=switching(...)), with one value of each column that becomes rows",
    "unpivot": "expand(x=switching(...)), with one value of each column that becomes rows",
    "printSchema": "schema, which prints as a text",
    "write_parquet": 'write(files_target(uri, "parquet"))',
    "sink_parquet": 'write(files_target(uri, "parquet"))',
    "drop_nulls": "filter(lambda r: r.x.is_not_null())",
    "persist": "execute(spark).persist()",
    "pipe": "filter(...) or another verb in a function of your own: step(relation)",
    "isEmpty": "limit(1).collect(spark)",
    "union_distinct": "union(...)",
    "to_bytes": "to_plan().to_bytes()",
    "to_json": "to_plan().to_json()",
    "toPandas": "execute(spark).toPandas()",
    "to_pandas": "execute(spark).toPandas()",
    "unionAll": "union_all(...)",
    "unionByName": "union_all(other.select(...)), with the columns in one order",
    "union_by_name": "union_all(other.select(...)), with the columns in one order",
    "cache": "execute(spark).cache()",
    "createOrReplaceTempView": "execute(spark).createOrReplaceTempView(name)",
    "fillna": 'with_columns(x=functions.coalesce(col("x"), value))',
    "fill_null": 'with_columns(x=functions.coalesce(col("x"), value))',
    "first": "limit(1)",
    "crossJoin": "cross(...)",
    "cross_join": "cross(...)",
    "drop_duplicates": _FIRST_OF_EACH,
    "dropDuplicates": _FIRST_OF_EACH,
    "insertInto": "write(name)",
    "insert_into": "write(name)",
    "insert": "write(name)",
    "delete": 'write(name, "delete")',
    "lateralJoin": "lateral_join(...)",
    "merge": "join(...)",
    "nlargest": "top_n(count, desc(...))",
    "rollup": "group_by(...).rollup(...)",
    "repartition": "exchange(...)",
    "repartition_by_hash": "exchange(scatter(...))",
    "saveAsTable": 'write(name, "ctas")',
    "top": "top_n(...)",
    "top_k": "top_n(...)",
    "writeTo": "write(name)",
    "write_table": "write(name)",
    "where": "filter(...)",
    "withColumn": "with_columns(...)",
    "withColumnRenamed": "rename(...)",
}
"""Verbs of other libraries, and what they are here."""

_HAS_PATTERN = "functions.regexp_count_substring(x, pattern) > 0"

METHODS: Mapping[str, str] = {
    "asc_nulls_first": 'asc(nulls="first")',
    "asc_nulls_last": 'asc(nulls="last")',
    "desc_nulls_first": 'desc(nulls="first")',
    "desc_nulls_last": 'desc(nulls="last")',
    "eqNullSafe": "functions.is_not_distinct_from(x, ...)",
    "eq_missing": "functions.is_not_distinct_from(x, ...)",
    "ilike": 'functions.like(x, pattern, case_sensitivity="CASE_INSENSITIVE")',
    "endswith": "functions.ends_with(x, ...)",
    "fill_null": "functions.coalesce(x, ...)",
    "fillna": "functions.coalesce(x, ...)",
    "isNotNull": "is_not_null()",
    "isNull": "is_null()",
    "isin": "is_in(...)",
    "isna": "is_null()",
    "name": "alias(...)",
    "rlike": _HAS_PATTERN,
    "regexp_like": _HAS_PATTERN,
    "strip": 'functions.trim(x, " ")',
    "lstrip": 'functions.ltrim(x, " ")',
    "rstrip": 'functions.rtrim(x, " ")',
    "str": "functions.contains(x, y) and the like: functions on texts have no namespace",
    "dt": 'functions.extract("YEAR", x) and the like: functions on dates have no namespace',
    "startswith": "functions.starts_with(x, ...)",
    "substr": "functions.substring(x, start, length)",
    "over": "functions.sum(x).over(...): a window is that of one function, not of an expression",
    "getField": 'x["field"], by name',
    "getItem": "x[0], by offset",
    "withField": "the struct anew: struct_of(...)",
}
"""Methods that expressions have elsewhere, and what to write here."""

WINDOW_METHODS: Mapping[str, str] = {
    "alias": 'over(...).alias("name")',
    "distinct": "over(...); only aggregate functions take different values once",
    "filter": "over(...), then filter(...) the relation",
    "orderBy": "over(order_by=...)",
    "order_by": "over(order_by=...)",
    "partitionBy": "over(partition_by=...)",
    "partition_by": "over(partition_by=...)",
    "range": "over(range=(first, last))",
    "rangeBetween": "over(range=(first, last))",
    "range_between": "over(range=(first, last))",
    "rows": "over(rows=(first, last))",
    "rowsBetween": "over(rows=(first, last))",
    "rows_between": "over(rows=(first, last))",
    "window": "over(...)",
}
"""What other libraries call the parts of a window, and what to write here."""

MEASURE_METHODS: Mapping[str, str] = {
    **{
        name: advice
        for name, advice in WINDOW_METHODS.items()
        if name not in ("alias", "distinct", "filter", "order_by")
    },
    "orderBy": "order_by(...)",
    "sort": "order_by(...): the order in which the function takes its values",
    "within_group": "order_by(...)",
    "where": "filter(...)",
}
"""What other libraries call the parts of a measure, and what to write here."""

_COUNT = "agg(n=functions.count())"

GROUP_METHODS: Mapping[str, str] = {
    **{name: f'agg(name=functions.{name}(col("x")))' for name in ("sum", "min", "max", "avg")},
    "aggregate": "agg(...)",
    "count": _COUNT,
    "filter": "agg(...).filter(...)",
    "having": "agg(...).filter(...)",
    "len": _COUNT,
    "mean": 'agg(name=functions.avg(col("x")))',
    "pivot": "agg(...) with functions.sum(x).filter(...) for each value",
    "size": _COUNT,
    "where": "agg(...).filter(...)",
}
"""What other libraries call on groups, and what to write here."""

_NO_LISTS = 'string_agg(x, ","): no function of the specification makes a list of a column'
_NO_DIFFERENCE = 'extract("UNIX_TIME", x): the difference of two is in seconds'

FUNCTIONS: Mapping[str, str] = {
    "array_agg": _NO_LISTS,
    "asc": "substrait_dsl.asc(...)",
    "collect_list": _NO_LISTS,
    "collect_set": _NO_LISTS,
    "date_add": "add(day, datetime.timedelta(days=30))",
    "date_format": 'strftime(x, "%Y-%m")',
    "datediff": _NO_DIFFERENCE,
    "date_diff": _NO_DIFFERENCE,
    "last": "last_value(x).over(...)",
    "list": _NO_LISTS,
    "n_unique": "count(x).distinct()",
    "quarter": 'extract("QUARTER", "ONE", x)',
    "regexp_extract": "regexp_match_substring(x, pattern)",
    "regexp_like": "regexp_count_substring(x, pattern) > 0",
    "rlike": "regexp_count_substring(x, pattern) > 0",
    "unix_timestamp": 'extract("UNIX_TIME", x)',
    "desc": "substrait_dsl.desc(...)",
    "split": "string_split",
    "to_date": 'substrait_dsl.col("x").cast(Date)',
    "to_timestamp": 'substrait_dsl.col("x").cast(PrecisionTimestamp(6))',
    "when": "substrait_dsl.when(...)",
    "array": "substrait_dsl.list_of(...)",
    "array_size": "cardinality",
    "array_sort": "sort",
    "array_transform": "transform(xs, lambda x: ...)",
    "ceiling": "ceil",
    "col": "substrait_dsl.col(...)",
    "column": "substrait_dsl.col(...)",
    "count_distinct": "count(x).distinct()",
    "countDistinct": "count(x).distinct()",
    "create_map": "substrait_dsl.map_of(...)",
    "current_date": "substrait_dsl.current_date()",
    "current_timestamp": "substrait_dsl.current_timestamp()",
    "current_timezone": "substrait_dsl.current_timezone()",
    "day": 'extract("DAY", "ONE", x)',
    "explode": "substrait_dsl.Relation.unnest(...)",
    "exists": "any_match(xs, lambda x: ...)",
    "first": "any_value(x)",
    "forall": "all_match(xs, lambda x: ...)",
    "hour": 'extract("HOUR", x)',
    "ifnull": "coalesce",
    "isnull": "is_null",
    "len": "char_length",
    "length": "char_length",
    "lit": "substrait_dsl.lit(...)",
    "list_filter": "filter(xs, lambda x: ...)",
    "list_transform": "transform(xs, lambda x: ...)",
    "log": "ln",
    "mean": "avg",
    "minute": 'extract("MINUTE", x)',
    "mod": "modulus",
    "month": 'extract("MONTH", "ONE", x)',
    "named_struct": "substrait_dsl.struct_of(...)",
    "now": "substrait_dsl.current_timestamp()",
    "nvl": "coalesce",
    "pow": "power",
    "second": 'extract("SECOND", x)',
    "size": "cardinality",
    "stddev": "std_dev",
    "stddev_samp": 'std_dev("SAMPLE", x)',
    "struct": "substrait_dsl.struct_of(...)",
    "substr": "substring",
    "sum_distinct": "sum(x).distinct()",
    "var_samp": 'variance("SAMPLE", x)',
    "year": 'extract("YEAR", x)',
}
"""Functions of SQL and of other libraries, and what the specification calls them."""

ABSENT = frozenset(
    [
        "crc32",
        "hash",
        "input_file_name",
        "md5",
        "monotonically_increasing_id",
        "months_between",
        "rand",
        "randn",
        "random",
        "sha1",
        "sha2",
        "shuffle",
        "typeof",
        "uuid",
        "xxhash64",
    ]
)
"""Functions of others that the specification has not, nor any that does the same."""

NO_FUNCTION = "the specification has no such function; Functions(catalog) offers those of an extension of your own"


_COMPARISONS = ("equal", "not_equal", "lt", "lte", "gt", "gte", "between")
_ARITHMETIC = ("add", "subtract", "multiply", "divide", "modulus")

OPERATORS = frozenset((*_ARITHMETIC, *_COMPARISONS, "coalesce", "nullif", "least", "greatest"))
"""Functions whose operands are of one kind, so that a value that does not fit the other operand is the mistake."""


class UnknownAttributeError(SubstraitDslError, AttributeError):
    """A method or verb that does not exist."""

    code = "unknown-attribute"


def no_attribute(what: str, name: str, habits: Mapping[str, str], known: Iterable[str]) -> UnknownAttributeError:
    """The error for a method that does not exist, with what it is called here."""
    names = {each: each for each in (*known, *habits) if not each.startswith("_")}
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.7)
    habit = habits.get(name) or (habits.get(near[0]) if near else None)
    hint = f"write {habit}" if habit else suggestion(name, [each for each in names if each not in habits])
    return UnknownAttributeError(f'{what} has no "{name}"', hint=hint)


def no_method(name: str, known: Collection[str]) -> UnknownAttributeError:
    """The error for a method that expressions do not have; many are functions."""
    functions = {name: f"functions.{name}(x, ...)" for name in _functions() if name not in known}
    return no_attribute("an expression", name, {**functions, **METHODS}, known)


def no_name(name: str, known: Collection[str]) -> UnknownAttributeError:
    """The error for a name that the package does not have; many are functions, or types by another name."""
    functions = {**{name: f"{name}(...)" for name in _functions()}, **FUNCTIONS}
    here = "substrait_dsl."
    habits = {
        **{each: write if write.startswith(here) else f"functions.{write}" for each, write in functions.items()},
        **NAMES,
    }
    if name not in habits and (kind := _type_meant(name)):
        habits[name] = f'"{kind}", or the class of that type'
    return no_attribute(
        "substrait_dsl", name, {each: advice for each, advice in habits.items() if each not in known}, known
    )


def _functions() -> set[str]:
    """The names of the specification's functions."""
    return {function for each in standard_catalog().extensions.values() for function in each.functions}


def no_text(shown: str) -> TypeMismatchError:
    """The error for an expression in a text of Python's, which would be a constant: the same for all rows."""
    return TypeMismatchError(
        f"{shown} has no text before the query runs",
        hint="functions.concat(x, y) joins texts, x.cast(String) makes one; print(x) and {x!r} show the expression",
    )


def no_operation(name: str, advice: str) -> TypeMismatchError:
    """The error for an operation of Python's that an expression has not."""
    return TypeMismatchError(f"an expression has no {name} before the query runs", hint=f"write {advice}")


_MOMENTS = (PrecisionTimestamp, PrecisionTimestampTZ)


def argument_hint(name: str, parts: Sequence[Any]) -> str | None:
    """What is probably wrong with the arguments of a call that no overload takes."""
    typed = [part for part in parts if isinstance(part, ex.Expression)]
    plain = [part for part in parts if not isinstance(part, ex.Expression)]
    if name in ("and", "or", "xor") and any(not isinstance(part.type, Boolean) for part in typed):
        return "put each comparison in parentheses: (a > 1) & (b < 2)"
    if name == "add" and any(isinstance(part.type, String | VarChar) for part in typed):
        return "functions.concat(a, b) joins texts"
    if name == "subtract" and len(typed) == 2 and all(isinstance(part.type, (Date, *_MOMENTS)) for part in typed):
        return "the specification has no difference of two points in time, only that of one and a span"
    if name in ("min", "max") and any(isinstance(part.type, String | VarChar) for part in typed):
        key = "desc(x)" if name == "max" else "x"
        return f"there is none of texts; top_n(1, {key}) gives the row that has it"
    if not typed and plain and isinstance(plain[0], str) and plain[0].isidentifier():
        return f"a column is col({plain[0]!r}), or the row's in a lambda"
    if any(type(part) is dt.date for part in plain) and any(isinstance(part.type, _MOMENTS) for part in typed):
        return "of a moment the other side is one, too: datetime.datetime(2024, 5, 1) is the beginning of a day"
    if any(isinstance(part, ex.DaySeconds | ex.Compound) for part in plain):
        return "give the span a type: lit(value, IntervalDay(6))"
    if len(typed) == 2 and not plain and name not in ("add", "subtract"):
        return _common_type(typed[0].type, typed[1].type)
    refused = _refused(name, typed, plain)
    if refused is None:
        return None
    if name == "coalesce" and isinstance(typed[0].type, String | VarChar):  # what stands in for a text is one
        return refused.message
    return f"{refused.message}; {refused.hint}" if refused.hint else None


def catalog_hint(name: str, parts: Sequence[Any]) -> str | None:
    """Where to look for a function of a type that only an extension of a user's own declares."""
    urns = standard_catalog().urns
    kinds = (part.type for part in parts if isinstance(part, ex.Expression))
    if not any(isinstance(kind, UserDefined) and kind.urn not in urns for kind in kinds):
        return None
    return (
        "operators and substrait_dsl.functions are the specification's functions: "
        f"Functions(catalog).{name}(...) is that of a catalogue with an extension of your own"
    )


def literal_hint(name: str, parts: Sequence[Any]) -> str | None:
    """Why a Python value cannot stand beside an expression, where there is nothing better to say."""
    typed = [part for part in parts if isinstance(part, ex.Expression)]
    refused = _refused(name, typed, [part for part in parts if not isinstance(part, ex.Expression)])
    return refused.message if refused is not None else None


def type_hint(given: Any) -> str | None:
    """Which type was probably meant by what is none: by a name of SQL, by a type of Python or of another library."""
    optional = [each for each in get_args(given) if each is not NoneType]
    if len(optional) == 1 and NoneType in get_args(given):  # `int | None`
        return f"did you mean Nullable[{_annotation(optional[0])}]?"
    kind = get_origin(given) or given
    if isinstance(kind, type) and kind in PYTHON_TYPES:
        return f"did you mean {PYTHON_TYPES[kind]}?"
    meant = _type_meant(given if isinstance(given, str) else getattr(given, "__name__", None) or str(given))
    return f'did you mean "{meant}"?' if meant else None


def _annotation(given: Any) -> str:
    """How a type is written in a schema class; a schema class itself is that of a struct."""
    name = str(getattr(given, "__name__", given))
    return PYTHON_TYPES.get(get_origin(given) or given) or (f"Struct[{name}]" if hasattr(given, "__struct__") else name)


def _type_meant(text: str) -> str | None:
    """The type that a text of another language means: ``array<int>``, ``decimal(10,2)``, ``DoubleType()``."""
    given = text.strip().lower()
    phrase = re.sub(r"^[a-z_ ]+", lambda words: TYPE_HABITS.get(words[0].strip(), words[0]), given)
    whole = re.sub(r"[a-z_]\w*", _own_name, phrase).replace("()", "").translate(str.maketrans("()[]", "<><>"))
    name = whole.partition("<")[0]
    renamed = not given.startswith(name)
    for attempt in (whole, name) if renamed else (whole,):
        # Where another language says nothing of the digits after the second, it has six.
        attempt = re.sub(r"\b(precision_\w+|interval_day)(?![\w<])", r"\1<6>", attempt)
        try:
            parse_type(attempt)
        except PlanFormatError:
            continue
        return attempt
    names = PARAMETER_NAMES.get(name) if renamed else None
    return f"{name}<{','.join(names)}>" if names else None


def _own_name(word: re.Match[str]) -> str:
    bare = word[0].removesuffix("type")
    return TYPE_HABITS.get(word[0]) or TYPE_HABITS.get(bare) or bare


def _common_type(left: Type, right: Type) -> str | None:
    """How two operands come to one type."""
    match left, right:
        case Decimal(), Decimal():
            scale = max(left.scale, right.scale)
            precision = scale + max(left.precision - left.scale, right.precision - right.scale)
            return f"cast both to decimal<{precision},{scale}>" if precision <= 38 else None
        case (Date(), PrecisionTimestamp() as other) | (PrecisionTimestamp() as other, Date()):
            return f"cast the date to {other.as_required()}"
        case _:
            return None


def _refused(name: str, typed: Sequence[ex.Expression], plain: Sequence[Any]) -> LiteralError | None:
    """The error for the first of some Python values that has not the type of the one expression beside them."""
    if len(typed) != 1 or name not in OPERATORS:
        return None
    kind = typed[0].type.as_required()
    for value in plain:
        try:
            ex.literal(value, kind)
        except LiteralError as error:
            if isinstance(kind, Date | PrecisionTimestamp | PrecisionTimestampTZ) and type(value) is int:
                error.hint = "a span of time is a datetime.timedelta: timedelta(days=30)"
            return error
    return None
