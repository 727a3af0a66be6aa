"""What users have bound to functions of their own extensions, as Spark SQL text.

SQL text is filled in. A function of Columns is called with columns of the types of the arguments, and what Spark makes
of it is written as text, if Spark reads that as the same. Other Python functions become temporary functions of the
session. Either way Spark is asked for the type of the result before the plan runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import types as t
from substrait_dsl.array_functions import over_arrays
from substrait_dsl.catalog.implementations import (
    Implementation,
    bound_function,
    fill,
    implementation_of,
    require_types,
)
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.expressions.literals import literal_to_sql
from substrait_dsl.spark.expressions.null_checks import assert_not_null
from substrait_dsl.spark.expressions.types import spark_sql_type, type_to_spark
from substrait_dsl.spark.session.connect import functions_of, is_remote
from substrait_dsl.spark.session.engines import current_engine
from substrait_dsl.spark.session.failures import message_of, spark_errors

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType

ENGINE = "spark"

_SESSION: ContextVar[SparkSession | None] = ContextVar("session", default=None)
"""The session that text is written for; None: a plan is only looked at."""

_ARGUMENT = "__sd_argument_{}__"
_ARGUMENTS = re.compile(r"\b__sd_argument_(\d+)__\b")


@contextmanager
def implementing_in(spark: SparkSession) -> Iterator[None]:
    """Bind implementations to a session for a while."""
    token = _SESSION.set(spark)
    try:
        yield
    finally:
        _SESSION.reset(token)


def bound_call(call: ex.ScalarFunction, texts: Sequence[str]) -> str | None:
    """Write the call of a function as the implementation that is bound to it; None: there is none.

    Raises:
        UnsupportedError: the implementation does not run on the engine, or its result is of another type.
    """
    found = implementation_of(ENGINE, call.function)
    if found is None:
        return None
    if any(not isinstance(argument, ex.Expression) for argument in call.arguments):
        raise UnsupportedError(f"{found.title} takes values, and the call has a word for an argument")
    _require_engine(found)
    spark = _SESSION.get()
    values = [argument for argument in call.arguments if isinstance(argument, ex.Expression)]
    text = _ARGUMENTS.sub(lambda each: texts[int(each[1])], _template(found, call, values, spark))
    type_ = call.output_type
    return text if type_.nullable else assert_not_null(text, f"the result of {call.function.name}", type_)


def _require_engine(implementation: Implementation) -> None:
    """Refuse Python functions on an engine that is not Spark: it may not call them, or call them otherwise."""
    engine = current_engine()
    if implementation.takes != "sql" and engine.name != "Spark":
        raise UnsupportedError(
            f"{engine.name} does not run Python functions, and {implementation.title} is one",
            hint=f'sd.implement(my.{implementation.name}, "spark", "...") takes SQL text',
        )


def _template(
    found: Implementation, call: ex.ScalarFunction, values: Sequence[ex.Expression], spark: SparkSession | None
) -> str:
    """Return the text of a call with names in place of its arguments."""
    names = [_ARGUMENT.format(position) for position in range(len(values))]
    if isinstance(found.body, str):
        text = fill(found.body, _arguments(found, names))
        if spark is not None:
            _require_type(_select(found, values, text, spark), found, call)
        return text
    if found.takes == "columns":
        return f"NULL /* {', '.join(names)} */" if spark is None else _text_of_columns(found, call, values, spark)
    return _call_of_python(found, call, values, spark, names)


def _arguments(found: Implementation, names: Sequence[str]) -> Mapping[str, str]:
    """Return the arguments of a call by their positions and by the names that the extension has for them."""
    known = {str(position): name for position, name in enumerate(names)}
    return known | {
        name: known[str(position)] for position, name in enumerate(found.arguments) if position < len(names)
    }


def _frame(values: Sequence[ex.Expression], spark: SparkSession) -> DataFrame:
    """Return a DataFrame without rows whose columns are of the types of arguments."""
    from pyspark.sql.types import StructField, StructType

    fields = [
        StructField(_ARGUMENT.format(position), type_to_spark(value.type), value.type.nullable)
        for position, value in enumerate(values)
    ]
    return spark.createDataFrame([], StructType(fields))


def _constants(values: Sequence[ex.Expression]) -> Mapping[int, str]:
    """Return the text of arguments that are constants: some functions of Spark take nothing else."""
    return {position: literal_to_sql(value) for position, value in enumerate(values) if isinstance(value, ex.Literal)}


def _select(found: Implementation, values: Sequence[ex.Expression], text: str, spark: SparkSession) -> DataFrame:
    """Return the DataFrame of a text over no rows. Raises `UnsupportedError` for one that Spark does not take."""
    constants = _constants(values)
    text = _ARGUMENTS.sub(lambda each: constants.get(int(each[1]), each[0]), text)
    try:
        frame = _frame(values, spark).select(functions_of(spark).expr(text).alias("r"))
        frame.schema  # noqa: B018  # which a client of Spark Connect asks for
    except spark_errors() as error:
        raise UnsupportedError(f"{current_engine().name} does not take {found.title}: {message_of(error)}") from error
    return frame


def _require_type(frame: DataFrame, found: Implementation, call: ex.ScalarFunction) -> None:
    """Raise `UnsupportedError` for a result of another type than the extension declares."""
    (field,) = frame.schema.fields
    type_ = call.output_type
    wanted = type_to_spark(type_)
    if not _is_as(field.dataType, wanted):
        raise UnsupportedError(
            f"{found.title} gives {_words(field.dataType)} on {current_engine().name}, and its extension declares "
            f"{type_}, which is {_words(wanted)} there",
            hint=f"CAST(... AS {spark_sql_type(type_)}) is of that type",
        )


def _is_as(found: DataType, wanted: DataType) -> bool:
    """Whether values are of a type, and not NULL inside where it is not."""
    from pyspark.sql.types import ArrayType, MapType

    match found, wanted:
        case ArrayType(), ArrayType():
            inside = found.elementType, wanted.elementType
            return _is_as(*inside) and wanted.containsNull >= found.containsNull
        case MapType(), MapType():
            is_as = _is_as(found.keyType, wanted.keyType) and _is_as(found.valueType, wanted.valueType)
            return is_as and wanted.valueContainsNull >= found.valueContainsNull
        case _:
            return found == wanted


def _words(type_: DataType) -> str:
    """Write a type of Spark's as its SQL does, with what may be NULL inside."""
    from pyspark.sql.types import ArrayType

    inside = isinstance(type_, ArrayType) and not type_.containsNull
    return f"{type_.simpleString()}{' without NULL' if inside else ''}"


def _text_of_columns(
    found: Implementation, call: ex.ScalarFunction, values: Sequence[ex.Expression], spark: SparkSession
) -> str:
    """Return the text of what a function makes of Columns, which Spark reads as the same expression."""
    if is_remote(spark):
        raise UnsupportedError(
            f"{found.title} is a function of Columns, which a client of Spark Connect has no text for",
            hint=f'sd.implement(my.{found.name}, "spark", "...") takes SQL text; takes="arrays" a function of arrays',
        )
    assert callable(found.body)
    functions = functions_of(spark)
    constants = _constants(values)
    names = [_ARGUMENT.format(position) for position in range(len(values))]
    columns = [functions.expr(constants.get(position, name)) for position, name in enumerate(names)]
    result = found.body(*columns)
    source = _frame(values, spark)
    try:
        frame = source.select(result.alias("r"))
        expression = _expression(frame)
        _require_type(frame, found, call)
        text = str(expression.sql())
        is_same = bool(_expression(source.select(functions.expr(text).alias("r"))).semanticEquals(expression))
    except spark_errors() as error:
        raise _without_text(found, message_of(error)) from error
    except AttributeError as error:
        raise UnsupportedError(f"{found.title} returns {result!r}, and not a Column") from error
    if not is_same:
        raise _without_text(found, "it is read as something else")
    return text


def _without_text(found: Implementation, reason: str) -> UnsupportedError:
    return UnsupportedError(
        f"{current_engine().name} has no SQL text for the Column that {found.title} returns: {reason}",
        hint=f'sd.implement(my.{found.name}, "spark", "...") takes the text, and takes="values" a Python function',
    )


def _expression(frame: DataFrame) -> Any:
    """Return the one expression of a projection, as Spark has analyzed it."""
    return frame._jdf.queryExecution().analyzed().projectList().apply(0).child()


def _call_of_python(
    found: Implementation,
    call: ex.ScalarFunction,
    values: Sequence[ex.Expression],
    spark: SparkSession | None,
    names: Sequence[str],
) -> str:
    """Return the call of the temporary function that a Python function becomes."""
    type_ = call.output_type
    require_types(found, [type_, *(value.type for value in values)])
    types = ", ".join(str(each) for each in (type_, *(value.type for value in values)))
    name = bound_function(found, call.function, types).name
    if spark is not None:
        _register(name, found, type_, spark)
    return f"{name}({', '.join(names)})"


def _register(name: str, found: Implementation, type_: t.Type, spark: SparkSession) -> None:
    """Make a Python function a temporary function of a session; the same again replaces it."""
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_type

    assert callable(found.body)
    returned = type_to_spark(type_)
    body = over_arrays(found.body, found.takes, to_arrow_type(returned), not type_.nullable, found.title)
    body.__annotations__ = {"arrays": pa.Array, "return": pa.Array}  # by which Spark knows what it takes
    function = functions_of(spark).arrow_udf(body, returned)
    spark.udf.register(name, function if found.is_deterministic else function.asNondeterministic())
