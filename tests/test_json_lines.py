"""Files of JSON lines: the plan of `read_json`, its arguments, and what is right for every session that reads them."""

from __future__ import annotations

import datetime as dt
import gzip
import json
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.node import walk
from substrait_dsl.errors import (
    ExecutionError,
    InvalidArgumentError,
    InvalidChoiceError,
    TypeMismatchError,
    UnknownFieldError,
    UnsupportedError,
)
from tests.support import refused

GEO = sd.Struct.of({"city": sd.String(nullable=True), "at": sd.List(sd.FP64(nullable=True)).as_nullable()})
SCHEMA: dict[str, Any] = {
    "small": "i8?",
    "id": "i64",
    "price": "decimal<20,3>?",
    "share": "fp64?",
    "half": "fp32?",
    "ok": "boolean?",
    "text": "string?",
    "code": "varchar<9>?",
    "day": "date?",
    "at": "precision_timestamp<6>?",
    "geo": GEO.as_nullable(),
    "tags": "list<string?>?",
    "counts": "map<string, i32?>?",
}


class Event(sd.Schema):
    id: sd.I64
    who: sd.Nullable[sd.String]


def lines(folder: Path, text: str, schema: Any, **options: Any) -> sd.Relation[Any]:
    (folder / "in.jsonl").write_text(text, encoding="utf-8")
    return sd.read_json(folder / "in.jsonl", schema, **options)


def _random_row(random: Random, number: int) -> dict[str, Any]:
    """Make the values of a row, in Python's types."""

    def text() -> str:
        return "".join(random.choice('aé"\\/\n\t😀{[,: ') for _ in range(random.randint(0, 6)))

    moment = dt.datetime(random.randint(1600, 9990), 1, 1) + dt.timedelta(microseconds=random.randint(0, 10**13))
    row: dict[str, Any] = {
        "price": Decimal(random.randint(-(10**20) + 1, 10**20 - 1)).scaleb(-3),
        "share": random.choice((random.random() * 10 ** random.randint(-300, 300), -0.0, 1e300)),
        "half": random.choice((0.5, -1024.0)),
        "ok": random.random() < 0.5,
        "text": text(),
        "code": text(),
        "day": moment.date(),
        "at": moment,
        "geo": random.choice(((text(), [1.5, None, -2.0]), (None, []), (text(), None))),
        "tags": [random.choice((text(), None)) for _ in range(random.randint(0, 3))],
        "counts": {text(): random.choice((None, 5, -(2**31))) for _ in range(random.randint(0, 3))},
    }
    row = {name: None if random.random() < 0.15 else value for name, value in row.items()}
    return {"small": random.choice((-128, 127, None)), "id": random.choice((number, 2**63 - 1, -(2**63))), **row}


def _written(row: dict[str, Any], random: Random) -> str:
    """Write a row as JSON, with its keys in any order, some for NULL not there, and one that is not declared."""
    values = {name: value for name, value in row.items() if value is not None or random.random() < 0.5}
    if values.get("geo") is not None:
        values["geo"] = dict(zip(("city", "at", "x"), (*values["geo"], 1), strict=True))
    for name in ("day", "at"):
        if values.get(name) is not None:
            values[name] = values[name].isoformat(*(() if name == "day" else (random.choice("T "),)))
    price = values.pop("price", "")
    others = [("other", {"a": [1]}), *values.items()]
    random.shuffle(others)
    text = json.dumps(dict(others), ensure_ascii=random.random() < 0.5)
    if price == "":
        return text
    shown = "null" if price is None else random.choice(("%s", '"%s"')) % format(price, "f")
    return f'{text[:-1]}, "price": {shown}}}'


def rows_are_right(folder: Path, session: Any, seed: int, many: int) -> None:
    """Write random rows by Python's json, and read them, with both rules for what is no value."""
    random = Random(seed)
    rows = [_random_row(random, number) for number in range(many)]
    text = "".join(random.choice(("\n", "")) + _written(row, random) + random.choice(("\n", "\r\n")) for row in rows)
    wanted = [[_plain(value) for value in row.values()] for row in rows]
    for invalid in ("error", "null"):
        found = lines(folder, text, SCHEMA, invalid=invalid).collect(session)
        assert [[_plain(value) for value in row] for row in found] == wanted


def _plain(value: Any) -> Any:
    """Return a value with its type, and an inner row as a tuple."""
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return type(value), str(value) if isinstance(value, float) else value


WRONG = [
    ("i64?", "1.5", ', "x": the value 1.5 is no value of i64'),
    ("i64?", '"5"', ', "x": the value "5" is no value of i64'),
    ("i64?", "9223372036854775808", ', "x": the value 9223372036854775808 is no value of i64'),
    ("i64?", "[]", ', "x": the value a list is no value of i64'),
    ("i8?", "128", ', "x": the value 128 is no value of i8'),
    ("decimal?<5,2>", "999.995", ', "x": the value 999.995 is no value of decimal<5,2>'),
    ("decimal?<5,2>", '"1,5"', ', "x": the value "1,5" is no value of decimal<5,2>'),
    ("boolean?", '"true"', ', "x": the value "true" is no value of boolean'),
    ("varchar?<2>", '"abc"', ', "x": the value "abc" is no value of varchar<2>'),
    ("date?", '"2024-02-30"', ', "x": the value "2024-02-30" is no value of date'),
    ("date?", '"2024"', ', "x": the value "2024" is not of the form %Y-%m-%d (date)'),
    ("list?<i64?>", '[1, "b"]', ', "x[1]": the value "b" is no value of i64'),
    ("map?<string, i64?>", '{"a": true}', ', "x.a": the value true is no value of i64'),
    (GEO.as_nullable(), '{"at": [1, {}]}', ', "x.at[1]": the value an object is no value of fp64'),
    ("i64?", '1, "x": 2', ' is no JSON: an object has the duplicate key "x"'),
    ("i64?", "01", " is no JSON: "),
    ("fp64?", "NaN", " is no JSON: NaN is no number of JSON"),
]
"""Types, values that are none of them, and what is said behind the line and the file."""


def misfits_are_named(folder: Path, session: Any) -> None:
    """Check that an error says the file, the line, the path in it, the value and the type, and that its hint works."""
    for type_, value, said in WRONG:
        text = f'{{"n": 1}}\n\n{{"n": 2, "x": {value}}}\n'
        with pytest.raises(ExecutionError) as caught:
            lines(folder, text, {"n": "i64?", "x": type_}).collect(session)
        assert (caught.value.message or "").startswith(f"line 3 of {folder}/in.jsonl{said}")
        follow = lines(folder, text, {"n": "i64?", "x": type_}, invalid="null").collect(session)
        assert follow == [(1, None), (None if "no JSON" in said else 2, None)]


def lines_are_objects(folder: Path, session: Any) -> None:
    """What is no object, what lacks in a required column, and keys that are not declared."""
    for line in ("[1]", "5", "null", '"x"'):
        with refused(ExecutionError, "line 1 of", " is no object, but ", "one object stands in each line"):
            lines(folder, line, {"x": "i64?"}).collect(session)
        assert lines(folder, line, {"x": "i64?"}, invalid="null").collect(session) == [(None,)]
    for line in ("{}", '{"x": null}'):
        for invalid in ("error", "null"):
            with refused(ExecutionError, 'in.jsonl, "x": it is i64, and required, but NULL or not there', '"i64?"'):
                lines(folder, line, {"x": "i64"}, invalid=invalid).collect(session)
    with refused(ExecutionError, "line 2 of", '"x": the value "y" is no value of i64'):
        lines(folder, '{"x": 1}\n{"x": "y"}', {"x": "i64"}, invalid="null").collect(session)
    with refused(ExecutionError, "line 2 of", 'a key that is not declared: "y"', 'unknown_keys="skip"'):
        lines(folder, '{"x": 1}\n{"y": 1}', {"x": "i64?"}, unknown_keys="error").collect(session)
    known = lines(folder, '{"x": 1}\n{"y": 1}\n{}', {"x": "i64?"}, unknown_keys="error", invalid="null")
    assert known.collect(session) == [(1,), (None,), (None,)]


def other_files_are_read(folder: Path, session: Any) -> None:
    """Compressed ones, several, another encoding, and formats."""
    (folder / "1.jsonl.gz").write_bytes(gzip.compress('\ufeff{"x": "é"}\n \n{"x": null}'.encode()))
    (folder / "2.jsonl").write_bytes('{"x": "é"}\n'.encode("latin-1"))
    read: Any = sd.read_json(folder / "1.jsonl.gz", {"x": "string?"})
    assert read.collect(session) == [("é",), (None,)]
    latin: Any = sd.read_json([folder / "2.jsonl"] * 2, {"x": "string"}, encoding="latin-1")
    assert latin.collect(session) == [("é",), ("é",)]
    formats = {"x": "%d/%m/%Y", "y": "%d/%m/%Y %H:%M"}
    schema = {"x": "date?", "y": "precision_timestamp<6>?"}
    dated = lines(folder, '{"x": "31/05/2024", "y": "01/02/2024 10:30"}', schema, formats=formats)
    assert dated.collect(session) == [(dt.date(2024, 5, 31), dt.datetime(2024, 2, 1, 10, 30))]
    with refused(ExecutionError, 'in.jsonl, "x": the value "31/02/2024" is no value of date'):
        lines(folder, '{"x": "31/02/2024"}', {"x": "date"}, formats={"x": "%d/%m/%Y"}).collect(session)


def test_the_plan_is_texts_and_their_values(tmp_path: Path) -> None:
    for options in ({}, {"invalid": "null", "unknown_keys": "error"}):
        read = lines(tmp_path, "{}", SCHEMA, **options)
        plan = read.to_plan()
        assert sd.Plan.from_bytes(plan.to_bytes(), strict=True) == plan
        assert dict(zip(read.schema.names, map(str, read.schema.types), strict=True)) == {
            name: str(type_) for name, type_ in SCHEMA.items()
        }
        (files,) = (rel for rel in walk(read._rel) if isinstance(rel, rl.Read))
        assert str(files.base_schema) == "line: string"
    typed = sd.read_json("x.jsonl", Event).filter(lambda e: e.id > 6)
    assert typed.schema.names == ("id", "who")


def test_the_embedded_engine_refuses_it(tmp_path: Path) -> None:
    with refused(UnsupportedError, "from_json"):
        lines(tmp_path, '{"x": 1}', {"x": "i64"}).collect()


def test_arguments() -> None:
    read: Any = sd.read_json
    with refused(InvalidArgumentError, "read_json", "binary", "declare a string, and cast it"):
        read("x", {"x": "binary?"})
    with refused(InvalidArgumentError, "read_json", "i64 (x[0]) is required", "declare i64?"):
        read("x", {"x": "list?<i64>"})
    with refused(InvalidArgumentError, "read_json", "date", "(x[0])", "declare a string, and cast it"):
        read("x", {"x": "list?<date?>"})
    with refused(TypeMismatchError, "read_json", 'precision_timestamp<6>, but column "x" is i64'):
        read("x", {"x": "i64"}, formats={"x": "%Y"})
    with refused(UnknownFieldError, "read_json", '"y"'):
        read("x", {"x": "date"}, formats={"y": "%Y-%m-%d"})
    with refused(InvalidChoiceError, "read_json", "unknown_keys", "'fail'", '"error"'):
        read("x", {"x": "i64"}, unknown_keys="fail")
    with refused(InvalidChoiceError, "read_json", "invalid", "'none'", '"null"'):
        read("x", {"x": "i64"}, invalid="none")
    with refused(InvalidArgumentError, "write read_json(path, schema)"):
        sd.read_files("x.jsonl", {"x": "i64"})
