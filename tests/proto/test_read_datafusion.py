"""Plans that DataFusion writes: read and written again, they give DataFusion the rows of the SQL they came from."""

from __future__ import annotations

import datetime as dt
import operator
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from substrait.plan_pb2 import Plan

from examples.tpch import data
from examples.tpch.schemas import TABLES
from substrait_dsl.algebra.expressions import Argument, Cast, FieldReference, Literal, ScalarFunction, Switch
from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.relations import Aggregate, Project
from substrait_dsl.algebra.types import INTEGER_RANGES
from substrait_dsl.catalog import standard_catalog
from substrait_dsl.errors import PlanFormatError, UnsupportedError
from substrait_dsl.proto.plan import encode_plan, from_bytes, to_bytes

if TYPE_CHECKING:
    from datafusion import SessionContext

T = pa.table({"a": [1, 2, 3], "b": [1.5, None, -2.0], "s": ["x", "y", "x"]})
U = pa.table({"k": [1, 3, 3], "d": [Decimal("1.50"), None, Decimal("2.25")], "day": [dt.date(2020, 1, 1)] * 3})
VIEWS = pa.table(
    {
        "v": pa.array(["x", "xy", None], pa.string_view()),
    }
)
NUMBERS = pa.table(
    {
        "k": [1, 1, 2, 2],
        "i8": pa.array([1, 2, 4, None], pa.int8()),
        "i16": pa.array([1, 2, 4, None], pa.int16()),
        "i32": pa.array([1, 2, 4, None], pa.int32()),
        "i64": pa.array([1, 2, 4, None], pa.int64()),
        "fp32": pa.array([1.1, 2.2, 4.1, None], pa.float32()),
    }
)
OTHERS = pa.table({"large": pa.array(["p", "q"], pa.large_string()), "u": pa.array([1, 2**32 - 1], pa.uint32())})


@pytest.fixture(scope="module")
def context(datafusion: None) -> SessionContext:
    from datafusion import SessionContext

    made = SessionContext()
    made.from_arrow(T, name="t")
    made.from_arrow(U.cast(pa.schema([("k", pa.int64()), ("d", pa.decimal128(15, 2)), ("day", pa.date32())])), name="u")
    made.from_arrow(VIEWS, name="views")
    made.from_arrow(OTHERS, name="others")
    made.from_arrow(NUMBERS, name="numbers")
    return made


QUERIES = [
    "SELECT a, b * 2 FROM t WHERE a > 1 ORDER BY a DESC LIMIT 3",
    "SELECT s, sum(a), avg(b), count(*), count(DISTINCT a) FROM t GROUP BY s HAVING sum(a) > 1",
    "SELECT * FROM t JOIN u ON t.a = u.k WHERE u.d > 1.5",
    "SELECT * FROM t LEFT JOIN u ON t.a = u.k AND u.d IS NOT NULL",
    "SELECT * FROM t FULL JOIN u ON a = k",
    "SELECT * FROM t CROSS JOIN u",
    "SELECT * FROM t WHERE a IN (SELECT k FROM u)",
    "SELECT * FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.k = t.a)",
    "SELECT a, (SELECT max(d) FROM u WHERE u.k = t.a) FROM t",
    "SELECT CASE WHEN a > 1 THEN 'many' WHEN a < 0 THEN 'none' END FROM t",
    "SELECT a, row_number() OVER (PARTITION BY s ORDER BY a) FROM t",
    "SELECT a FROM t UNION ALL SELECT k FROM u",
    "SELECT a FROM t INTERSECT SELECT k FROM u",
    "SELECT DISTINCT s FROM t",
    "SELECT * FROM (VALUES (1, 'x'), (2, 'y')) AS v(n, m)",
    "SELECT a IN (1, 2, 3), a NOT IN (3), a BETWEEN 2 AND 3 FROM t",
    "SELECT upper(s), abs(a), coalesce(b, 1.0), CAST(a AS INT) FROM t",
    "SELECT s LIKE 'x%' AS p, s NOT LIKE '_' AS q FROM t",
    "SELECT CASE a WHEN 1 THEN 'one' WHEN 2 THEN 'two' ELSE 'more' END FROM t",
    "SELECT CASE WHEN a > 1 THEN b END, CASE s WHEN 'x' THEN a END FROM t",
    "SELECT min(s), max(s) FROM t",
    "SELECT a, lag(s, 1) OVER (ORDER BY a), lead(b, 2) OVER (ORDER BY a) FROM t",
    "SELECT * FROM views WHERE v LIKE 'x%'",
    "SELECT max(v), count(*) FROM views GROUP BY v",
    "SELECT avg(d), sum(d), sum(d) / count(*), avg(DISTINCT d) FROM u",
    "SELECT k, d / 7, d / (d + 1), d * d, d - 0.5 FROM u",
    "SELECT k, avg(d) OVER (ORDER BY k), sum(d) OVER (PARTITION BY k) FROM u",
    "SELECT s LIKE 'x\\%', concat(s, CAST(NULL AS VARCHAR)), left(s, 1), substr(s, 0, 2), log10(a) FROM t",
]


@pytest.mark.parametrize("query", QUERIES)
def test_plans_of_datafusion_mean_what_they_meant(context: SessionContext, query: str) -> None:
    from datafusion.substrait import Consumer, Serde

    plan, _ = from_bytes(bytes(Serde.serialize_bytes(query, context)))
    sent = Serde.deserialize_bytes(to_bytes(encode_plan(plan)))
    again = context.create_dataframe_from_logical_plan(Consumer.from_substrait_plan(context, sent))
    assert rows(again.to_arrow_table()) == rows(context.sql(query).to_arrow_table())


def rows(table: pa.Table) -> list[str]:
    return sorted(repr(tuple(row.values())) for row in table.to_pylist())


@pytest.fixture(scope="module")
def tpch(datafusion: None, tmp_path_factory: pytest.TempPathFactory) -> SessionContext:
    """The tables of TPC-H as DataFusion reads them by default: every text column is a View of Arrow."""
    from datafusion import SessionContext

    directory = tmp_path_factory.mktemp("tpch")
    data.generate(directory, 0.01)
    made = SessionContext()
    for name in TABLES:
        made.register_parquet(name, str(directory / f"{name}.parquet"))
    return made


@pytest.mark.parametrize("path", sorted((Path(data.__file__).parent / "sql").glob("*.sql")), ids=lambda path: path.stem)
def test_the_queries_of_tpch_mean_what_they_meant(tpch: SessionContext, path: Path) -> None:
    from datafusion.substrait import Consumer, Serde

    query = path.read_text(encoding="utf-8")
    plan, findings = from_bytes(bytes(Serde.serialize_bytes(query, tpch)))
    assert any("type variation 2, of string" in finding.message for finding in findings)
    sent = Serde.deserialize_bytes(to_bytes(encode_plan(plan)))
    if "EXTRACT(" in query.upper():  # `tests/producers/test_datafusion_tpch.py` runs all of them
        with pytest.raises(Exception, match="Function argument non-Value type not supported"):
            Consumer.from_substrait_plan(tpch, sent)
        return
    again = tpch.create_dataframe_from_logical_plan(Consumer.from_substrait_plan(tpch, sent))
    assert rows(again.to_arrow_table()) == rows(tpch.sql(query).to_arrow_table())


def test_joins_keep_one_side_whatever_version_a_plan_says(context: SessionContext) -> None:
    """By the specification, a mark join put out the columns of both sides before version 0.72."""
    from datafusion.substrait import Consumer, Serde

    query = "SELECT a, s FROM t WHERE a IN (SELECT k FROM u) OR s = 'y'"
    message = Plan.FromString(bytes(Serde.serialize_bytes(query, context)))
    assert "JOIN_TYPE_LEFT_MARK" in str(message)
    message.version.minor_number = 62
    plan, findings = from_bytes(message.SerializeToString())
    assert any("but not DataFusion's: read as today's" in finding.message for finding in findings)
    sent = Serde.deserialize_bytes(to_bytes(encode_plan(plan)))
    again = context.create_dataframe_from_logical_plan(Consumer.from_substrait_plan(context, sent))
    assert rows(again.to_arrow_table()) == rows(context.sql(query).to_arrow_table()) == [repr((n, s)) for n, s in KEPT]
    message.version.producer = "another"
    with pytest.raises(UnsupportedError, match="puts out the columns of both sides"):
        from_bytes(message.SerializeToString())


KEPT = ((1, "x"), (2, "y"), (3, "x"))
"""The rows of `T` whose `a` is a key of `U`, and the one whose `s` is y."""


TOLD = {
    "SELECT v FROM views": ("variation 2, of string, by which DataFusion means a View", "taken for string itself"),
    "SELECT large FROM others": (
        "by which DataFusion means a Large",
        "taken for string itself",
    ),
    "SELECT u FROM others": ("variation 1, of i32, by which DataFusion means an unsigned integer: read as u32",),
    "SELECT TRY_CAST(a AS INT UNSIGNED) FROM t": ("variation 1, of i32", "means an unsigned integer: read as u32"),
    "SELECT s LIKE 'x%' FROM t": ("like has a third argument, NULL, by which DataFusion means no escape",),
    "SELECT s LIKE 'x!%' ESCAPE '!' FROM t": ("taken to give boolean?, because all its overloads",),
    "SELECT lag(s, 1) OVER (ORDER BY a) FROM t": (
        "and no overload takes lag(string?, i64)",
        "read as lag:any_i32 of (string?, i32)",
    ),
    "SELECT median(a) FROM t": ("median is DataFusion's name of a function: read as median, EXACT",),
    "SELECT min(s) FROM t": ("taken to give string?, because each of its overloads gives the type of its argument",),
    "SELECT a FROM t WHERE a NOT IN (SELECT k FROM u)": ("keys that may be NULL may be NOT IN in DataFusion",),
    "SELECT CASE a WHEN 1 THEN 2 END FROM t": ("the first if has no then: read as the value that those of the others",),
}


@pytest.mark.parametrize(("query", "said"), TOLD.items(), ids=TOLD)
def test_every_liberty_is_told(context: SessionContext, query: str, said: tuple[str, ...]) -> None:
    from datafusion.substrait import Serde

    data = bytes(Serde.serialize_bytes(query, context))
    plan, findings = from_bytes(data)
    assert [all(part in finding.message for part in said) for finding in findings].count(True) == 1
    (type_,) = plan.roots[0].input.schema.types
    assert str(context.sql(query).schema().field(0).type) in ARROW[str(type_.as_required())]
    with pytest.raises(PlanFormatError):
        from_bytes(data, strict=True)


ARROW = {
    "string": ("string", "string_view", "large_string"),
    "i32": ("int32",),
    "u!u32": ("uint32",),
    "i64": ("int64",),
    "boolean": ("bool",),
    "fp64": ("double",),
}
"""What the types of columns may be in Arrow."""


def test_unsigned_integers_are_those_of_the_same_bits(context: SessionContext) -> None:
    """DataFusion writes unsigned integers as the signed ones of the same bits."""
    from datafusion.substrait import Serde

    for query in ("SELECT u > arrow_cast(1, 'UInt32') FROM others", "SELECT arrow_cast(5, 'UInt64')"):
        from_bytes(bytes(Serde.serialize_bytes(query, context)))
    data = bytes(Serde.serialize_bytes("SELECT arrow_cast(18446744073709551615, 'UInt64')", context))
    plan, _ = from_bytes(data)
    (project,) = (rel for rel in walk(plan.roots[0].input) if isinstance(rel, Project))
    (constant,) = project.expressions
    assert isinstance(constant, Literal)
    assert str(constant.type) == "u!u64"
    assert [inner.value for inner in constant.value] == ["18446744073709551615"]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT covar_pop(a, b) FROM t", r'covar_pop.*there is no aggregate function "covar_pop"'),
        ("SELECT array_agg(b) FROM t", r'"array_agg".*\n.*an extension of your own can declare it'),
        ("SELECT approx_distinct(a) FROM t", r'"approx_distinct".*\n.*did you mean "approx_count_distinct"'),
    ],
)
def test_a_function_that_says_no_type_and_is_not_known_is_refused(
    context: SessionContext, query: str, said: str
) -> None:
    from datafusion.substrait import Serde

    with pytest.raises(UnsupportedError, match=said):
        from_bytes(bytes(Serde.serialize_bytes(query, context)))


def test_an_extension_of_ones_own_says_the_type(context: SessionContext) -> None:
    from datafusion.substrait import Serde

    catalog = standard_catalog().with_extension(
        """%YAML 1.2
---
urn: extension:com.acme:more
aggregate_functions:
  - name: stddev
    impls:
      - args: [{name: x, value: fp64}]
        nullability: DECLARED_OUTPUT
        return: fp64?
"""
    )
    data = bytes(Serde.serialize_bytes("SELECT stddev(b) FROM t", context))
    plan, findings = from_bytes(data, catalog)
    assert [str(type_) for type_ in plan.roots[0].input.schema.types] == ["fp64?"]
    assert any('read as "stddev:fp64" of "extension:com.acme:more"' in finding.message for finding in findings)


def test_decimals_have_the_types_of_datafusion(context: SessionContext) -> None:
    from datafusion.substrait import Serde

    query = "SELECT sum(d), avg(d), sum(d) / 3, avg(d) * 2, d / 3 FROM u GROUP BY d"
    plan, _ = from_bytes(bytes(Serde.serialize_bytes(query, context)))
    kinds = [str(type_.as_required()) for type_ in plan.roots[0].input.schema.types]
    assert kinds == ["decimal<25,2>", "decimal<19,6>", "decimal<29,6>", "decimal<38,6>", "decimal<19,6>"]
    arrow = [field.type for field in context.sql(query).schema()]
    assert kinds == [f"decimal<{type_.precision},{type_.scale}>" for type_ in arrow]


def test_grouping_sets_have_each_key_once_then_a_bit_for_each_key_that_they_lack(context: SessionContext) -> None:
    from datafusion.substrait import Serde

    query = "SELECT s, a, grouping(s), grouping(a), sum(b) FROM t GROUP BY ROLLUP(s, a)"
    plan, _ = from_bytes(bytes(Serde.serialize_bytes(query, context)))
    (aggregate,) = (rel for rel in walk(plan.roots[0].input) if isinstance(rel, Aggregate))
    assert (len(aggregate.keys), aggregate.grouping_sets) == (2, ((0, 1), (0,), ()))
    (numbers,) = (
        expression
        for rel in walk(plan.roots[0].input)
        if isinstance(rel, Project)
        for expression in rel.expressions
        if isinstance(expression, Cast) and isinstance(expression.input, Switch)
    )
    switch = numbers.input
    assert isinstance(switch, Switch)
    assert [case.value.value for case in switch.cases] == [1, 2]
    values = [switch.otherwise, *(case.then for case in switch.cases)]
    assert [value.value for value in values if isinstance(value, Literal)] == [0b00, 0b01, 0b11]


def walk(rel: Rel) -> Iterator[Rel]:
    yield rel
    for child in rel.inputs:
        yield from walk(child)


@pytest.mark.parametrize("expression", ["stddev(b)", "covar_pop(a, b)", "array_agg(b)", "bit_xor(a)"])
def test_another_catalogue_says_what_its_names_mean(context: SessionContext, expression: str) -> None:
    from datafusion.substrait import Serde

    name = expression.partition("(")[0]
    catalog = standard_catalog().with_extension(
        f"""%YAML 1.2
---
urn: extension:com.acme:more
aggregate_functions:
  - name: {name}
    impls:
      - args: [{{name: x, value: any1}}]
        variadic: {{min: 1}}
        nullability: DECLARED_OUTPUT
        return: string?
"""
    )
    data = bytes(Serde.serialize_bytes(f"SELECT {expression} FROM t", context))
    plan, _ = from_bytes(data, catalog)
    assert [str(type_) for type_ in plan.roots[0].input.schema.types] == ["string?"]


# --- plans that are not optimised: they have no casts, and declare no types


def written(context: SessionContext, query: str) -> bytes:
    """The plan of a query as DataFusion writes it before it has analysed it."""
    from datafusion.substrait import Producer

    return bytes(Producer.to_substrait_plan(context.sql(query).logical_plan(), context).encode())


AVERAGES = [
    *(f"SELECT avg({name}) FROM numbers" for name in ("i8", "i16", "i32", "i64", "fp32")),
    "SELECT avg(DISTINCT i32) FROM numbers",
    "SELECT k, avg(i16) FILTER (WHERE k = 1) FROM numbers GROUP BY k",
    "SELECT k, avg(i64) OVER (PARTITION BY k) FROM numbers",
    "SELECT k, avg(fp32) OVER (ORDER BY k) FROM numbers",
    "SELECT k, avg(i32) FROM numbers GROUP BY ROLLUP (k)",
]


@pytest.mark.parametrize("query", AVERAGES)
def test_averages_are_computed_of_fp64(context: SessionContext, query: str) -> None:
    from datafusion.substrait import Consumer, Serde

    plan, findings = from_bytes(written(context, query))
    assert str(plan.roots[0].input.schema.types[-1]) == "fp64?"
    assert any("is computed of fp64 by DataFusion: read so" in finding.message for finding in findings)
    if "ROLLUP" in query:  # the number of the set is a switch, which DataFusion does not read
        return
    sent = Serde.deserialize_bytes(to_bytes(encode_plan(plan)))
    again = context.create_dataframe_from_logical_plan(Consumer.from_substrait_plan(context, sent))
    assert rows(again.to_arrow_table()) == rows(context.sql(query).to_arrow_table())


@pytest.mark.parametrize(
    "call",
    [
        *(f"{name}({kind})" for name in ("median", "stddev", "var", "var_pop") for kind in ("i8", "i64", "fp32")),
        "median(DISTINCT i32)",
        "median(i16) FILTER (WHERE k = 1)",
        "median(i32) OVER (PARTITION BY k)",
        "stddev_pop(fp32) OVER (ORDER BY k)",
    ],
)
def test_medians_and_deviations_have_the_type_that_datafusion_gives(context: SessionContext, call: str) -> None:
    """The median of fp32 stays one; no other of them does."""
    query = f"SELECT {call} FROM numbers"
    plan, _ = from_bytes(written(context, query))
    (kind,) = plan.roots[0].input.schema.types
    assert str(context.sql(query).schema().field(0).type) == {"fp64?": "double", "fp32?": "float"}[str(kind)]


# --- the bits of integers

SHIFTS = [
    *(
        f"i{bits} {sign} arrow_cast({places}, 'Int{bits}')"
        for bits in (8, 16, 32, 64)
        for sign in ("<<", ">>")
        for places in (0, 3, bits - 1, bits, bits + 1, -1)
    ),
    "i8 << 9",
    "i32 << 31",
    "i32 >> 33",
    "i32 << i64",
    "i16 << i64",
    "i32 >> i32",
    "i64 << (i64 + 62)",
]


@pytest.fixture(scope="module")
def shifted(datafusion: None) -> SessionContext:
    from datafusion import SessionContext

    made = SessionContext()
    values = {f"i{bits}": pa.array([1, 3, 66, 127, -1, -5, -128], f"int{bits}") for bits in (8, 16, 32, 64)}
    made.from_arrow(pa.table(values), name="t")
    return made


@pytest.mark.parametrize("shift", SHIFTS)
def test_bits_are_moved_by_places_modulo_their_number(shifted: SessionContext, shift: str) -> None:
    from datafusion.substrait import Serde

    query = f"SELECT {shift} FROM t"
    plans = [bytes(Serde.serialize_bytes(query, shifted))]
    if "arrow_cast" not in shift:  # it stands for a literal where it is computed
        plans.append(written(shifted, query))
    (column,) = shifted.sql(query).to_arrow_table().columns
    for sent in plans:
        plan, _ = from_bytes(sent)
        (project,) = (rel for rel in walk(plan.roots[0].input) if isinstance(rel, Project))
        (expression,) = project.expressions
        assert type(expression.type).__name__.lower() == str(column.type).replace("int", "i")
        assert [value_of(expression, number) for number in (1, 3, 66, 127, -1, -5, -128)] == column.to_pylist()


def value_of(expression: Argument, number: int) -> int:
    """The value of an expression of integers where each column has the same number, as the specification defines it."""
    match expression:
        case FieldReference():
            return number
        case Literal(value=int() as value):
            return int(value)
        case Cast(input=cast, target=target):
            whole: int = value_of(cast, number)
            lowest, highest = INTEGER_RANGES[type(target)]
            assert lowest <= whole <= highest, "the cast throws"
            return whole
        case ScalarFunction(function=function, arguments=(x, y)):
            left, right = value_of(x, number), value_of(y, number)
            bits = INTEGER_RANGES[type(expression.type)][1].bit_length() + 1
            assert not function.name.startswith("shift") or 0 <= right < bits, "not specified"
            computed: int = OPERATORS[function.name](left, right)
            return wrapped(computed, bits)
    raise AssertionError(expression)


def wrapped(value: int, bits: int) -> int:
    """The lowest bits of a number, the first of them its sign."""
    half: int = 1 << bits - 1
    return (value + half) % (2 * half) - half


OPERATORS: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "bitwise_and": operator.and_,
    "shift_left": operator.lshift,
    "shift_right": operator.rshift,
}


@pytest.mark.parametrize(("name", "declared"), [("i32", "i64"), ("i8", "i32"), ("i16", "i64")])
def test_bits_are_moved_in_the_type_that_the_plan_declares(shifted: SessionContext, name: str, declared: str) -> None:
    message = Plan.FromString(written(shifted, f"SELECT {name} << 31 FROM t"))
    (expression,) = message.relations[0].root.input.project.expressions
    getattr(expression.scalar_function.output_type, declared).nullability = 1
    plan, _ = from_bytes(message.SerializeToString())
    (project,) = (rel for rel in walk(plan.roots[0].input) if isinstance(rel, Project))
    (read,) = project.expressions
    assert type(read.type).__name__.lower() == declared
    bits = int(declared[1:])
    assert [value_of(read, number) for number in (1, 3, -5)] == [wrapped(x << 31, bits) for x in (1, 3, -5)]


@pytest.mark.parametrize("shift", ["i8 << i8", "i16 >> i8", "i8 >> i16", "i16 << i16"])
def test_places_of_small_integers_that_depend_on_the_row_are_refused(shifted: SessionContext, shift: str) -> None:
    from datafusion.substrait import Serde

    query = f"SELECT {shift} FROM t"
    for sent in (bytes(Serde.serialize_bytes(query, shifted)), written(shifted, query)):
        with pytest.raises(UnsupportedError, match=r"DataFusion's bitwise_shift_(left|right) of i(8|16)"):
            from_bytes(sent)
