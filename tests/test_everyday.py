"""The functions for everyday work: what they stand for, and their cases on engines without Java."""

from __future__ import annotations

import datetime as dt
import json
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any, cast

import pytest

import substrait_dsl as sd
from substrait_dsl import everyday as e
from substrait_dsl.catalog.everyday_values import VALUES
from substrait_dsl.errors import (
    ExecutionError,
    FunctionNotFoundError,
    InvalidArgumentError,
    InvalidChoiceError,
    SubstraitDslError,
    TypeMismatchError,
)
from tests import everyday
from tests.support import f, refused, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = table("day: date, other: date?, at: precision_timestamp<6>, s: string, xs: list<i64?>, a: i64?, b: i64?, x: fp64")
TRUNCATED = [
    ("YEAR", dt.date(2024, 1, 1)),
    ("QUARTER", dt.date(2024, 4, 1)),
    ("MONTH", dt.date(2024, 5, 1)),
    ("WEEK", dt.date(2024, 5, 13)),  # May 17, 2024 is a Friday
    ("DAY", dt.date(2024, 5, 17)),
]
CLOCK = [
    ("HOUR", dt.datetime(2024, 5, 17, 13)),
    ("MINUTE", dt.datetime(2024, 5, 17, 13, 14)),
    ("SECOND", dt.datetime(2024, 5, 17, 13, 14, 15)),
]
HOUR: Any = "HOUR"
YES: Any = "yes"
AT = dt.datetime(2024, 5, 17, 13, 14, 15, 987654)


def truncated() -> tuple[Any, list[Any]]:
    """A date and a timestamp, and another before 1970, truncated to every unit; and what that is by the calendar."""
    rows = sd.read_virtual(
        [(AT.date(), AT, dt.date(1969, 12, 31))], {"d": "date", "t": "precision_timestamp<6>", "o": "date"}
    )
    columns: dict[str, Any] = {f"d{unit}": e.date_trunc(unit, sd.col("d")) for unit, _ in TRUNCATED}
    columns |= {f"t{unit}": e.date_trunc(unit, sd.col("t")) for unit, _ in (*TRUNCATED, *CLOCK)}
    columns |= {"o": e.date_trunc("WEEK", sd.col("o"))}
    starts = [dt.datetime.combine(day, dt.time()) for _, day in TRUNCATED]
    found = [*(day for _, day in TRUNCATED), *starts, *(time for _, time in CLOCK), dt.date(1969, 12, 29)]
    return rows.select(**columns), found


def spans() -> tuple[Any, list[int]]:
    """Two dates, and the units between them: 2021-03-31 to 2024-02-29 are 35 months but a day, and 1065 days."""
    rows = sd.read_virtual([(dt.date(2021, 3, 31), dt.date(2024, 2, 29))], {"start": "date", "end": "date"})
    units = {"YEAR": 2, "QUARTER": 11, "MONTH": 34, "WEEK": 152, "DAY": 1065}
    there: dict[str, Any] = {unit: e.date_diff(unit, sd.col("start"), sd.col("end")) for unit in units}  # type: ignore[arg-type]
    back: dict[str, Any] = {f"back{unit}": e.date_diff(unit, sd.col("end"), sd.col("start")) for unit in units}  # type: ignore[arg-type]
    return rows.select(**there, **back), [*units.values(), *(-many for many in units.values())]


def lists() -> tuple[Any, list[Any]]:
    """What is collected by group, in an order and without."""
    rows = sd.read_virtual(
        [("a", 2, "x"), ("a", 1, "y"), ("a", 3, None), ("b", 1, None)], {"k": "string", "at": "i64", "v": "string?"}
    )
    groups = rows.group_by("k").agg(
        ordered=lambda r: e.collect_list(r.v).order_by("at"),
        set=lambda r: e.collect_set(r.k),
        last=lambda r: e.max_by(r.at, r.v),
        some=lambda r: e.collect_list(r.at).filter(r.at > 2),
    )
    return groups.sort("k"), [("a", ["y", "x"], ["a"], 1, [3]), ("b", [], ["b"], None, [])]


def counts() -> tuple[Any, list[Any]]:
    """The first and the last by an order, and combinations without NULL."""
    rows = sd.read_virtual(
        [("a", 2, "x"), ("a", 1, "y"), ("a", 3, None), ("a", 4, "y"), ("b", 1, None)],
        {"k": "string", "at": "i64", "v": "string?"},
    )
    groups = rows.group_by("k").agg(
        first=lambda r: e.first(r.v, sd.desc("at")),
        late=lambda r: e.last(r.at, "v", sd.desc(r.at, nulls="first")),
        pairs=lambda r: e.count_distinct(r.k, r.v),
        ones=lambda r: e.count_distinct(r.k),
        near=lambda r: e.approx_percentile(r.at, 0.5),
    )
    return groups.sort("k"), [("a", "y", 1, 2, 1, 2), ("b", None, 1, 0, 1, 1)]


def nested() -> tuple[Any, list[Any]]:
    """Keys and values of a map, and a list that is sorted."""
    rows = sd.read_virtual([({"b": 1, "a": None}, [2, None, 1])], {"m": "map<string, i64?>", "xs": "list<i64?>"})
    columns = rows.select(
        keys=lambda r: e.map_keys(r.m),
        values=lambda r: e.map_values(r.m),
        entries=lambda r: e.map_entries(r.m),
        up=lambda r: e.sort_array(r.xs),
        down=lambda r: e.sort_array(r.xs, descending=True),
    )
    return columns, [["b", "a"], [1, None], [("b", 1), ("a", None)], [1, 2, None], [2, 1, None]]


TEXTS: list[tuple[str | None, dt.date | None]] = [
    ("29/02/2024", dt.date(2024, 2, 29)),
    ("31/12/0999", dt.date(999, 12, 31)),
    *dict.fromkeys(["29/02/2023", "31/04/2024", "01/13/2024", "00/01/2024", "12/31/2024"]).items(),  # no days
    *dict.fromkeys(["1/2/2024", "01/02/24", "01-02-2024", "01/02/2024 ", " 01/02/2024", "1\t/02/2024"]).items(),
    *dict.fromkeys(["01/02/2024\n", "01/02/20245", "2024-02-01", "+1/02/2024", "\u06601/02/2024", "soon", ""]).items(),
    (None, None),
]
"""Texts, and their dates in the form of ``%d/%m/%Y``, by the calendar."""


def dates() -> tuple[Any, list[tuple[Any, ...]]]:
    """What texts are as dates."""
    rows = sd.read_virtual([(text,) for text, _ in TEXTS], {"s": "string?"})
    return rows.select("s", d=lambda r: e.to_date(r.s, "%d/%m/%Y", on_failure="return_null")), list(TEXTS)


def forms() -> tuple[Any, list[Any]]:
    """Dates of other forms, whose characters would be special in a pattern."""
    rows = sd.read_virtual([("20240131", "a.31+01(2024\\")], {"a": "string", "b": "string"})
    columns = rows.select(
        a=lambda r: e.to_date(r.a, "%Y%m%d"),
        b=lambda r: e.to_date(r.b, "a.%d+%m(%Y\\"),
    )
    return columns, [dt.date(2024, 1, 31)] * 2


TIMES: list[tuple[str, dt.datetime | None]] = [
    ("29.02.2024, 13h14 (15,000006)", dt.datetime(2024, 2, 29, 13, 14, 15, 6)),
    ("31.12.9999, 23h59 (59,999999)", dt.datetime(9999, 12, 31, 23, 59, 59, 999999)),
    *dict.fromkeys(["29.02.2023, 13h14 (15,000006)", "29.02.2024, 24h00 (00,000000)"]).items(),  # no day, no hour
    *dict.fromkeys(["29.02.2024, 13h60 (00,000000)", "29.02.2024, 23h59 (60,000000)"]).items(),  # no minute, no second
    *dict.fromkeys(["29.02.2024, 13h14 (15,006)", "29.02.2024 13h14 (15,000006)", ""]).items(),  # other forms
]
"""Texts, and their times in the form of ``%d.%m.%Y, %Hh%M (%S,%f)``, by the calendar and the clock."""


def times() -> tuple[Any, list[tuple[Any, ...]]]:
    """What texts are as timestamps; those without seconds begin their minute."""
    rows = sd.read_virtual([(text,) for text, _ in TIMES], {"s": "string"})
    return rows.select("s", t=lambda r: e.to_timestamp(r.s, "%d.%m.%Y, %Hh%M (%S,%f)", on_failure="return_null")), list(
        TIMES
    )


def short_times() -> tuple[Any, list[Any]]:
    """Times whose last parts are missing."""
    rows = sd.read_virtual([("20240131", "2024-01-31T13:14")], {"a": "string", "b": "string?"})
    columns = rows.select(a=lambda r: e.to_timestamp(r.a, "%Y%m%d"), b=lambda r: e.to_timestamp(r.b, "%Y-%m-%dT%H:%M"))
    return columns, [dt.datetime(2024, 1, 31), dt.datetime(2024, 1, 31, 13, 14)]


URLS = [
    *(
        "http://user:pw@spark.apache.org:80/path/x?query=1&k=v%20w#Ref",
        "https://h/p?a=b",
        "http://h",
        "h/p",
        "mailto:a@b",
    ),
    *(
        "http://[::1]:80/x",
        "http://h/?k=&kk=3&k=2",
        "HTTP://H/A",
        "http://a_b/x",
        "file:///etc/x",
        "",
        "http://ä.de/x y?ä=ö#z",
    ),
    *("http://h?k", "//h/p", "/p?x#y?z", "?k=1", "http://u@h:", "a:b:c", "http://h/p#a#b", "http://h/?a&k=1&b"),
]


def addresses() -> tuple[Any, list[tuple[Any, ...]]]:
    """The parts of addresses, and those that the pattern of RFC 3986, appendix B, finds."""
    parts = {"PROTOCOL": 2, "AUTHORITY": 4, "PATH": 5, "QUERY": 7, "REF": 9}
    found: list[tuple[Any, ...]] = []
    for url in URLS:
        match = re.fullmatch(r"(([^:/?#]+):)?(//([^/?#]*))?([^?#]*)(\?([^#]*))?(#(.*))?", url)
        assert match is not None
        fields = dict(field.partition("=")[::2] for field in reversed((match[7] or "").split("&")) if "=" in field)
        given = [match[number] for number in parts.values()]
        given[1] = given[1] or None  # as that of file:///
        file = None if match[5] is None else match[5] + (match[6] or "")
        found.append((url, *given, file, fields.get("k"), fields.get("ä")))
    columns: dict[str, Any] = {part: e.parse_url(sd.col("url"), part) for part in (*parts, "FILE")}
    keys: dict[str, Any] = {key: e.parse_url(sd.col("url"), "QUERY", key) for key in ("k", "ä")}
    return sd.read_virtual([(url,) for url in URLS], {"url": "string"}).select("url", **columns, **keys), found


def hosts() -> tuple[Any, list[Any]]:
    """The parts of an authority."""
    rows = sd.read_virtual(
        [("http://user:pw@h.org:80/", "https://[::1]:8/x", "http://u@h")],
        {"a": "string", "b": "string", "c": "string?"},
    )
    columns: dict[str, Any] = {
        f"{name}{part}": e.parse_url(sd.col(name), part) for name in "abc" for part in ("USERINFO", "HOST", "PORT")
    }
    return rows.select(**columns), ["user:pw", "h.org", "80", None, "[::1]", "8", "u", "h", None]


JSON = {"a": "i64?", "s": "string?", "xs": "list?<fp64?>", "d": "decimal?<5,2>", "m": "map?<string, boolean?>"}
READ: list[tuple[str | None, tuple[Any, ...] | None]] = [
    ('{"a": 1, "s": [1.50, null], "xs": [1, null, 2.5], "d": 1.005, "m": {"k": true, "j": null}, "z": {}}',
     (1, "[1.5,null]", [1.0, None, 2.5], Decimal("1.01"), {"k": True, "j": None})),
    ('{"d": "-1.005", "s": "x", "a": null}', (None, "x", None, Decimal("-1.01"), None)),
    ("{}", (None,) * 5),
    *dict.fromkeys(["null", "", "[]", '{"a": 1} x', '{"a": "1"}', '{"a": 1.0}', '{"a": 9223372036854775808}']).items(),
    *dict.fromkeys(['{"d": 1000}', '{"xs": {}}', '{"xs": ["NaN"]}', '{"m": {"k": 1}}', '{"a": 1, "a": 1}']).items(),
    *dict.fromkeys(['{"d": "1,5"}', '{"d": "1\\u002c5"}', '{"m":{},"d":"\u0661"}', '{"d": ""}']).items(),
    ('{"d": "1e1", "s": "1,5"}', (None, "1,5", None, Decimal("10.00"), None)),
    (None, None),
]  # fmt: skip
"""Texts, and what they hold of that type; NULL for what is of another type anywhere."""


def json_is_right(session: Any) -> None:
    """What is read of JSON, and written as JSON, which Python's own module reads."""
    rows = sd.read_virtual([(text,) for text, _ in READ], {"s": "string?"})
    values = rows.select("s", v=lambda r: e.from_json(r.s, JSON, on_failure="return_null"))
    assert values.collect(session) == READ
    written = values.select("s", "v", t=lambda r: e.to_json(r.v))
    for _, value, text in written.collect(session):
        names = dict(zip(JSON, value, strict=True)) if value is not None else None
        assert (text and json.loads(text, parse_float=float)) == (
            names and {**names, "d": names["d"] if names["d"] is None else float(names["d"])}
        )
    with pytest.raises(ExecutionError, match="a text is no JSON of struct"):
        rows.filter(lambda r: r.s == "[]").select(v=lambda r: e.from_json(r.s, JSON)).collect(session)
    many = sd.read_virtual([("ä\"\\/\n\x1f", AT, AT.date(), Decimal("0.10"))], {
        "s": "string", "t": "precision_timestamp<6>", "d": "date", "n": "decimal<5,2>",
    })  # fmt: skip
    (row,) = many.select(**{name: e.to_json(sd.col(name)) for name in many.columns}).collect(session)
    assert json.loads(row[0]) == 'ä"\\/\n\x1f'
    assert row[1:] == ('"2024-05-17T13:14:15.987654"', '"2024-05-17"', "0.10")


ODD_NAMES = ("a'b", "\\", "\\'", "`", "${env:HOME}", "$", "a b", "ключ", "x'] , '$", "--", "/*")
"""Names of fields that would end a text of SQL, be a variable of Spark's, or begin a comment."""


def odd_names_are_names(session: Any) -> None:
    """No name of a field is a part of the query that an engine is given."""
    type_ = sd.Struct.of(
        {name: sd.List(sd.Struct.of({name: sd.I64(nullable=True)}, nullable=True), nullable=True) for name in ODD_NAMES}
    )
    texts = [
        json.dumps({name: [{name: number}, None] for number, name in enumerate(ODD_NAMES)}),
        json.dumps({ODD_NAMES[0]: None}),
    ]
    rows = sd.read_virtual([(text,) for text in texts], {"s": "string"})
    read = rows.select(v=lambda r: e.from_json(r.s, type_.as_nullable()))
    written = read.select("v", t=lambda r: e.to_json(r.v)).collect(session)
    assert [json.loads(text) for _, text in written] == [
        json.loads(texts[0]),
        dict.fromkeys(ODD_NAMES),
    ]
    assert [value[0] for value, _ in written] == [[(0,), None], None]


def rows_are_right(session: Any, without: set[str]) -> None:
    """All that the extension has, but for some functions, on an engine that takes Spark's SQL."""
    wrong = everyday.wrong(everyday.scalars({case.function for case in everyday.cases()} - without), session)
    for question in everyday.aggregates():
        wrong += everyday.wrong(question, session)
    assert not wrong, "\n".join(wrong)
    for relation, row in (truncated(), spans(), nested(), forms(), short_times(), hosts()):
        assert [tuple(row)] == relation.collect(session)
    for relation, rows in (lists(), counts(), dates(), times(), addresses()):
        assert relation.collect(session) == rows
    text = sd.read_virtual([("01-02-2024",)], {"s": "string"})
    with pytest.raises(ExecutionError, match=r"01-02-2024'? is not of the form %d/%m/%Y"):
        text.select(d=lambda r: e.to_date(r.s, "%d/%m/%Y")).collect(session)


def test_rows_on_the_embedded_engine(sail: SparkSession) -> None:
    rows_are_right(sail, without={"get_json"})


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda r: e.get_json(r.s, "$.a"), "get_json"),
        (lambda r: e.from_json(r.s, "list?<i64?>"), "from_json"),
        (lambda r: e.to_json(r.s), "to_json"),
    ],
)
def test_json_is_refused_on_sail(make: Any, name: str) -> None:
    report = T.select(x=make).check("sail")
    assert report.verdict == "refused"
    assert name in str(report)
    assert T.select(x=make).check("spark")


@pytest.mark.parametrize(("text", "value"), READ)
def test_what_json_python_reads(text: str | None, value: Any) -> None:
    """The texts above are JSON exactly where Python's module says so."""
    read = VALUES["get_json"](text, "$")
    assert value is None or read is not None
    assert read is None or isinstance(json.loads(text or ""), dict | list)


def test_scalar_functions_on_datafusion(datafusion: None) -> None:
    from datafusion import SessionContext

    question = everyday.scalars(set(VALUES))
    assert len(question.cases) >= 27
    assert everyday.wrong(question, SessionContext()) == []
    relation, row = spans()
    assert relation.collect(SessionContext()) == [tuple(row)]


@pytest.mark.parametrize("name", ["array_distinct", "map_keys"])
def test_what_datafusion_does_not_run_is_refused_by_name(name: str) -> None:
    rows = table("xs: list<i64?>, m: map<string, i64>")
    relation = rows.select(x=getattr(e, name)(sd.col("m" if name == "map_keys" else "xs")))
    assert relation.check("datafusion").verdict == "refused"
    assert name in str(relation.check("datafusion"))


def test_what_the_specification_has_stands_in_plans_as_that() -> None:
    short = T.select(
        a=lambda r: e.date_trunc("QUARTER", r.day),
        b=lambda r: e.least(r.a, r.b),
        c=lambda r: e.greatest(r.a, r.b),
        d=lambda r: e.sort_array(r.xs),
    )
    long = T.select(
        a=lambda r: f.round_calendar(r.day, "FLOOR", "MONTH", "YEAR", 3),
        b=lambda r: f.least_skip_null(r.a, r.b),
        c=lambda r: f.greatest_skip_null(r.a, r.b),
        d=lambda r: f.sort(r.xs, direction="ASC_NULLS_LAST"),
    )
    assert short.to_plan() == long.to_plan()
    assert T.aggregate(m=lambda r: e.min(r.day)).to_plan() == T.aggregate(m=lambda r: f.min(r.day)).to_plan()
    assert e.URN.encode() not in short.to_plan().to_bytes()
    assert e.URN.encode() not in dates()[0].to_plan().to_bytes()


def test_plans_say_whose_function_it_is_and_come_back() -> None:
    plan = T.select(k=lambda r: e.md5(r.s)).to_plan()
    assert e.URN.encode() in plan.to_bytes()
    assert sd.Plan.from_bytes(plan.to_bytes(), catalog=e.catalog(), strict=True) == plan
    assert sd.Plan.from_bytes(plan.to_bytes()) == plan


def test_every_function_of_the_extension_has_cases_and_a_name_here() -> None:
    declared = {function.name for function in e.catalog().functions() if function.urn == e.URN}
    # Others have an order, or names, of their own: in the tests above.
    assert declared - {case.function for case in everyday.cases()} == {
        "collect_list", "collect_set", "from_json", "to_json", "map_entries", "map_keys", "map_values",
    }  # fmt: skip
    assert declared - set(e.__all__) == {"date_diff_days", "date_diff_months", "sha256", "sha512"}
    assert set(VALUES) <= declared


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda r: e.date_trunc("month", r.day), InvalidChoiceError, '"MONTH"'),
        (lambda r: e.date_trunc("HOUR", r.day), SubstraitDslError, "round_calendar"),
        (lambda r: e.date_diff(HOUR, r.day, r.other), InvalidChoiceError, '"DAY"'),
        (lambda r: e.date_diff("DAY", r.day, r.at), FunctionNotFoundError, "date_diff_days"),
        (lambda r: e.sha2(r.s, 128), InvalidArgumentError, "bits is 256 or 512"),
        (lambda r: e.md5(r.a), FunctionNotFoundError, "md5"),
        (lambda r: e.sort_array(r.xs, descending=YES), InvalidArgumentError, "True or False"),
        (lambda r: e.to_date(r.s, "dd/MM/yyyy"), InvalidArgumentError, 'write "%d/%m/%Y"'),
        (lambda r: e.to_date(r.s, "yyyyMMdd"), InvalidArgumentError, 'write "%Y%m%d"'),
        (lambda r: e.to_date(r.s, "%d/%m/%y"), InvalidArgumentError, "%Y, %m and %d, each once"),
        (lambda r: e.to_date(r.s, "%d/%m/%Y %H"), InvalidArgumentError, "%Y, %m and %d, each once"),
        (lambda r: e.to_date(r.s, "%d/%m/%Y %"), InvalidArgumentError, "%Y, %m and %d, each once"),
        (lambda r: e.to_date(r.s, "%d/%m/%Y", on_failure=YES), InvalidChoiceError, '"return_null"'),
        (lambda r: e.to_date(r.a, "%d/%m/%Y"), FunctionNotFoundError, "cast argument 1 from i64? to string"),
        (lambda r: e.to_date("s", "%d/%m/%Y"), InvalidArgumentError, "col('s')"),
        (lambda r: e.to_timestamp(r.s, "yyyy-MM-dd HH:mm:ss"), InvalidArgumentError, 'write "%Y-%m-%d %H:%M:%S"'),
        (lambda r: e.to_timestamp(r.s, "%d/%m/%Y %M"), InvalidArgumentError, "the first ones, each once"),
        (lambda r: e.to_timestamp(r.s, "%H:%M"), InvalidArgumentError, 'write "%Y-%m-%d %H:%M:%S"'),
        (lambda r: e.to_timestamp(r.s, cast(Any, 5)), InvalidArgumentError, "format is a text"),
        (lambda r: e.parse_url(r.s, "host"), InvalidChoiceError, '"HOST"'),
        (lambda r: e.parse_url(r.s, "HOST", "k"), InvalidArgumentError, 'key is for the part "QUERY"'),
        (lambda r: e.parse_url(r.s, "QUERY", ""), InvalidArgumentError, "the name of a parameter"),
        (lambda r: e.parse_url(r.a, "HOST"), FunctionNotFoundError, "string"),
        (lambda r: e.get_json(r.s, "user.name"), InvalidArgumentError, 'write "$.user.name"'),
        (lambda r: e.get_json(r.s, "$.a[*]"), InvalidArgumentError, 'write "$.user.tags[0]"'),
        (lambda r: e.get_json(r.s, "$.a[-1]"), InvalidArgumentError, "any number of"),
        (lambda r: e.get_json(r.s, "$..a"), InvalidArgumentError, "any number of"),
        (lambda r: e.get_json(r.a, "$"), FunctionNotFoundError, "get_json"),
        (lambda r: e.from_json(r.s, "date"), InvalidArgumentError, "declare a string, and cast it"),
        (lambda r: e.from_json(r.s, {"a": "i64"}), InvalidArgumentError, "declare i64?"),
        (lambda r: e.from_json(r.s, {"a": "map?<i64, i64?>"}), InvalidArgumentError, "maps by strings"),
        (lambda r: e.from_json(r.s, "struct<i64?>"), InvalidArgumentError, "the names of their fields"),
        (lambda r: e.from_json(r.s, "i64", on_failure=YES), InvalidChoiceError, '"return_null"'),
        (lambda r: e.from_json(r.a, "i64"), FunctionNotFoundError, "from_json"),
        (lambda r: e.to_json("x"), InvalidArgumentError, "lit(value)"),
        (lambda r: e.to_json(r.at.cast("precision_timestamp_tz<6>")), TypeMismatchError, "cast it to a string"),
    ],
)
def test_what_is_refused(make: Any, error: type[Any], said: str) -> None:
    with pytest.raises(error) as caught:
        T.select(x=make)
    assert said in str(caught.value)


@pytest.mark.parametrize("share", [1.5, -0.1, 90, True, "0.5", float("nan")])
def test_a_share_is_from_0_to_1(share: Any) -> None:
    with refused(InvalidArgumentError, "percentile", "share is a number from 0 to 1"):
        T.aggregate(p=lambda r: e.percentile(r.x, share))


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda r: e.approx_percentile(r.x, 2), InvalidArgumentError, "share is a number from 0 to 1"),
        (lambda r: e.approx_percentile(r.x, 0.5, accuracy=2**31), InvalidArgumentError, "accuracy is an integer"),
        (lambda r: e.approx_percentile(r.x, 0.5, accuracy=YES), InvalidArgumentError, "accuracy is an integer"),
        (lambda r: e.percentile(r.s, 0.5), FunctionNotFoundError, "percentile"),
        (lambda r: e.first(r.x), InvalidArgumentError, "without an order"),
        (lambda r: e.last(r.x), InvalidArgumentError, "without an order"),
        (lambda r: e.last(r.x, sd.clustered("a")), InvalidArgumentError, "asc(...) or desc(...)"),
        (lambda r: e.count_distinct(r.x, "a"), InvalidArgumentError, "col('a')"),
        (lambda r: e.mode(r.xs), FunctionNotFoundError, "mode"),
    ],
)
def test_which_aggregates_are_refused(make: Any, error: type[Any], said: str) -> None:
    with pytest.raises(error) as caught:
        T.aggregate(x=make)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("type_", "share", "said"),
    [("decimal<30,2>", 0.5, "at most 29 digits"), ("decimal<9,2>", 0.1234567, "over six digits")],
)
def test_percentiles_that_spark_would_round_are_refused(type_: str, share: float, said: str) -> None:
    report = table(f"d: {type_}").aggregate(p=lambda r: e.percentile(r.d, share)).check("spark")
    assert report.verdict == "refused"
    assert said in str(report)


def test_other_multiples_are_refused_on_spark() -> None:
    report = T.select(x=lambda r: f.round_calendar(r.day, "FLOOR", "MONTH", "YEAR", 2)).check("spark")
    assert report.verdict == "refused"
    assert "everyday.date_trunc" in str(report)
    assert T.select(x=lambda r: e.date_trunc("MONTH", r.day)).check("spark")  # as the hint says
