"""Guards against faults of Spark in reads and writes of files and tables."""

from __future__ import annotations

from substrait_dsl.spark.session.engines import AN_ERROR, ErrorWords, Guard

_ALL = ("4.1", "4.3")

_PUSHED = ("expressions.pushdown.hide_column_from_readers",)
_ORC = "INSERT OVERWRITE DIRECTORY '{folder}' USING orc SELECT "
_PARQUET = "INSERT OVERWRITE DIRECTORY '{folder}' USING parquet SELECT "
_TEXT = "INSERT OVERWRITE DIRECTORY '{folder}' USING text SELECT "
_TABLE = "CREATE TABLE guard_canary"

FILES = (
    Guard(
        "zeros in ORC files",
        "comparisons of floats with zero",
        _ALL,
        f"{_ORC}-0D AS x;\nSELECT count(1) FROM orc.`{{folder}}` WHERE x = 0D",
        0,
        right=1,
        reason="-0.0 = 0.0 (IEEE 754)",
        check=_PUSHED,
    ),
    Guard(
        "texts in ORC files",
        "comparisons of texts with characters above U+D7FF",
        _ALL,
        f"{_ORC}/*+ COALESCE(1) */ x FROM VALUES ('b'), ('\U0001f600') AS t(x);\n"
        "SELECT count(1) FROM orc.`{folder}` WHERE x > '\uff21'",
        0,
        right=1,
        reason="by their bytes, as Spark orders texts, F0 9F 98 80 is above EF BC A1; the reader has UTF-16's order",
        check=_PUSHED,
    ),
    Guard(
        "NULL in lists for ORC files",
        "IN of options of which one is NULL",
        _ALL,
        f"{_ORC}1L AS x;\nSELECT count(1) FROM orc.`{{folder}}` WHERE x IN (1L, NULL)",
        ErrorWords("FAILED_READ_FILE"),
        right=1,
        reason="1 = 1, and true OR unknown is true",
        check=("expressions.pushdown.hide_from_readers", "expressions.sql_text.to_sql"),
    ),
    Guard(
        "NULL of subqueries for ORC files",
        "comparisons of integers with a scalar subquery that gives NULL",
        _ALL,
        f"{_ORC}1L AS x;\nSELECT count(1) FROM orc.`{{folder}}` WHERE x = (SELECT max(id) FROM range(0))",
        ErrorWords("FAILED_READ_FILE"),
        right=0,
        reason="1 = NULL is unknown",
        check=_PUSHED,
    ),
    Guard(
        "old timestamps in ORC files",
        "comparisons of timestamps before 1582-10-16",
        _ALL,
        f"{_ORC}TIMESTAMP'1500-03-01 00:00:00' AS x;\n"
        "SELECT count(1) FROM orc.`{folder}` WHERE x = TIMESTAMP'1500-03-01 00:00:00'",
        0,
        right=1,
        reason="the value equals itself",
        check=_PUSHED,
    ),
    Guard(
        "old days in Parquet files",
        "comparisons of days before 1582-10-16",
        _ALL,
        f"{_PARQUET}DATE'1582-10-10' AS x;\nSELECT count(1) FROM parquet.`{{folder}}` WHERE x = DATE'1582-10-10'",
        0,
        right=1,
        reason="the value equals itself",
        check=_PUSHED,
    ),
    Guard(
        "old days in ORC files",
        "comparisons of days before 1582-10-16, where a file has filters of its values",
        _ALL,
        "INSERT OVERWRITE DIRECTORY '{folder}' USING orc OPTIONS ('orc.bloom.filter.columns' 'x')"
        " SELECT DATE'1500-03-01' AS x;\nSELECT count(1) FROM orc.`{folder}` WHERE x = DATE'1500-03-01'",
        0,
        right=1,
        reason="the value equals itself",
        check=_PUSHED,
    ),
    Guard(
        "zeros in Parquet files",
        "comparisons of floats with zero",
        _ALL,
        "SELECT count(1) FROM parquet.`{others}/zeros.parquet` WHERE x = 0D",
        0,
        right=1,
        reason="the value is -0.0, and -0.0 = 0.0 (IEEE 754)",
        check=_PUSHED,
    ),
    Guard(
        "NaN in Parquet files",
        "comparisons of floats, of which files tell the least and the greatest without NaN",
        _ALL,
        "SELECT count(1) FROM parquet.`{others}/nan.parquet` WHERE x > 5D",
        0,
        right=1,
        reason="the values are 1 and NaN, and NaN is the largest number to Spark",
        check=_PUSHED,
    ),
    Guard(
        "milliseconds in Parquet files",
        "comparisons with timestamps that are no whole millisecond",
        _ALL,
        "SELECT count(1) FROM parquet.`{others}/milliseconds.parquet` WHERE x < TIMESTAMP'2024-02-29 23:59:59.999999'",
        0,
        right=1,
        reason="the value is 23:59:59.999; the reader cuts the constant off to that",
        check=_PUSHED,
    ),
    Guard(
        "decimals of wider tables",
        "comparisons of a table's decimals with constants of 2^31 units or more",
        _ALL,
        f"{_PARQUET}CAST(1.25 AS DECIMAL(5,2)) AS v;\n"
        "CREATE TEMPORARY VIEW wider (v DECIMAL(38,2)) USING parquet OPTIONS (path '{folder}');\n"
        "SELECT count(1) FROM wider WHERE v < 42949673.00BD",
        0,
        right=1,
        reason="1.25 < 42949673; the reader takes 4294967300 units for 4, the last 32 bits",
        check=_PUSHED,
    ),
    Guard(
        "days that ORC files lose",
        "writes of days from 1582-10-05 to 1582-10-14 to ORC",
        _ALL,
        f"{_ORC}DATE'1582-10-10' AS x;\nSELECT CAST(x AS STRING) FROM orc.`{{folder}}`",
        "1582-10-15",
        right="1582-10-10",
        reason="what is read is what was written; here the write is an error",
        check=("sources.orc_files.with_day_checks",),
    ),
    Guard(
        "fractions that ORC files lose",
        "writes of fractions of the last second before 1970 to ORC",
        _ALL,
        f"{_ORC}TIMESTAMP'1969-12-31 23:59:59.5' AS x;\nSELECT CAST(x AS STRING) FROM orc.`{{folder}}`",
        "1970-01-01 00:00:00.5",
        right="1969-12-31 23:59:59.5",
        reason="what is read is what was written; here the write is an error",
        check=("sources.orc_files.with_day_checks",),
    ),
    Guard(
        "names in ORC files",
        "columns of ORC files with a backtick in their names",
        _ALL,
        f"{_ORC}1 AS `a``b`, 2 AS c;\nSELECT `a``b` FROM orc.`{{folder}}`",
        ErrorWords("UNRESOLVED_COLUMN"),
        right=1,
        reason="what is read is what was written; here the name is refused",
        check=("sources.orc_files.require_names_found",),
    ),
    Guard(
        "properties in names",
        "columns of files of Parquet and ORC with names like ${user.dir}",
        _ALL,
        "SELECT * FROM parquet.`{others}/property.parquet`",
        None,
        right=5,
        reason="the file has the value 5 in that column; here the name is refused",
        check=("sources.hadoop_substitution.require_names_read",),
    ),
    Guard(
        "keys of other files",
        "Parquet files that another writer made of one of Spark's, with its key and other columns",
        _ALL,
        "SELECT w FROM parquet.`{others}/key.parquet`",
        ErrorWords("UNRESOLVED_COLUMN"),
        right=2,
        reason="the file has the value 2 in that column; here the file is refused",
        check=("sources.footers.check_each",),
    ),
    Guard(
        "positions in ORC files",
        "several ORC files whose columns are all called _col0 and so on, in different orders",
        _ALL,
        "INSERT OVERWRITE DIRECTORY '{folder}/a' USING orc SELECT 1 AS _col0, 2 AS _col1;\n"
        "INSERT OVERWRITE DIRECTORY '{folder}/b' USING orc SELECT 2 AS _col1, 1 AS _col0;\n"
        "SELECT sum(_col0) FROM orc.`{folder}/*`",
        3,
        right=2,
        reason="1 + 1 = 2; here the files are refused",
        check=("sources.footers.check_each",),
    ),
    Guard(
        "files that come later",
        "tables whose files were written since the session has looked at them",
        _ALL,
        f"{_TABLE} (v INT) USING parquet LOCATION '{{folder}}';\nINSERT INTO guard_canary VALUES (1);\n"
        "SELECT count(1) FROM guard_canary;\nINSERT OVERWRITE DIRECTORY '{folder}' USING parquet SELECT 2 AS v;\n"
        "SELECT v FROM guard_canary",
        ErrorWords("FILE_NOT_EXIST"),
        right=2,
        reason="that is the row of the one file there is",
        check=("catalog.file_listings.refresh_if_written",),
    ),
    Guard(
        "settings in names of tables",
        "tables and views with names like ${spark.sql.ansi.enabled}",
        _ALL,
        "CREATE TEMPORARY VIEW `${spark.sql.ansi.enabled}` AS SELECT 1 AS v;\nSELECT v FROM `true`",
        1,
        right=AN_ERROR,
        reason="nothing has been made that is called true",
        check=("catalog.table_names.statement_name",),
    ),
    Guard(
        "columns that files lack",
        "several files, of which one lacks a column",
        _ALL,
        "INSERT OVERWRITE DIRECTORY '{folder}/a' USING parquet SELECT 1 AS x, 3 AS y;\n"
        "INSERT OVERWRITE DIRECTORY '{folder}/b' USING parquet SELECT 2 AS x;\n"
        "SELECT count_if(y IS NULL) FROM parquet.`{folder}/*`",
        1,
        right=AN_ERROR,
        reason="a file of a read has the base schema (ReadRel)",
        check=("sources.footers.check_each",),
    ),
    Guard(
        "bytes in place of texts",
        "several files, of which one has another type",
        _ALL,
        "INSERT OVERWRITE DIRECTORY '{folder}/a' USING parquet SELECT 'a' AS x;\n"
        "INSERT OVERWRITE DIRECTORY '{folder}/b' USING parquet SELECT X'FF' AS x;\n"
        "SELECT count_if(NOT is_valid_utf8(x)) FROM parquet.`{folder}/*`",
        1,
        right=AN_ERROR,
        reason="a file of a read has the base schema (ReadRel), and the byte FF is no text",
        check=("sources.footers.check_each",),
    ),
    Guard(
        "filters on JSON",
        "tables and views of JSON",
        _ALL,
        _TEXT + '\'{"v":1,"v":2}\';\n'
        "CREATE TEMPORARY VIEW twice (v BIGINT) USING json OPTIONS (path '{folder}');\n"
        "SELECT count(1) FROM twice WHERE v = 2",
        0,
        right=1,
        reason="without the filter the row has the value 2",
        check=("catalog.text_records.restrictions_of",),
    ),
    Guard(
        "columns of CSV",
        "tables and views of CSV that leave broken records out",
        _ALL,
        f"{_TEXT}/*+ COALESCE(1) */ v FROM VALUES ('1,2'), ('2,x') AS t(v);\n"
        "CREATE TEMPORARY VIEW broken (id BIGINT, v BIGINT) USING csv"
        " OPTIONS (path '{folder}', mode 'DROPMALFORMED');\n"
        "SELECT count(id) FROM broken",
        2,
        right=1,
        reason="the table has one row where both columns are read: which rows a table has does not depend on a query",
        check=("catalog.text_records.restrictions_of",),
    ),
    Guard(
        "bytes of other encodings",
        "delimited text that is not UTF-8",
        _ALL,
        "SELECT * FROM csv.`{others}/latin.csv`",
        "\ufffd",
        right=AN_ERROR,
        reason="the byte FF is no text in UTF-8, and nothing is replaced in silence",
        check=("sources.delimited_text.read_text",),
    ),
    Guard(
        "quotes that stay open",
        "delimited text",
        _ALL,
        "SELECT from_csv('\"a', 's STRING', map('mode', 'FAILFAST')).s",
        "a",
        right=AN_ERROR,
        reason="RFC 4180: a field that begins with a quote ends with one",
        check=("sources.delimited_text.read_text",),
    ),
    Guard(
        "blanks behind quotes",
        "delimited text",
        _ALL,
        "SELECT from_csv('\"a\" ,b', 's STRING, t STRING', map('mode', 'FAILFAST')).s",
        "a",
        right=AN_ERROR,
        reason="RFC 4180: a delimiter follows the closing quote; the blank would be left out in silence",
        check=("sources.delimited_text.read_text",),
    ),
    Guard(
        "U+FEFF at the beginning",
        "delimited text",
        _ALL,
        "SELECT char_length(from_csv('\ufeffa', 's STRING', map('mode', 'FAILFAST')).s)",
        1,
        right=2,
        reason="the text has two characters",
        check=("sources.delimited_text.read_text",),
    ),
    Guard(
        "empty texts as names of folders",
        "writes to tables and files that are partitioned by texts",
        _ALL,
        f"{_TABLE} USING parquet PARTITIONED BY (p) LOCATION '{{folder}}' AS SELECT 1 AS v, '' AS p;\n"
        "SELECT p FROM guard_canary",
        None,
        right="",
        reason="what is read is what was written; here the write is an error",
        check=("sources.partition_values.failing",),
    ),
    Guard(
        "blanks that are too many",
        "writes to columns of VARCHAR(n)",
        _ALL,
        f"{_TABLE} (s VARCHAR(2)) USING parquet LOCATION '{{folder}}';\n"
        "INSERT INTO guard_canary VALUES ('ab  ');\nSELECT char_length(s) FROM guard_canary",
        2,
        right=AN_ERROR,
        reason="the text has four characters, and nothing is left out in silence",
        check=("sources.write_guards.write_inserted_values",),
    ),
    Guard(
        "files beside folders",
        "folders that are named after a column, with a file beside them",
        _ALL,
        f"{_PARQUET}1 AS v;\nINSERT OVERWRITE DIRECTORY '{{folder}}/p=1' USING parquet SELECT 2 AS v;\n"
        "SELECT count(1) FROM parquet.`{folder}`",
        1,
        right=2,
        reason="there are two files with a row each; here the read is an error",
        check=("sources.partition_columns.require_all_read",),
    ),
    Guard(
        "bytes in names of folders",
        "folders of other writers, named after a column, with characters that are escaped as bytes",
        _ALL,
        "INSERT OVERWRITE DIRECTORY '{folder}/p=%C3%A4' USING parquet SELECT 2 AS v;\n"
        "SELECT char_length(p) FROM parquet.`{folder}`",
        2,
        right=1,
        reason="C3 A4 is one character in UTF-8; here the read is an error",
        check=("sources.partition_columns.require_read",),
    ),
)
"""Guards of files and tables."""
