"""Typed columns of delimited text: the plan of `read_csv`, its rows in the process, and its errors."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import substrait_dsl as sd
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.expressions import Cast
from substrait_dsl.algebra.node import walk
from substrait_dsl.errors import (
    ExecutionError,
    InvalidArgumentError,
    InvalidChoiceError,
    SchemaError,
    TypeMismatchError,
    UnknownFieldError,
)
from tests.support import refused
from tests.typed_texts import rows_are_right

LINES = "id,who,day,pieces\n1,ann,31/12/2023,3\n2,,02/01/2024,\n"
SALE = {"id": "i64", "who": "string?", "day": "date", "pieces": "i32?"}
FORMATS = {"day": "%d/%m/%Y"}


class Sale(sd.Schema):
    id: sd.I64
    who: sd.Nullable[sd.String]


def lines(folder: Path, text: str, schema: Any, **options: Any) -> sd.Relation[Any]:
    (folder / "in.csv").write_text(text, encoding="utf-8")
    return sd.read_csv(folder / "in.csv", schema, **options)


def test_rows(tmp_path: Path) -> None:
    read = lines(tmp_path, LINES, SALE, formats=FORMATS)
    assert [tuple(map(str, row)) for row in read.collect()] == [
        ("1", "ann", "2023-12-31", "3"),
        ("2", "None", "2024-01-02", "None"),
    ]
    assert dict(zip(read.schema.names, map(str, read.schema.types), strict=True)) == SALE


def test_the_plan_is_standard_and_has_texts_and_casts(tmp_path: Path) -> None:
    read = lines(tmp_path, LINES, SALE, formats=FORMATS)
    plan = read.to_plan()
    assert sd.Plan.from_bytes(plan.to_bytes(), strict=True) == plan
    reads = [rel for rel in walk(read._rel) if isinstance(rel, rl.Read)]
    assert [str(read.base_schema) for read in reads] == ["id: string?, who: string?, day: string?, pieces: string?"]
    casts = [node for node in walk(read._rel) if isinstance(node, Cast)]
    assert {str(cast.type) for cast in casts} >= {"i64", "date", "i32?"}


def test_texts_alone_are_the_read_itself() -> None:
    read: Any = sd.read_csv(
        "s3://lake/x.tsv", {"a": "string?"}, separator="\t", header=False, null_value="-", kind="glob"
    )
    form = sd.DelimitedText(field_delimiter="\t", null_value="-")
    assert read.to_plan() == sd.read_files("s3://lake/x.tsv", {"a": "string?"}, format=form, kind="glob").to_plan()
    plain: Any = sd.read_csv("s3://lake/x", {"a": "string"}, null_value=None, quote="'", escape="\\")
    form = sd.DelimitedText(quote="'", escape="\\", header_lines_to_skip=1)
    assert plain.to_plan() == sd.read_files("s3://lake/x", {"a": "string"}, format=form).to_plan()


def test_a_schema_class_types_the_rows(tmp_path: Path) -> None:
    read = lines(tmp_path, "id,who\n7,\n", Sale)
    assert read.filter(lambda s: s.id > 6).collect() == [(7, None)]


def test_without_a_text_for_null_a_column_may_be_declared_nullable(tmp_path: Path) -> None:
    read = lines(tmp_path, "a,b\n1,x\n2,\n", {"a": "i64?", "b": "string?"}, null_value=None)
    assert read.collect() == [(1, "x"), (2, "")]
    with refused(ExecutionError, "in.csv, column \"a\": the text '' is no value of i64"):
        lines(tmp_path, "a,b\n,x\n", {"a": "i64?", "b": "string?"}, null_value=None).collect()


@pytest.mark.parametrize("seed", range(3))
def test_values_are_those_of_pythons_parsers(seed: int, tmp_path: Path) -> None:
    rows_are_right(tmp_path, None, seed, 150)


OF_LENGTHS = [("varchar<3>", "abc", "abcd"), ("fixedchar<2>", "ab", "a"), ("decimal<3,0>", "100.0", "1000")]


@pytest.mark.parametrize(("type_", "good", "bad"), OF_LENGTHS)
def test_lengths_are_checked(type_: str, good: str, bad: str, tmp_path: Path) -> None:
    read = lines(tmp_path, f"n,x\n1,{good}\n2,{bad}\n3,\n", {"n": "i64?", "x": f"{type_}?"}, invalid="null")
    assert [row[1] is None for row in read.collect()] == [False, True, True]
    with refused(ExecutionError):
        lines(tmp_path, f"n,x\n1,{bad}\n", {"n": "i64", "x": type_}).collect()


WRONG = [
    ("i64", "many", "the text 'many' is no value of i64"),
    ("i64", "1,000", "the text '1,000' is no value of i64"),
    ("i8", "300", "the text '300' is no value of i8"),
    ("i32", "it's", 'the text "it\'s" is no value of i32'),
    ("boolean", "on", "the text 'on' is no truth value (boolean)"),
    ("decimal<10,2>", "1.239", "the text '1.239' is no number with at most 2 digits after the point (decimal<10,2>)"),
    ("fp64", "1d", "the text '1d' is no number (fp64)"),
    ("date", "2024", "the text '2024' is not of the form %Y-%m-%d (date)"),
    ("precision_timestamp<6>", "now", "the text 'now' is not of the form %Y-%m-%d %H:%M:%S (precision_timestamp<6>)"),
    ("i64", "", "it is i64, and required, but the text stands for NULL"),
    ("string", "", "it is string, and required, but the text stands for NULL"),
]


def misfits_are_named(folder: Path, session: Any, type_: str, text: str, said: str) -> None:
    """Check that an error says the file, the line, the column, the text and the type, and that its hint works."""
    content = f'n,x\n\n1,\n2,"{text}"\n' if text else "n,x\n\n\n1,\n"
    read = lines(folder, content, {"n": "i64", "x": f"{type_}?" if text else type_})
    with pytest.raises(ExecutionError) as caught:
        read.collect(session)
    assert caught.value.message == f'line 4 of {folder}/in.csv, column "x": {said}'
    assert caught.value.value == (text or None)
    follow = lines(folder, content, {"n": "i64", "x": f"{type_}?"}, invalid="null")
    assert {row[1] for row in follow.collect(session)} == {None}
    assert {row[1] for row in lines(folder, content, {"n": "i64", "x": "string?"}).collect(session)} == {text, None} - {
        ""
    }


@pytest.mark.parametrize(("type_", "text", "said"), WRONG)
def test_texts_that_are_no_values_are_named(type_: str, text: str, said: str, tmp_path: Path) -> None:
    misfits_are_named(tmp_path, None, type_, text, said)


def test_the_column_is_named_where_several_have_the_text(tmp_path: Path) -> None:
    read = lines(tmp_path, "a,b,c\n1,x,2\n1,1,x\n", {"a": "i64", "b": "string", "c": "i64"})
    with refused(ExecutionError, "line 3 of", "column \"c\": the text 'x' is no value of i64"):
        read.select("c").collect()
    with refused(ExecutionError, "line 3 of", 'column "c"'):
        read.sort("a").collect()


def test_a_format_that_a_date_has_not(tmp_path: Path) -> None:
    for text, said in (("2024-05-31", "is not of the form %d/%m/%Y"), ("31/02/2024", "is no value of date")):
        read = lines(tmp_path, f"n,day\n1,{text}\n", {"n": "i64", "day": "date"}, formats=FORMATS)
        with refused(ExecutionError, 'in.csv, column "day"', said):
            read.collect()
    nothing = lines(tmp_path, "n,day\n1,2024-05-31\n", {"n": "i64?", "day": "date?"}, formats=FORMATS, invalid="null")
    assert nothing.collect() == [(1, None)]


def test_formats_of_timestamps(tmp_path: Path) -> None:
    formats = {"at": "%d.%m.%Y %H:%M"}
    text = "n,at\n1,31.05.2024 10:30\n2,\n3,29.02.2023 00:00\n4,31.05.2024\n"
    schema = {"n": "i64", "at": "precision_timestamp<6>?"}
    moment = dt.datetime(2024, 5, 31, 10, 30)
    nulls = lines(tmp_path, text, schema, formats=formats, invalid="null")
    assert nulls.collect() == [(1, moment), (2, None), (3, None), (4, None)]
    with refused(ExecutionError, "line 2 of", "column \"at\": the text '31.05.2024' is not of the form %d.%m.%Y %H:%M"):
        lines(tmp_path, "n,at\n1,31.05.2024\n", schema, formats=formats).collect()
    with refused(ExecutionError, "line 2 of", "column \"at\": the text '29.02.2023 00:00' is no value of"):
        lines(tmp_path, "n,at\n1,29.02.2023 00:00\n", schema, formats=formats).collect()


def test_arguments() -> None:
    read: Any = sd.read_csv
    with refused(TypeMismatchError, 'read_csv, column "x": delimited text has no', "list<i64>", "declare a string"):
        read("x", {"x": "list<i64>"})
    with refused(TypeMismatchError, "delimited text has no values of precision_time<6>"):
        read("x", {"x": "precision_time<6>?"})
    with refused(InvalidChoiceError, "read_csv", "invalid", "'none'", '"null"'):
        read("x", {"x": "i64?"}, invalid="none")
    with refused(UnknownFieldError, '"dya"', 'did you mean "day"?'):
        read("x", {"day": "date"}, formats={"dya": "%d/%m/%Y"})
    for type_ in ("i64", "precision_timestamp<3>", "precision_timestamp_tz<6>"):
        with refused(TypeMismatchError, f'a format is for dates and precision_timestamp<6>, but column "n" is {type_}'):
            read("x", {"n": type_}, formats={"n": "%d/%m/%Y"})
    with refused(InvalidArgumentError, "the format is not one of timestamps", "'%d/%m'", '"%Y-%m-%d %H:%M:%S"'):
        read("x", {"at": "precision_timestamp<6>"}, formats={"at": "%d/%m"})
    with refused(
        InvalidArgumentError, 'read_csv, column "day"', "format has %Y, %m and %d", "'dd/MM/yyyy'", '"%d/%m/%Y"'
    ):
        read("x", {"day": "date"}, formats={"day": "dd/MM/yyyy"})
    with refused(InvalidArgumentError, "formats is a dict", "'%d'"):
        read("x", {"day": "date"}, formats="%d")
    for header in (-1, 1.5, None):
        with refused(InvalidArgumentError, "header is True, False, or how many lines it has", str(header)):
            read("x", {"day": "date"}, header=header)
    with refused(InvalidArgumentError, "field_delimiter", "None"):
        read("x", {"day": "date"}, separator=None)


def test_what_a_header_may_be() -> None:
    """A header is checked where there is one, unless it may have other names: then the plan says so."""
    schema = {"id": "string?"}
    for header, skipped, rule in ((True, 1, "check"), ("check", 1, "check"), ("skip", 1, "skip"), (False, 0, "check")):
        read: Any = sd.read_csv("x.csv", schema, header=header)._rel  # type: ignore[arg-type]
        assert (read.definition.items[0].format.header_lines_to_skip, read.definition.text.header) == (skipped, rule)
    wrong: Any = "no"
    with refused(InvalidChoiceError, "read_csv: unknown header 'no'"):
        sd.read_csv("x.csv", schema, header=wrong)


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("i32?", "the value '4,000' cannot be cast to i32 in cast(balance as i32?)"),
        ("fp64?", "the value '4,000' cannot be cast to fp64 in cast(balance as fp64?)"),
        ("decimal<12,2>?", "the value '4,000' cannot be cast to decimal<12,2> in cast(balance as decimal<12,2>?)"),
    ],
)
def test_a_cast_of_the_program_is_not_blamed_on_a_column_of_the_file(target: str, said: str, tmp_path: Path) -> None:
    read = lines(tmp_path, 'id,balance\n1,9\n2,"4,000"\n', {"id": "i64", "balance": "string?"})
    with refused(ExecutionError, said):
        read.with_columns(n=lambda r: r.balance.cast(target)).collect()


def test_a_header_that_another_text_separates_says_which(tmp_path: Path) -> None:
    schema = {"a": "i64", "b": "i64"}
    with refused(SchemaError, 'is one field, "a;b", for 2 declared columns', "separator=';' of read_csv"):
        lines(tmp_path, "a;b\n1;2\n", schema).collect()
    assert lines(tmp_path, "a;b\n1;2\n", schema, separator=";").collect() == [(1, 2)]


def test_bytes_of_another_encoding_have_a_hint(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_bytes(b"a\ncaf\xe9\n")
    with refused(ExecutionError, "not UTF-8", 'encoding="windows-1252"'):
        sd.read_csv(tmp_path / "in.csv", {"a": "string"}).collect()
    read = sd.read_csv(tmp_path / "in.csv", {"a": "string"}, encoding="windows-1252")
    assert read.collect() == [("café",)]


def test_a_file_without_a_header_keeps_its_first_record(tmp_path: Path) -> None:
    """The hint names the argument for no header before the one that leaves the line out, for each of both verbs."""
    schema = {"id": "i64", "name": "string"}
    rows = [(7, "ann"), (8, "bob")]
    hint = "without a header: header=False of read_csv, header_lines_to_skip=0 of DelimitedText; a header with other"
    with refused(SchemaError, 'column 1 is "7"', hint, 'header="skip" leaves that line out'):
        lines(tmp_path, "7,ann\n8,bob\n", schema).collect()
    assert lines(tmp_path, "7,ann\n8,bob\n", schema, header=False).collect() == rows
    assert lines(tmp_path, "key,who\n7,ann\n8,bob\n", schema, header="skip").collect() == rows

    texts = {"id": "string", "name": "string"}
    (tmp_path / "in.csv").write_text("7,ann\n8,bob\n")
    with refused(SchemaError, 'column 1 is "7"', hint):
        sd.read_files(tmp_path / "in.csv", texts, format="csv").collect()
    read = sd.read_files(tmp_path / "in.csv", texts, format=sd.DelimitedText(header_lines_to_skip=0))
    assert read.collect() == [("7", "ann"), ("8", "bob")]


def test_other_ways_to_say_that_there_is_no_header(tmp_path: Path) -> None:
    """Of `read_files` the format says it; the hint is followed, by both of its ways."""
    texts = {"id": "string", "name": "string"}
    file = tmp_path / "in.csv"
    file.write_text("7,ann\n8,bob\n")
    read_files: Any = sd.read_files
    hint = "for no header write format=DelimitedText(header_lines_to_skip=0), or read_csv(path, schema, header=False)"
    for none in (False, None, 0):
        with refused(InvalidChoiceError, f"unknown header {none}; expected one of", hint):
            read_files(file, texts, format="csv", header=none)
    with refused(InvalidArgumentError, "header= is of delimited text, but the format is Parquet", 'write format="csv"'):
        read_files("in.parquet", texts, header=False)
    rows = [("7", "ann"), ("8", "bob")]
    assert sd.read_files(file, texts, format=sd.DelimitedText(header_lines_to_skip=0)).collect() == rows
    assert sd.read_csv(file, texts, header=False).collect() == rows

    file.write_text("the people\nid,name\n7,ann\n8,bob\n")
    with refused(
        InvalidChoiceError, "for 2 header lines write format=DelimitedText(header_lines_to_skip=2), or", "header=2)"
    ):
        read_files(file, texts, format="csv", header=2)
    assert sd.read_files(file, texts, format=sd.DelimitedText(header_lines_to_skip=2)).collect() == rows
    assert sd.read_csv(file, texts, header=2).collect() == rows

    file.write_text("id,name\n7,ann\n8,bob\n")
    with refused(InvalidChoiceError, "unknown header True", 'header="check" compares its names, which is the default'):
        read_files(file, texts, format="csv", header=True)
    assert sd.read_files(file, texts, format="csv").collect() == rows


def test_several_header_lines_with_other_names(tmp_path: Path) -> None:
    """`header="skip"` of read_csv is one line, so the hint is another where more stand above the records."""
    schema = {"id": "string", "name": "string"}
    with refused(SchemaError, 'column 1 is "key"', "how many lines stand above the records, 0 if none does"):
        lines(tmp_path, "the people\nkey,who\n7,ann\n", schema, header=2).collect()
    form = sd.DelimitedText(header_lines_to_skip=2)
    assert sd.read_files(tmp_path / "in.csv", schema, format=form, header="skip").collect() == [("7", "ann")]


def test_a_parquet_file_is_no_text(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": pa.array([1], pa.int64())}), tmp_path / "in.parquet")
    for encoding in ("utf-8", "latin-1"):
        with refused(ExecutionError, "in.parquet is a Parquet file, no text", "read_files(path, schema) reads Parquet"):
            sd.read_csv(tmp_path / "in.parquet", {"id": "i64?"}, encoding=encoding).collect()
    assert sd.read_files(tmp_path / "in.parquet", {"id": "i64?"}).collect() == [(1,)]


def test_a_folder_of_folders_has_a_pattern(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    lines(tmp_path / "below", "id\n7\n", {"id": "i64"})
    with refused(ExecutionError, "there is nothing to read", "read by a pattern", '/*/*.csv\', kind="glob"'):
        sd.read_csv(tmp_path, {"id": "i64"}).collect()
    assert sd.read_csv(tmp_path / "*" / "*.csv", {"id": "i64"}, kind="glob").collect() == [(7,)]
