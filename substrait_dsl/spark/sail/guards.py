"""Guards against faults of Sail: each is a rewrite or a refusal.

The faults are those of the versions that the guards name; `python -m tests.spark.sail_cases` shows each by its canary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.expressions.functions_everyday import EVERYDAY_URN
from substrait_dsl.spark.expressions.templates import Call, Template
from substrait_dsl.spark.sail.aggregates import (
    ABOUT_FLOATS,
    AVERAGES,
    DECIMAL_SUMS,
    EXTREMES,
    MODE_OF_TEXT,
    NEAREST,
)
from substrait_dsl.spark.sail.arithmetic import INTEGER_POWER, decimal_arithmetic, integer_arithmetic
from substrait_dsl.spark.sail.functions import (
    DISTINCTIONS,
    DIVISIONS,
    EXTRACTIONS,
    ROUND_DECIMAL,
    ROUND_FLOAT,
    SHIFTS,
    SPLIT,
    SUBSTRING,
)
from substrait_dsl.spark.session.engines import ErrorWords, Guard

_VERSIONS = ("0.7.2",)


def _refuse(why: str, hint: str | None = None) -> Template:
    def text(call: Call, texts: Sequence[str], choices: Mapping[str, str]) -> str:
        raise UnsupportedError(f"Sail cannot run the function {call.function.name} exactly: {why}", hint=hint)

    return Template(text, is_refusal=True)


_ROWS_OF_JSON = (
    'lines of a file: pyarrow.json.read_json("in.jsonl") is a table, which read_named("t", schema) reads with '
    'collect(tables={"t": table}); Spark runs from_json'
)


GUARDS = (
    Guard(
        "integer overflow",
        "sums, differences, products and powers of integers",
        _VERSIONS,
        "SELECT 9223372036854775807L + 1L",
        -(2**63),
        functions={
            "functions_arithmetic": {
                "add:int": integer_arithmetic("+"),
                "subtract:int": integer_arithmetic("-"),
                "multiply:int": integer_arithmetic("*"),
                "power:int": Template(INTEGER_POWER, {"overflow": {"ERROR": ""}}),
            }
        },
    ),
    Guard(
        "decimal overflow",
        "sums, differences and products of decimals of 38 digits",
        _VERSIONS,
        f"SELECT CAST({'9' * 38}BD + 1BD AS STRING)",
        f"1{'0' * 37}",
        functions={
            "functions_arithmetic_decimal": {
                "add": decimal_arithmetic("+"),
                "subtract": decimal_arithmetic("-"),
                "multiply": decimal_arithmetic("*"),
            }
        },
    ),
    Guard(
        "overflow of decimal sums",
        "sums of decimals over all rows of a group",
        _VERSIONS,
        f"SELECT CAST(sum(v) AS STRING) FROM VALUES ({'9' * 38}BD), (1BD) AS t(v)",
        f"1{'0' * 37}",
        aggregates=DECIMAL_SUMS,
        frames=DECIMAL_SUMS,
    ),
    Guard(
        "complements of small integers",
        "bitwise_not of i8 and i16, which have the type of an i32",
        _VERSIONS,
        "SELECT typeof(~ CAST(1 AS TINYINT))",
        "int",
        functions={"functions_arithmetic": {"bitwise_not": Template("CAST((-1L - CAST({0} AS BIGINT)) AS {T})")}},
    ),
    Guard(
        "unsigned shifts",
        "shift_right_unsigned of negative integers",
        _VERSIONS,
        "SELECT shiftrightunsigned(x, 0) FROM VALUES (-1) AS t(x)",
        ErrorWords("Can't cast value 4294967295"),
        functions={"functions_arithmetic": SHIFTS},
    ),
    Guard(
        "extremes of floats",
        "min and max of floats that are infinite or no number",
        _VERSIONS,
        "SELECT max(v) FROM VALUES (1, CAST('-Infinity' AS DOUBLE)) AS t(k, v) GROUP BY k",
        -1.7976931348623157e308,
        aggregates=EXTREMES,
        frames=EXTREMES,
    ),
    Guard(
        "zeros and NaN in orders",
        "sorts, windows, groups, joins and comparisons of floats",
        _VERSIONS,
        "SELECT max(n) FROM"
        " (SELECT rank() OVER (ORDER BY v) AS n FROM VALUES (0D), (-0D), (-CAST('NaN' AS DOUBLE)) AS t(v))",
        3,
        check=("session.engines.Engine.float_key",),
    ),
    Guard(
        "frames that rows leave",
        "sums, averages and deviations of floats over a frame that rows leave",
        _VERSIONS,
        "SELECT avg(v) OVER (ORDER BY k ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS a"
        " FROM VALUES (1, 1e16D), (2, 1D), (3, 2D) AS t(k, v) ORDER BY k DESC",
        1.0,
        check=("session.engines.Engine.require_frame",),
    ),
    Guard(
        "truth values over frames",
        "bool_and and bool_or over a frame that rows leave",
        _VERSIONS,
        "SELECT bool_and(v) OVER (ORDER BY v ROWS CURRENT ROW) FROM VALUES (true) AS t(v)",
        ErrorWords("retract_batch"),
        frames={
            "functions_boolean": {"bool_and": Template("min({0}){filter}"), "bool_or": Template("max({0}){filter}")}
        },
    ),
    Guard(
        "tuples in subqueries",
        "IN and NOT IN of several columns, of which one may be NULL",
        _VERSIONS,
        "SELECT count(1) FROM VALUES (1, CAST(NULL AS INT)) AS t(a, b)"
        " WHERE (a, b) NOT IN (SELECT * FROM VALUES (1, 2))",
        1,
        check=("session.engines.Engine.has_tuples",),
    ),
    Guard(
        "values for each outer row",
        "NOT IN of values that may be NULL and depend on an outer row",
        _VERSIONS,
        "SELECT count(1) FROM VALUES (1, 1) AS t(a, b)"
        " WHERE a NOT IN (SELECT c FROM VALUES (CAST(NULL AS INT), 5) AS u(c, d) WHERE d < t.b)",
        0,
        check=("session.engines.Engine.negates_each",),
    ),
    Guard(
        "approximate percentiles",
        "everyday.approx_percentile, of which Sail is given an exact one",
        _VERSIONS,
        "SELECT approx_percentile(v, 0.5D, 100) FROM VALUES (1), (2) AS t(v)",
        1.5,  # between the values, of which Spark gives one
        aggregates={EVERYDAY_URN: NEAREST},
    ),
    Guard(
        "approximate counts of floats",
        "approx_count_distinct of floats, of which Sail is given the texts",
        _VERSIONS,
        "SELECT approx_count_distinct(v) FROM VALUES (1.5D), (2D) AS t(v)",
        ErrorWords("Support for 'approx_distinct' for data type Float64 is not implemented"),
        aggregates=ABOUT_FLOATS,
        frames=ABOUT_FLOATS,
    ),
    Guard(
        "JSON",
        "everyday.get_json, from_json and to_json: numbers stay as written, and no text is read to its end",
        _VERSIONS,
        """SELECT get_json_object('{"a": 1.10} x', '$.a')""",
        "1.10",
        functions={
            EVERYDAY_URN: {
                "from_json": _refuse("its JSON is another", _ROWS_OF_JSON),
                **dict.fromkeys(("get_json", "to_json"), _refuse("its JSON is another")),
            }
        },
    ),
    Guard(
        "modes of booleans and decimals",
        "everyday.mode of booleans and decimals",
        _VERSIONS,
        "SELECT mode(v) FROM VALUES (true) AS t(v)",
        ErrorWords("Unsupported data type: Boolean for mode function"),
        aggregates={EVERYDAY_URN: dict.fromkeys(("mode:bool", "mode:dec"), MODE_OF_TEXT)},
    ),
    Guard(
        "divisions of NULL",
        "averages of integers and decimals without a value",
        _VERSIONS,
        "SELECT sum(v) % CAST(count(v) AS DECIMAL(20,0)) FROM VALUES (CAST(NULL AS DECIMAL(10,2))) AS t(v)",
        ErrorWords("Remainder by zero"),
        aggregates=AVERAGES,
        frames=AVERAGES,
    ),
    Guard(
        "quotients of decimals",
        "divisions of decimals",
        _VERSIONS,
        "SELECT CAST(a / b AS STRING) FROM VALUES (2.00BD, 3.00BD) AS t(a, b)",
        "0.666666",
        check=("sail.functions.divide",),
    ),
    Guard(
        "quotients of NULL",
        "divisions and remainders by zero of what may be NULL",
        _VERSIONS,
        "SELECT a % b FROM VALUES (CAST(NULL AS INT), 0) AS t(a, b)",
        ErrorWords("Remainder by zero"),
        functions=DIVISIONS,
    ),
    Guard(
        "floats that are rounded to digits",
        "round of floats",
        _VERSIONS,
        "SELECT round(1e308D, 5)",
        float("inf"),
        functions={"functions_rounding": {"round:fp": ROUND_FLOAT}},
    ),
    Guard(
        "ties of decimals",
        "round of decimals with rounding = TIE_TO_EVEN",
        _VERSIONS,
        "SELECT typeof(bround(2.5BD, 0))",
        "double",
        functions={"functions_rounding_decimal": {"round": ROUND_DECIMAL}},
    ),
    Guard(
        "days of weeks",
        "extract of MONDAY_DAY_OF_WEEK and ISO_YEAR",
        _VERSIONS,
        "SELECT weekday(DATE'2023-01-01')",
        -1,
        functions={"functions_datetime": EXTRACTIONS},
    ),
    Guard(
        "seconds before 1970",
        "extract of UNIX_TIME of timestamps",
        _VERSIONS,
        "SELECT unix_seconds(t) FROM VALUES (TIMESTAMP'1969-12-31 23:59:59.5') AS t(t)",
        0,
        check=("sail.functions.EXTRACTIONS",),
    ),
    Guard(
        "clocks after 2099",
        "functions with a time zone whose clocks are set twice a year",
        _VERSIONS,
        "SELECT hour(convert_timezone('UTC', 'Europe/Berlin', TIMESTAMP_NTZ'2100-07-01 00:00:00'))",
        1,
        check=("sail.functions.guard_zone_rules",),
    ),
    Guard(
        "substrings from NULL",
        "substring from a position that is NULL",
        _VERSIONS,
        "SELECT substring('ab', n) FROM VALUES (CAST(NULL AS INT)) AS t(n)",
        "ab",
        functions={"functions_string": SUBSTRING},
    ),
    Guard(
        "first rows for each outer row",
        "correlated subqueries and lateral joins with a limit or a window inside",
        _VERSIONS,
        "SELECT count(1) FROM VALUES (1), (2) AS t(a) WHERE EXISTS (SELECT 1 FROM (SELECT row_number() OVER"
        " (ORDER BY d DESC) AS n FROM VALUES (1, 9), (2, 5) AS u(c, d) WHERE c = t.a) WHERE n <= 1)",
        1,
        check=("session.engines.Engine.limits_each",),
    ),
    Guard(
        "texts of floats",
        "casts of floats to texts; Spark on Java before 19 has further digits for some (JDK-4511638), Sail the fewest",
        _VERSIONS,
        "SELECT CAST(1e20D AS STRING)",
        "1e20",
        check=("sail.float_texts.text_of_float",),
    ),
    Guard(
        "decimals of floats",
        "casts of floats to decimals",
        _VERSIONS,
        "SELECT CAST(CAST(123456789.123D AS DECIMAL(38,10)) AS STRING)",
        "123456789.1229999872",
        check=("sail.casts.castable",),
    ),
    Guard(
        "decimals of texts",
        "casts of texts with exponents to decimals",
        _VERSIONS,
        "SELECT CAST('1e5' AS DECIMAL(10,2))",
        ErrorWords("1e5"),
        check=("sail.decimal_texts.without_exponent",),
    ),
    Guard(
        "folders by lambdas",
        "filters on a date or a decimal in the name of a folder",
        _VERSIONS,
        "DROP TABLE IF EXISTS guard_folders;\n"
        "CREATE TABLE guard_folders USING parquet PARTITIONED BY (p) LOCATION '{folder}' AS SELECT 1 AS n, '2' AS p;\n"
        "SELECT n FROM guard_folders WHERE get(transform(array(p), v -> v), 0) = '2'",
        ErrorWords("No field named"),
        check=("sail.casts.castable_folder_name",),
    ),
    Guard(
        "lambdas over constants",
        "casts and functions in which a constant has a name",
        _VERSIONS,
        "SELECT get(transform(array(get(transform(array(upper('a')), v -> regexp_extract(v, 'A', 0)), 0)), "
        "v -> concat(v, 'b')), 0)",
        ErrorWords("LambdaVariable field and schema field mismatch"),
        check=("expressions.named_values.with_name",),
    ),
    Guard(
        "truth values and decimals",
        "casts between them",
        _VERSIONS,
        "SELECT CAST(v AS DECIMAL(10,2)) FROM VALUES (true) AS t(v)",
        ErrorWords("Unsupported"),
        check=("sail.casts.castable",),
    ),
    Guard(
        "bits of decimals",
        "bitwise functions of decimals",
        _VERSIONS,
        "SELECT zip_with(array(1), array(2), (a, b) -> a & b)",
        ErrorWords("zip_with"),
        functions={
            "functions_arithmetic_decimal": {
                name: _refuse("it has no zip_with") for name in ("bitwise_and", "bitwise_or", "bitwise_xor")
            }
        },
    ),
    Guard(
        "bits of NULL",
        "bitwise_xor of a value with itself",
        _VERSIONS,
        "SELECT a ^ a FROM VALUES (CAST(NULL AS INT)) AS t(a)",
        0,
        functions={"functions_arithmetic": {"bitwise_xor": Template("if({nulls}, NULL, ({0} ^ {1}))")}},
    ),
    Guard(
        "joins by what is not distinct",
        "is_not_distinct_from beside conditions that the optimizer makes equalities",
        _VERSIONS,
        "SELECT count(*) FROM VALUES (CAST(NULL AS INT)), (1) AS l(h) LEFT SEMI JOIN "
        "VALUES (CAST(NULL AS INT), CAST(NULL AS INT)), (1, 1) AS r(k, g) ON h <=> k AND h >= g AND h <= g",
        2,
        functions={"functions_comparison": DISTINCTIONS},
    ),
    Guard(
        "casts of structs",
        "what has a struct in its columns",
        _VERSIONS,
        "SELECT CAST(struct(1 AS a) AS STRUCT<b: INT>)",
        True,
        is_of_schema=True,
        check=("session.engines.Engine.has_exact_casts",),
    ),
    Guard(
        "aggregates and windows of casts",
        "aggregates and windows of a value, and of a cast of it",
        _VERSIONS,
        "SELECT concat_ws(' ', min(v) OVER (), min(CAST(v AS STRING)) OVER ()) FROM VALUES (9), (10) AS t(v)",
        "9 9",
        check=("session.engines.Engine.operand",),
    ),
    Guard(
        "truth values that are required",
        "required columns of truth values, which are checked",
        _VERSIONS,
        "SELECT coalesce(if(id >= 0, false, NULL), raise_error('unasked'), false) FROM range(1)",
        ErrorWords("unasked"),
        check=("sail.functions.coalesce",),
    ),
    Guard(
        "truth values in structs",
        "structs with required truth values",
        _VERSIONS,
        "SELECT if(s IS NULL, NULL, struct(coalesce(s.b, false) AS b)) FROM VALUES (struct(true AS b)), (NULL) AS t(s)",
        ErrorWords("Cannot cast nullable struct field 'b' to non-nullable field"),
        check=("sail.functions.coalesce",),
    ),
    Guard(
        "values of maps",
        "maps with structs for values that are required",
        _VERSIONS,
        "SELECT map_values(m) FROM (SELECT map('a', struct(id AS v)) AS m FROM range(1))",
        ErrorWords("Unsupported CAST from List"),
        check=("session.engines.Engine.has_map_lambdas",),
    ),
    Guard(
        "unsigned integers",
        "files, and tables over files, with unsigned integers",
        _VERSIONS,
        "SELECT typeof(v) FROM unsigned_byte",  # a view of a file with a uint8, a tinyint by its schema
        "unsigned tinyint",
        check=("session.engines.Engine.has_signed_alone",),
    ),
    Guard(
        "bytes that are required",
        "required columns of bytes, which are checked",
        _VERSIONS,
        "SELECT coalesce(v, raise_error('absent'), X'') FROM VALUES (X'01') AS t(v)",
        ErrorWords("coercion failed"),
        check=("sail.functions.coalesce",),
    ),
    Guard(
        "numbers of rows",
        "single joins",
        _VERSIONS,
        "SELECT id FROM range(2) WHERE if(id > 5, false, monotonically_increasing_id() >= 0)",
        ErrorWords("monotonically_increasing_id"),
        check=("session.engines.Engine.has_row_numbers",),
    ),
    Guard(
        "keys of copied rows",
        "elements of lists, duplicates, grouping sets and copies of rows that an aggregate made",
        _VERSIONS,
        "SELECT m, x FROM (SELECT x, explode(sequence(0, 1)) AS m FROM"
        " (SELECT x, count(1) FROM VALUES (1), (2) AS t(x) GROUP BY x)) ORDER BY x, m DESC",
        0,
        check=("session.engines.Engine.forgets_keys",),
    ),
    Guard(
        "keys of joined groups",
        "groups, also of views, that are joined to other rows and grouped again",
        _VERSIONS,
        "SELECT c, count(1) FROM (SELECT c, k, count(1) FROM (SELECT DISTINCT c FROM VALUES (5) AS t(c))"
        " CROSS JOIN VALUES (1), (2) AS p(k) GROUP BY c, k) GROUP BY c, k",
        5,
        check=("session.engines.Engine.forgets_keys",),
    ),
    Guard(
        "constant conditions",
        "conditions that no row is needed for, of filters and joins",
        _VERSIONS,
        "SELECT count(1) FROM (SELECT a FROM (SELECT sum(x) AS a FROM VALUES (1) AS v(x) WHERE x > 5) AS t"
        " LEFT SEMI JOIN VALUES (1), (NULL) AS u(b) ON a = b AND b != b AND coalesce(CAST(NULL AS INT) != 5, false))",
        1,
        check=("session.engines.Engine.has_constant_conditions",),
    ),
    Guard(
        "lists of columns",
        "IN of options that are computed of the row",
        _VERSIONS,
        "SELECT count(1) FROM VALUES (0L), (NULL) AS t(b) WHERE transform(array(b), v -> v)[0] IN (7L,"
        " if(if(b = -5BD, - CAST(b AS DECIMAL(38,0)), b div 3L) IS NULL, NULL,"
        " CAST(least(if(b = -5BD, - CAST(b AS DECIMAL(38,0)), b div 3L), 9BD) AS BIGINT)))",
        0,
        check=("session.engines.Engine.has_lists_of_columns",),
    ),
    Guard(
        "offsets without limits",
        "an offset of sorted rows whose sort key is not used above",
        _VERSIONS,
        "SELECT min(k) FROM (SELECT k, r, count(1) FROM (SELECT k, r FROM VALUES (1, 5, 1), (2, 4, 1), (3, 3, 2),"
        " (4, 2, 2) AS t(k, z, r) ORDER BY z, k DESC OFFSET 2) GROUP BY k, r)",
        3,
        check=("session.engines.Engine.has_offsets",),
    ),
    Guard(
        "fields of NULL",
        "a field of a struct that is NULL, of an Arrow table, or of a file if the field is required",
        _VERSIONS,
        "SELECT s.v FROM null_struct",  # a view of an Arrow table with one such struct
        0,
        check=("session.engines.Engine.has_fields_of_null",),
    ),
    Guard(
        "negative literals",
        "the least integer of a type",
        _VERSIONS,
        "SELECT -128Y",
        ErrorWords("invalid argument"),
        check=("session.engines.Engine.literal_to_sql",),
    ),
    Guard(
        "groups in replacements",
        "regexp_replace with a group before a letter or digit",
        _VERSIONS,
        "SELECT regexp_replace('ab', '(a)', '$11')",
        "b",
        check=("session.engines.Engine.replacement",),
    ),
    Guard(
        "repetitions that never go back",
        "regular expressions with *+, ++, ?+ or {n}+",
        _VERSIONS,
        "SELECT size(regexp_extract_all('aaa', 'a++a', 0))",
        1,
        check=("expressions.functions_regexp._pattern",),
    ),
    Guard(
        "patterns that look around",
        "regular expressions with $, \\Z, look-around, atomic groups, back references, no text, or options of lines",
        _VERSIONS,
        r"SELECT size(regexp_extract_all('a', 'a(?=\\z)', 0))",
        ErrorWords("Invalid regex"),
        check=("expressions.functions_regexp._pattern",),
    ),
    Guard(
        "cases in patterns",
        "regular expressions with CASE_INSENSITIVE_ASCII",
        _VERSIONS,
        r"SELECT size(regexp_extract_all('\u212a', '(?i)k', 0))",
        1,
        check=("expressions.icu_patterns.java_pattern",),
    ),
    Guard(
        "quotations in patterns",
        "string_split",
        _VERSIONS,
        r"SELECT split('a', '\\Qa\\E')",
        ErrorWords("Invalid regex"),
        functions={"functions_string": SPLIT},
    ),
    Guard(
        "logarithms near one",
        "asinh, acosh, log1p",
        _VERSIONS,
        "SELECT log1p(1e-20D)",
        0.0,
        functions={
            "functions_arithmetic": {
                name: _refuse("its logarithm loses digits near one") for name in ("asinh", "acosh")
            },
            "functions_logarithmic": {"log1p": _refuse("its logarithm loses digits near one")},
        },
    ),
    Guard(
        "powers that are no real number",
        "power of decimals with complex_number_result = ERROR",
        _VERSIONS,
        "SELECT isnan(power(-1D, 0.5D))",
        True,
        functions={
            "functions_arithmetic_decimal": {
                "power": Template(
                    "power(CAST({0} AS DOUBLE), CAST({1} AS DOUBLE))", {"complex_number_result": {"NAN": ""}}
                )
            }
        },
    ),
)
