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
from typing import TYPE_CHECKING, Any, TypeGuard

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import types as t
from substrait_dsl.array_functions import over_arrays
from substrait_dsl.catalog.implementations import (
    DISTINCT,
    FILTER,
    Implementation,
    bound_function,
    fill,
    implementation_of,
    is_stable_call,
    require_types,
    with_windows,
)
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.expressions.casts import fitting
from substrait_dsl.spark.expressions.literals import literal_to_sql
from substrait_dsl.spark.expressions.null_checks import assert_not_null
from substrait_dsl.spark.expressions.types import spark_sql_type, type_to_spark
from substrait_dsl.spark.session.connect import functions_of, is_remote
from substrait_dsl.spark.session.engines import ENGINE, current_engine
from substrait_dsl.spark.session.explain import spark_plan
from substrait_dsl.spark.session.failures import message_of, spark_errors

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import DataType

    from substrait_dsl.algebra.node import Node

_SESSION: ContextVar[SparkSession | None] = ContextVar("session", default=None)
"""The session that text is written for; None: a plan is only looked at."""

_ARGUMENT = "__sd_argument_{}__"
CONDITION = "__sd_condition__"
"""The name that stands for the filter of a measure until its text is filled in."""
CLAUSE = "__sd_clause__"
"""The name that stands for what follows an aggregate function: a filter, or a window."""

_NAMES = re.compile(r"\b__sd_(?:argument_\d+|key_\d+|condition|clause)__\b")

_ATOM = re.compile(r"[\w.]+|`(?:[^`]|``)*`|'(?:[^'\\]|\\.)*'", re.DOTALL)


def _operand(text: str) -> str:
    """Write SQL text as one operand: in parentheses, unless it is a name or a constant without a sign."""
    return text if _ATOM.fullmatch(text) else f"({text})"


@contextmanager
def implementing_in(spark: SparkSession) -> Iterator[None]:
    """Bind implementations to a session for a while."""
    token = _SESSION.set(spark)
    try:
        yield
    finally:
        _SESSION.reset(token)


Call = ex.ScalarFunction | ex.AggregateFunction | ex.WindowCall


@attrs.frozen
class BoundCall:
    """A call of what is bound to a function."""

    found: Implementation
    """What is bound."""
    call: Call
    """The call."""
    spark: SparkSession | None
    """The session that text is written for; None: the plan is only looked at."""

    @property
    def values(self) -> list[ex.Expression]:
        """The arguments."""
        return [argument for argument in self.call.arguments if isinstance(argument, ex.Expression)]

    @property
    def names(self) -> list[str]:
        """The names that stand for the arguments until their texts are filled in."""
        return [_ARGUMENT.format(position) for position in range(len(self.call.arguments))]

    @property
    def is_aggregate(self) -> bool:
        """Whether it computes one value from many rows."""
        return not isinstance(self.call, ex.ScalarFunction)

    @property
    def is_distinct(self) -> bool:
        """Whether it is of distinct values."""
        return not isinstance(self.call, ex.ScalarFunction) and self.call.invocation == "distinct"

    def checked(self, template: str, texts: Sequence[str], clauses: Mapping[str, str] | None = None) -> str:
        """Fill in arguments and clauses, with a check that the result is not NULL, nor too long for its type.

        Each argument is one operand of the template, and so is the result where it is written.
        """
        named = {**dict(zip(self.names, map(_operand, texts), strict=True)), **(clauses or {})}
        text = f"({_NAMES.sub(lambda each: named[each[0]], template)})"
        type_ = self.call.output_type
        if not type_.nullable:
            text = assert_not_null(text, f"the result of {self.call.function.name}", type_)
        return fitting(text, type_) if isinstance(type_, t.VarChar | t.FixedChar) else text


def bound_to(call: Call) -> BoundCall | None:
    """Return what is bound to the function of a call; None: nothing is.

    Raises:
        UnsupportedError: the implementation does not run on the engine, or takes no such call.
    """
    found = implementation_of("spark", call.function)
    if found is None:
        return None
    if call.options:
        raise UnsupportedError(f"what is bound to {call.function.name} knows nothing of its options")
    if any(not isinstance(argument, ex.Expression) for argument in call.arguments):
        raise UnsupportedError(f"{found.title} takes values, and the call has a word for an argument")
    _require_engine(found, call)
    return BoundCall(found, call, _SESSION.get())


def is_nondeterministic(node: Node) -> TypeGuard[ex.ScalarFunction]:
    """Whether a node is the call of a function that has other values each time it is computed."""
    return isinstance(node, ex.ScalarFunction) and not is_stable_call(node, "spark")


def bound_call(call: ex.ScalarFunction, texts: Sequence[str]) -> str | None:
    """Write the call of a function as the implementation that is bound to it; None: there is none.

    Raises:
        UnsupportedError: the implementation does not run on the engine, or its result is of another type.
    """
    bound = bound_to(call)
    return None if bound is None else bound.checked(_template(bound), texts)


ON_SPARK = 'local_session(engine="spark") is a session of Spark, which runs Python functions'
"""The hint where Sail runs none."""


def _require_engine(implementation: Implementation, call: Call) -> None:
    """Refuse Python functions on an engine that is not Spark: it may not call them, or call them otherwise."""
    if implementation.takes != "sql" and not current_engine().runs_python_functions:
        raise UnsupportedError(
            f"{ENGINE} does not run Python functions, and {implementation.title} is one",
            hint=ON_SPARK
            if isinstance(call, ex.AggregateFunction) and call.sorts
            else f'{ON_SPARK}; sd.implement(my.{implementation.name}, "spark", "...") takes SQL text',
        )


def _template(bound: BoundCall) -> str:
    """Return the text of a call with names in place of its arguments."""
    found = bound.found
    if found.takes == "sql":
        return text_of_sql(bound, {}, {})
    if found.takes == "columns":
        return text_of_columns(bound)
    return f"{function_of_python(bound)}({', '.join(bound.names)})"


def text_of_sql(bound: BoundCall, clauses: Mapping[str, str], checked: Mapping[str, str]) -> str:
    """Return SQL text with the names of arguments, and with clauses by their names.

    Spark is asked for the type of the text with the clauses `checked`.
    """
    body = bound.found.body
    assert isinstance(body, str)
    arguments = _arguments(bound.found, bound.names)
    if bound.spark is not None:
        asked = fill(body, {**checked, **_asked(bound)})
        if bound.is_aggregate and _is_of_one_row(bound, fill(body, {DISTINCT: "", FILTER: "", **_asked(bound)})):
            raise UnsupportedError(
                f"{bound.found.title} calls no aggregate function of {ENGINE}, and {bound.found.name} is one: {body}",
                hint='an aggregate of the rows is such as "max({0}){filter}"',
            )
        try:
            frame = result_of(bound, input_of(bound), functions_of(bound.spark).expr(f"({asked})"))
            _require_type(bound, frame)
            multiplies_rows = current_engine().multiplies_rows
            is_of_many = multiplies_rows is not None and multiplies_rows(spark_plan(frame, "simple"))
        except spark_errors() as error:
            raise UnsupportedError(f"{ENGINE} does not take {bound.found.title}: {message_of(error)}") from error
        if is_of_many:
            raise UnsupportedError(f"{bound.found.title} gives several values in place of one, as explode does")
    return fill(body, {**clauses, **arguments})


def require_at_each(bound: BoundCall, mark: str) -> None:
    """Raise `UnsupportedError` for SQL text with a clause at some of its aggregate functions, and not at all.

    With a window at each call that has the clause, no function is left that aggregates rows.
    """
    body = bound.found.body
    assert isinstance(body, str)
    if bound.spark is not None and not _is_of_one_row(bound, with_windows(body, mark, _asked(bound))):
        raise UnsupportedError(
            f"{bound.found.title} has {{{mark}}} at some of the aggregate functions in its text, or at one that"
            f" {ENGINE} does not run over a window: {body}",
            hint=f"write it at each aggregate function in the text: avg({{{DISTINCT}}}{{0}}){{{FILTER}}}",
        )


def _is_of_one_row(bound: BoundCall, text: str) -> bool:
    """Whether the engine computes SQL text for each row, without aggregating."""
    assert bound.spark is not None
    try:
        expression = functions_of(bound.spark).expr(f"({text})").alias("r")
        return bool(input_of(bound).select("*", expression).schema)
    except spark_errors():
        return False


def _asked(bound: BoundCall) -> Mapping[str, str]:
    """Return what stands for the arguments in text that the engine is asked about: constants, and names."""
    constants = {name: name for name in bound.names} | _constants(bound)
    return {name: _operand(constants[text]) for name, text in _arguments(bound.found, bound.names).items()}


def _arguments(found: Implementation, names: Sequence[str]) -> Mapping[str, str]:
    """Return the arguments of a call by their positions and by the names that the extension has for them."""
    known = {str(position): name for position, name in enumerate(names)}
    return known | {
        name: known[str(position)] for position, name in enumerate(found.arguments) if position < len(names)
    }


def input_of(bound: BoundCall) -> DataFrame:
    """Return a DataFrame without rows whose columns are of the types of arguments, and a condition."""
    from pyspark.sql.types import BooleanType, StructField, StructType

    assert bound.spark is not None
    fields = [
        StructField(name, type_to_spark(value.type), value.type.nullable)
        for name, value in zip(bound.names, bound.values, strict=True)
    ]
    return bound.spark.createDataFrame([], StructType([*fields, StructField(CONDITION, BooleanType())]))


def result_of(bound: BoundCall, source: DataFrame, result: Column) -> DataFrame:
    """Return the DataFrame with a result of Spark's as the field of a struct in its last column.

    So Spark refuses what gives several rows for one, and what aggregates where no aggregate is declared, or the other
    way round.
    """
    assert bound.spark is not None
    struct = functions_of(bound.spark).struct(result.alias("r")).alias("s")
    return source.groupBy().agg(struct) if bound.is_aggregate else source.select("*", struct)


def _constants(bound: BoundCall) -> dict[str, str]:
    """Return the text of arguments that are constants by their names: some functions of Spark take nothing else."""
    pairs = zip(bound.names, bound.values, strict=True)
    return {name: literal_to_sql(value) for name, value in pairs if isinstance(value, ex.Literal)}


def _require_type(bound: BoundCall, frame: DataFrame) -> None:
    """Raise `UnsupportedError` for a result of another type than the extension declares."""
    (field,) = frame.schema.fields[-1].dataType.fields  # type: ignore[attr-defined]  # a struct
    found, type_ = bound.found, bound.call.output_type
    wanted = type_to_spark(type_)
    if not _is_as(field.dataType, wanted):
        raise UnsupportedError(
            f"{found.title} gives {_words(field.dataType)} on {ENGINE}, and its extension declares "
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


def text_of_columns(bound: BoundCall, *, filtered: bool = False) -> str:
    """Return the text of what a function makes of Columns, which Spark reads as the same expression.

    Where it is `filtered`, each aggregate function in it is of the rows that `CONDITION` is true for.
    """
    found, spark = bound.found, bound.spark
    if spark is None:
        return f"NULL /* {', '.join(bound.names)} */"
    if is_remote(spark):
        raise UnsupportedError(
            f"{found.title} is a function of Columns, which a client of Spark Connect has no text for",
            hint=f'sd.implement(my.{found.name}, "spark", "...") takes SQL text; takes="arrays" a function of arrays',
        )
    assert callable(found.body)
    functions = functions_of(spark)
    constants = _constants(bound)
    columns = [functions.expr(constants.get(name, name)) for name in bound.names]
    result = found.body(*columns)
    source = input_of(bound)
    try:
        frame = result_of(bound, source, result)
        _require_type(bound, frame)
        expression = _expression(frame)
        if filtered:
            expression = _filtered(expression, source, spark)
        text = str(expression.sql())
        is_same = bool(_expression(result_of(bound, source, functions.expr(text))).semanticEquals(expression))
    except spark_errors() as error:
        raise _without_text(found, message_of(error)) from error
    except AttributeError as error:
        raise UnsupportedError(f"{found.title} returns {result!r}, and not a Column") from error
    if not is_same:
        raise _without_text(found, "it is read as something else")
    return text


def _without_text(found: Implementation, reason: str) -> UnsupportedError:
    return UnsupportedError(
        f"{ENGINE} has no SQL text for the Column that {found.title} returns: {reason}",
        hint=f'sd.implement(my.{found.name}, "spark", "...") takes the text, and takes="values" a Python function',
    )


def _expression(frame: DataFrame) -> Any:
    """Return the result in a DataFrame of `result_of`, as Spark has analyzed it: the value of the struct's field."""
    return frame._jdf.queryExecution().analyzed().expressions().last().child().children().apply(1)


def _filtered(expression: Any, source: DataFrame, spark: SparkSession) -> Any:
    """Return an analyzed expression with a filter at each aggregate function."""
    jvm = spark._jvm
    assert jvm is not None
    condition = jvm.scala.Some(source._jdf.queryExecution().analyzed().output().last())

    def rebuilt(node: Any) -> Any:
        if node.getClass().getSimpleName() == "AggregateExpression":
            return node.copy(node.aggregateFunction(), node.mode(), node.isDistinct(), condition, node.resultId())
        children = node.children()
        inner = [rebuilt(children.apply(position)) for position in range(children.size())]
        return node.withNewChildren(jvm.PythonUtils.toSeq(inner))

    return rebuilt(expression)


def function_of_python(bound: BoundCall) -> str:
    """Return the name of the temporary function that a Python function becomes: the same again replaces it."""
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_type

    found, type_ = bound.found, bound.call.output_type
    require_types(found, [type_, *(value.type for value in bound.values)])
    types = ", ".join(str(each) for each in (type_, *(value.type for value in bound.values)))
    name = bound_function(found, bound.call.function, types).name
    if bound.spark is None:
        return name
    assert callable(found.body)
    returned = type_to_spark(type_)
    body = over_arrays(
        found.body, found.takes, to_arrow_type(returned), not type_.nullable, found.title, aggregates=bound.is_aggregate
    )
    body.__annotations__ = {"arrays": pa.Array, "return": pa.Array}  # by which Spark knows what it takes
    function = functions_of(bound.spark).arrow_udf(body, returned)
    bound.spark.udf.register(name, function if found.is_deterministic else function.asNondeterministic())
    return name
