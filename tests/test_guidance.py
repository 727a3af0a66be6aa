"""What people write by habit gets an error that says what to write here."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from decimal import Decimal
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any

import pyarrow
import pytest

import substrait_dsl as sd
from substrait_dsl import partiql
from substrait_dsl.catalog import standard_catalog
from substrait_dsl.errors import SubstraitDslError
from substrait_dsl.hints import words
from tests.support import f, table

LISTS: Any = sd.read_named(
    "t",
    {
        "s": "nstruct<a: i64, b: string>",
        "xs": "list<nstruct<a: i64>>",
        "tags": "list<string>",
        "tag": "string",
        "day": "date",
        "n": "i32",
    },
)
T = table("id: i64, q: i32, price: decimal<15,2>, day: date, name: string")
U = table("key: i64, at: precision_timestamp_tz<6>")
S: Any = sd.read_named(
    "s", {"id": sd.I64, "s": sd.Struct.of({"sku": sd.String()}), "m": sd.parse_type("map<string, i64>"), "t": "string"}
)
PACKAGE: Any = sd
pq: Any = partiql
W: Any = T
LARGE: Any = sd.Plan(T.filter(lambda r: r.id > sd.parameter(1, sd.I64)), parameter_bindings={1: 5})


class Frame:
    """What is taken for a DataFrame of pyspark's."""

    def createOrReplaceTempView(self, name: str) -> None: ...  # noqa: N802  # pyspark's name


class OnlyId(sd.Schema):
    id: sd.I64


HABITS: list[tuple[Callable[[], object], str]] = [
    (lambda: T.where(lambda r: r.id > 1), "write filter(...)"),
    (lambda: T.select(x=lambda r: r.id // 2), "functions.divide(x, y) of integers"),
    (lambda: T.select(x=lambda r: 2 // r.id), "functions.divide(x, y) of integers"),
    (lambda: T.select(x=lambda r: round(r.price, 1)), "write functions.round(x, digits)"),
    (
        lambda: T.filter(lambda r: r.day.cast("precision_timestamp<6>") > "2024-05-01"),
        "write datetime.datetime.fromisoformat('2024-05-01')",
    ),
    (lambda: T.filter("name"), 'a column is col("name"), which is a condition if it is boolean'),
    (lambda: T.filter("name > 1"), "write lambda r: r.x > 5, or col('x') > 5"),
    (lambda: T.select(lambda r: (r.id, r.name)), "a lambda returns one column: write lambda r: r.x, lambda r: r.y"),
    (lambda: T.group_by("id").agg([f.count()]), 'each with a name: f.sum(col("x")).alias("total")'),
    (lambda: T.join(U, on=lambda r: r.id == r.id), "write lambda left, right: left.x == right.y"),
    (lambda: PACKAGE.Relation.group_by(T, "id").pivot("name"), 'pivot("what", ["tea", "milk"], lambda r: '),
    (lambda: T.select(x=lambda r: r.day - r.day), 'substrait_dsl.everyday.date_diff("DAY", start, end) counts days'),
    (lambda: T.aggregate(x=lambda r: f.max(r.name)), "substrait_dsl.everyday.max(x) compares texts by code points"),
    (lambda: T.write_parquet("x.parquet"), "or to_polars().write_parquet(path) of rows that fit here"),
    (lambda: T.select(x=lambda r: r.day - r.day), "no difference of two points in time"),
    (lambda: T.select(x=lambda r: f.coalesce(r.price, 0.0)), 'write Decimal("0.0")'),
    (lambda: T.filter(lambda r: r.day.between("2024-01-01", "2024-02-01")), "fromisoformat('2024-01-01')"),
    (lambda: T.to_plan().collect(), "write roots[0].collect"),
    (lambda: T.to_plan().svae("x"), 'did you mean "save"?'),
    (lambda: PACKAGE.scan_csv("x.csv"), "write read_csv(path, schema)"),
    (lambda: PACKAGE.read_ndjson("x.jsonl"), "write read_json(path, schema)"),
    (lambda: PACKAGE.table("x"), "write read_named(name, schema)"),
    (lambda: PACKAGE.Timestamp, 'write "precision_timestamp<6>"'),
    (lambda: PACKAGE.row_number(), "write functions.row_number(...)"),
    (lambda: PACKAGE.year("x"), 'write functions.extract("YEAR", x)'),
    (lambda: PACKAGE.column("x"), "write substrait_dsl.col(...)"),
    (lambda: f.hash, "the specification has no such function"),
    (lambda: T.melt(), 'write unpivot("x", "y", '),
    (lambda: T.select(x=lambda r: f.trim(r.name)), "write trim(input, characters)"),
    (lambda: T.aggregate(x=lambda r: f.median(r.id)), 'write median("EXACT", x)'),
    (lambda: T.select(x=lambda r: f.coalesce(r.name, 0)), "0 does not fit string: it takes a str"),
    (lambda: PACKAGE.read_nmaed("x"), 'did you mean "read_named"?'),
    (lambda: T.crossJoin(U), "write cross(...)"),
    (lambda: T.repartition(4, "id"), "write exchange(...)"),
    (lambda: T.nlargest(3, "id"), "write top_n(count, desc(...))"),
    (lambda: T.saveAsTable("x"), 'write write(name, "ctas")'),
    (lambda: T.filtr(lambda r: r.id > 1), 'did you mean "filter"?'),
    (lambda: T.filter(lambda r: r.name.startswith("x")), "write functions.starts_with(x, ...)"),
    (lambda: T.filter(lambda r: r.name.like("x%")), "write functions.like(x, ...)"),
    (lambda: T.filter(lambda r: r.id.isin([1])), "write is_in(...)"),
    (lambda: T.sort(lambda r: r.id.desc_nulls_last()), 'write desc(nulls="last")'),
    (lambda: T.sort(lambda r: r.id.asc_nulls_first()), 'write asc(nulls="first")'),
    (lambda: T.filter(lambda r: r.name.ilike("x%")), 'case_sensitivity="CASE_INSENSITIVE"'),
    (lambda: T.filter(lambda r: r.name.rlike("x")), "regexp_count_substring(x, pattern) > 0"),
    (lambda: T.unionByName(T), "write union_all("),
    (lambda: T.group_by("id").count(), "write agg(n=functions.count())"),
    (lambda: T.group_by("id").sum("q"), 'write agg(name=functions.sum(col("x")))'),
    (lambda: T.group_by("id").filter(lambda r: r.id > 1), "write agg(...).filter(...)"),
    (lambda: T.group_by("id").rolup(n=f.count()), 'did you mean "rollup"?'),
    (lambda: T.dropDuplicates(["id"]), 'distinct(on="x") for one row of each value'),
    (lambda: T.fillna(0), "write fill_null(x=value)"),
    (lambda: T.dropna(), 'write drop_nulls("x")'),
    (lambda: T.unstack(), 'write group_by(...).pivot("x", values, functions.sum(col("y")))'),
    (lambda: T.distinct(subset=["id"]), 'on=["x", "y"]'),
    (lambda: f.when(True), "write substrait_dsl.when(...)"),
    (
        lambda: T.with_columns(t=lambda r: r.day.cast("precision_timestamp<6>")).filter(
            lambda r: r.t > dt.date(2024, 5, 1)
        ),
        "datetime.datetime(2024, 5, 1) is the beginning of a day",
    ),
    (lambda: T.select(x=lambda r: f.year(r.day)), 'write extract("YEAR", x)'),
    (lambda: T.select(x=lambda r: f.extract("YAER", r.day)), 'did you mean "YEAR"?'),
    (lambda: T.filter(lambda r: r.id is None), "x.is_null() asks for NULL"),
    (lambda: T.join(U, lambda left, right: True), "lit(True) is the same for all rows"),
    (lambda: T.select(["id", "q"]), "give them one by one: *[...]"),
    (lambda: T.drop(["id", "q"]), "give them one by one: *[...]"),
    (lambda: T.sort(["id", "q"]), "give them one by one: *[...]"),
    (lambda: T.group_by(["id", "q"]), "give them one by one: *[...]"),
    (lambda: T.union_all([T, T]), "give them one by one: *[...]"),
    (lambda: T.select("*"), "select(*relation.columns)"),
    (lambda: T.rollup("id"), "write group_by(...).rollup(...)"),
    (lambda: f.col("id"), "write substrait_dsl.col(...)"),
    (lambda: f.explode("id"), "write substrait_dsl.Relation.unnest(...)"),
    (lambda: T.filter(lambda r: r.price >= float("nan")), "a decimal holds no infinity and no NaN"),
    (lambda: T.filter(lambda r: r.id > 1 & r.q > 2), "put each comparison in parentheses"),
    (lambda: T.filter(lambda r: r.id == U), "scalar_subquery(rel)"),
    (lambda: T.filter(lambda r: r.price >= 0.05), 'write Decimal("0.05")'),
    (lambda: T.filter(lambda r: r.price >= Decimal("0.055")), "more than 2 digits after the point"),
    (lambda: T.filter(lambda r: r.day >= "1998-09-02"), "datetime.date.fromisoformat('1998-09-02')"),
    (lambda: T.select(x=lambda r: r.name + "!"), "functions.concat(a, b)"),
    (lambda: T.select(x=lambda r: r.id * r.id.cast(sd.FP64)), "cast argument 1 from i64 to fp64"),
    (lambda: T.select(x=lambda r: r.id / r.q), "x.cast(FP64) / y.cast(FP64) has it; functions.divide(x, y) leaves"),
    (lambda: T.select(x=lambda r: r.id / 2), "x.cast(FP64) / 2 has it; functions.divide(x, 2) leaves it out"),
    (lambda: T.select(x=lambda r: 1 / r.id), "1 / y.cast(FP64) has it; functions.divide(1, y) leaves it out"),
    (lambda: T.select(x=lambda r: f.substring(r.name, r.id, 2)), "cast argument 2 from i64 to i32"),
    (lambda: T.select(x=lambda r: f.concat(r.name, r.id)), "cast argument 2 from i64 to string"),
    (lambda: T.select(x=lambda r: f.extract("YEAR", r.name)), "cast argument 2 from string to date"),
    (lambda: T.aggregate(x=lambda r: f.sum(r.name)), "cast argument 1 from string to fp64"),
    (lambda: T.select(x=lambda r: f.lag(r.id, r.id).over(order_by="id")), "cast argument 2 from i64 to i32"),
    (lambda: T.filter(lambda r: r.name > r.id), "cast argument 1 from string to i64"),
    (lambda: T.filter(lambda r: r.name > 5), "cast argument 1 from string to i64"),
    (lambda: T.filter(lambda r: r.id == "5"), "'5' does not fit i64"),
    (lambda: T.select(x=lambda r: r.name * 2), "cast argument 1 from string to fp64"),
    (lambda: T.aggregate(n=lambda r: f.count(r.id, distinct=True)), "write count(...).distinct()"),
    (lambda: T.emit([]).distinct(), "limit(1) leaves one of them"),
    (lambda: T.aggregate(n=f.count), "call it: count(...)"),
    (lambda: T.group_by("q").agg(f.count()), "give it one: total=count(...)"),
    (lambda: T.join(U, on=("id", "key")), "columns of different names need a lambda"),
    (lambda: T.join(U, on=lambda r: r.id == 1), "does not take 2 rows, one for each input"),
    (lambda: list(T), "collect() gives the rows"),
    (lambda: T.join(U, on=True, how="left_outer"), 'write "left"'),
    (lambda: T.join(U, on=True, how="full"), 'write "outer"'),
    (lambda: T.set_op("except", T), 'write "minus_primary"'),
    (lambda: T.select(x=lambda r: f.extract("MONTH", r.day)), 'write extract("MONTH", "ONE", x)'),
    (lambda: U.select(x=lambda r: f.extract("HOUR", r.at)), 'write extract("HOUR", x, timezone)'),
    (lambda: U.select(x=lambda r: f.extract("DAY", "ONE", r.at)), 'write extract("DAY", "ONE", x, timezone)'),
    (lambda: T.filter(lambda r: T.scalar() == 1), "substrait_dsl.scalar_subquery(relation)"),
    (lambda: T.join(U, on=True, how="left outer"), 'write "left"'),
    (lambda: T.select(x=lambda r: r.day + 30), "timedelta(days=30)"),
    (lambda: T.select(x=lambda r: r.id * 1.5), "cast argument 1 from i64 to fp64"),
    (lambda: T.filter(lambda r: r.id.isnull()), 'did you mean "is_null"?'),
    (lambda: T.count(), "write aggregate(n=functions.count())"),
    (lambda: T.select(x=lambda r: sd.when(r.id > 1).then(2)), "finish it with .otherwise(value)"),
    (lambda: T.with_columns(x="id"), "write col('id') for a column"),
    (lambda: T.select(x="DE"), "lit('DE') is a constant text"),
    (lambda: T.group_by(x="idd"), 'did you mean "id"?'),
    (lambda: T.select(x="name.first"), 'write col("name")["first"]'),
    (lambda: T.aggregate(x="price"), 'f.sum(col("price"))'),
    (lambda: T.aggregate(x="name"), 'f.count(col("name"))'),
    (
        lambda: T.filter(lambda r: r.price == r.price.cast(sd.Decimal(38, 0))),
        "cast argument 2 from decimal<38,0> to decimal<36,0>",
    ),
    (lambda: T.aggregate(x=f.sum("price")), "a column is col('price')"),
    (lambda: T.name, "its column is rel.c.name"),
    (lambda: T.sort("-id"), 'write desc("id")'),
    (lambda: T.sort("id desc"), 'write desc("id")'),
    (lambda: T.rename(total="price"), 'the old name comes first: price="total"'),
    (lambda: T.group_by("q").agg(n="count"), "write f.count()"),
    (lambda: T.group_by("q").agg(n="price"), 'for example f.sum(col("price"))'),
    (lambda: T.filter("id > 5"), "write lambda r: r.x > 5"),
    (lambda: "x" in T.c.name, "functions.contains(x, y)"),
    (lambda: T.select(id=sd.null(sd.I64)).as_(OnlyId), "declare it Nullable[...]"),
    (lambda: T.execute("spark"), "expected a SparkSession, got 'spark'"),
    (lambda: sd.read_files("data/*.parquet", {"a": sd.I64}), 'say so: kind="glob"'),
    (lambda: sd.read_named("t", {"a": "strng"}), 'read_named, column "a"'),
    (lambda: T.aggregate(n=lambda r: f.sum(r.name)), 'aggregate, measure "n"'),
    (lambda: f.string_agg(sd.col("name"), ",").sort("id"), "write order_by(...)"),
    (lambda: f.sum(sd.col("q")).odrer_by("id"), 'did you mean "order_by"?'),
    (lambda: f.sum(sd.col("q")).rowsBetween(0, 1), "write over(rows=(first, last))"),
    (lambda: sd.read_named("t", {"m": "u!money"}), 'a type of an extension of your own is UserDefined(urn, "money")'),
    (lambda: sd.parse_type("list<u!geometri>"), 'did you mean "geometry"? a type of an extension of your own'),
    (lambda: sd.read_named("t", {"m": sd.UserDefined}), "Annotated[UserDefined, UserDefined(urn, name)]"),
    (lambda: sd.read_named("t", {"m": sd.Func}), "Annotated[Func, Func((I64(),), I64())]"),
    (lambda: sd.read_named("t", {"m": sd.List}), "write List(...) or List[...]"),
    (lambda: sd.read_named("t", {"m": sd.Map}), "write Map(..., ...) or Map[..., ...]"),
    (lambda: sd.read_named("t", {"m": sd.Struct}), "write Struct.of({...}) or Struct[...], of a schema class"),
    (lambda: sd.read_named("t", {"m": sd.Decimal}), "write Decimal(...) or Decimal[L[...], L[...]]"),
    (lambda: sd.read_named("t", {"m": sd.VarChar}), "write VarChar(...) or VarChar[L[...]]"),
    (lambda: f.substring(sd.col("name"), start=1, length=2), "write substring(input, start, length)"),
    (lambda: f.and_(a=True), "write and_(a)"),
    (lambda: T.c.id.mean, "write functions.avg(x); of integers it is an integer, of decimals it has their digits; "),
    (lambda: T.filter(lambda r: r.name == "x" | r.name == "y"), "put each comparison in parentheses"),
    (lambda: T.filter(lambda r: ~r.id == 1), "put a comparison in parentheses: ~(a == 1)"),
    (lambda: T.filter(lambda r: r.day > dt.datetime(2024, 5, 1)), "the day of a datetime is its .date()"),
    (lambda: T.select("id + 1 as x"), 'text of SQL is not read: write x=col("y") + 1'),
    (lambda: T.select("pice + 1"), "text of SQL is not read"),
    (lambda: W.schema.nmes, 'did you mean "names"?'),
    (lambda: W.schema.columns, "write names"),
    (lambda: LARGE.relations, "write roots"),
    (lambda: pq.scan([1, 2], as_="x").fliter(lambda t: t.x > 1), 'did you mean "filter"?'),
    (lambda: T.filter(lambda r: r.id in T), "write x.is_in(relation)"),
    (lambda: T.aggregate(x=lambda r: f.min(r.name)), 'top_n(1, asc(x, nulls="last"))'),
    (lambda: T.aggregate(x=lambda r: f.max(r.name == "x")), "bool_or(x)"),
    (lambda: T.aggregate(x=lambda r: f.sum(sd.list_of(r.id))), 'unnest("xs")'),
    (lambda: T.aggregate(x=("id", "sum")), 'write f.sum(col("id"))'),
    (lambda: f.lag(T.c.id, offset=1), "write lag(expression, row_offset, default)"),
    (lambda: f.last_value(T.c.id, ignore_nulls=True), "write last_value(expression)"),
    (lambda: U.select(x=lambda r: r.at - r.at), 'extract("UNIX_TIME", x, "UTC")'),
    (lambda: T.filter(lambda r: r.id > sd.all_of(T.select(x=lambda t: t.id.cast(sd.I8)))), "cast one of them"),
    (lambda: f.array_sum, "write substrait_dsl.scalar_subquery(one.with_columns("),
    (lambda: f.last_day, "write substrait_dsl.everyday.last_day(x)"),
    (lambda: PACKAGE.Float64, 'write "fp64"'),
    (lambda: sd.read_named("t", {"a": pyarrow.int64()}), 'did you mean "i64"?'),
    (lambda: sd.read_virtual(pyarrow.table({"a": [1]}), {"a": sd.I64}), "write table.to_pylist()"),
    (lambda: PACKAGE.create_table("t", {"a": sd.I64}, if_not_exists=True), 'create_mode="ignore_if_exists"'),
    (lambda: LARGE.show, "write roots[0].show"),
    (lambda: T.c.name.len, "write functions.char_length(x) of a text"),
    (lambda: T.c.name.split, "write functions.string_split(x, ...)"),
    (lambda: T.c.day.year, 'write functions.extract("YEAR", x)'),
    (lambda: T.c.id.and_, "write x & y"),
    (lambda: T.c.id.try_cast, 'write cast(to, on_failure="return_null")'),
    (lambda: S.c.m.contains, "functions.any_match(xs, lambda x: x == y) of a list"),
    (lambda: PACKAGE.and_, "write functions.and_(x, y), or x & y"),
    (lambda: PACKAGE.read_avro, "no other files are read"),
    (lambda: PACKAGE.read, "or read_named(name, schema) of a table"),
    (lambda: PACKAGE.delete, 'write Relation.write(name, "delete")'),
    (lambda: T.explode_outer("id"), "leaves out rows whose list is empty"),
    (lambda: T.join_asof(U), 'write asof_join(other, on="time", by="key")'),
    (lambda: T.join(U, "id", how="asof"), 'write asof_join(other, on="time", by="key")'),
    (lambda: T.tail(3), 'write sort(desc("x")).limit(...)'),
    (lambda: T.with_row_index(), "functions.row_number().over("),
    (lambda: T.group_by("id").sort("id"), "write agg(...).sort(...)"),
    (lambda: T.group_by("id").grouping_sets([]), "write aggregate("),
    (lambda: f.max_by, "write substrait_dsl.everyday.max_by(x, y)"),
    (lambda: f.count_if, "write count().filter(condition)"),
    (lambda: f.percentile_disc, 'write cume_dist().over(order_by="x")'),
    (lambda: f.array_contains, "write any_match(xs, lambda x: x == y)"),
    (lambda: f.convert_timezone, 'write local_timestamp(x, "Asia/Tokyo")'),
    (lambda: f.date_trunc, 'write substrait_dsl.everyday.date_trunc("MONTH", x)'),
    (lambda: f.position, "write strpos(x, y)"),
    (lambda: f.any, "write bool_or(x) of a group"),
    (lambda: f.uuid, "the specification has no such function"),
    (lambda: T.select(x=lambda r: r.day - dt.date(2024, 1, 1)), 'write extract("UNIX_TIME", x)'),
    (lambda: T.sort(lambda r: -r.name), "the largest first, write desc(x)"),
    (lambda: T.select(x=f.extract("YEAR", "day")), "a column is col('day')"),
    (lambda: T.select(x=f.extract("YEAR", "DAY")), "a column is col('DAY')"),
    (lambda: T.select(x=lambda r: f.extract(r.day, "YEAR")), "the order is another: extract('YEAR', date)"),
    (lambda: T.select(x=lambda r: f.lpad(r.name, "0", 5)), "the order is another: lpad(string, 5, '0')"),
    (lambda: T.select(x=lambda r: r.name[0:2]), "functions.substring(x, start, length)"),
    (lambda: T[["id", "q"]], "rel.select(...) takes several columns"),
    (lambda: T[:3], "rel.limit(...) the first rows"),
    (lambda: T.group_by("id").agg({"q": "sum"}), 'give measures by name: total=f.sum(col("x"))'),
    (lambda: T.aggregate(x=lambda r: f.first_value(r.id)), "write first_value(...).over(...) in with_columns(...)"),
    (lambda: T.group_by("id").agg(x=lambda r: f.summ(r.q)), 'agg, measure "x": there is no'),
    (lambda: S.select(x=lambda r: r.s.sku), 'the field of the struct is x["sku"]'),
    (lambda: LISTS.select(x=lambda r: r.s.zzz), 'fields of the struct are x["name"]: "a", "b"'),
    (lambda: LISTS.select(x=lambda r: r.xs.a), 'x[0]["a"] is that of the first'),
    (lambda: LISTS.filter(lambda r: f.contains(r.tags, "x")), "any_match(xs, lambda x: x == y) looks for a value in a"),
    (lambda: LISTS.filter(lambda r: r.tag.is_in(r.tags)), "any_match(xs, lambda x: x == y) looks for a value in a"),
    (lambda: LISTS.filter(lambda r: "x" in r.tags), "any_match(xs, lambda x: x == y) of a list"),
    (lambda: LISTS.unnest("tags", outer=True), 'how="left"'),
    (lambda: LISTS.select(x=lambda r: r.day + r.n), "n * lit(timedelta(days=1))"),
    (lambda: LISTS.write(Path("x.parquet")), 'write(files_target(path, "parquet"))'),
    (lambda: sd.read_named("t", {"s": "struct<a: i64>"}), "the fields of nstruct<a: ...> have names"),
    (lambda: S.select("s.sku"), 'write col("s")["sku"]'),
    (lambda: S.select(x="s.sku"), 'write col("s")["sku"]'),
    (lambda: S.unnest("m"), "everyday.map_keys(x) is the list of its keys"),
    (lambda: LISTS.unnest(["tags"]), "write unnest('tags')"),
    (lambda: LISTS.explode("tags"), 'write unnest("xs")'),
    (lambda: LISTS.expand("tags"), 'write unnest("xs")'),
    (lambda: T.filter(lambda r: r.id.in_subquery(U)), "write is_in(...) of values, or of a relation"),
    (lambda: PACKAGE.in_subquery(sd.col("id"), U), 'write col("x").is_in(relation)'),
    (lambda: PACKAGE.any_horizontal(sd.col("id") > 1), "write functions.or_(*conditions)"),
    (lambda: sd.any_of([sd.col("id") > 1, sd.col("q") > 2]), "functions.or_(*conditions) is true if one of them is"),  # type: ignore[arg-type]
    (lambda: T.aggregate(x=f.count() // 2), "functions.divide(x, y) of integers"),
    (lambda: T.aggregate(x=2 // f.sum(sd.col("id"))), "functions.divide(x, y) of integers"),
    (lambda: T.aggregate(x=round(f.sum(sd.col("price")), 1)), "write functions.round(x, digits)"),
    (lambda: list(f.count()), "relation.aggregate(n=...).collect(), which has the value"),
    (lambda: int(f.count()), "relation.aggregate(n=...).collect(), which has the value"),
    (lambda: len(f.count()), "relation.aggregate(n=...).collect(), which has the value"),
    (lambda: 2 in f.count(), "write x.is_in([...])"),
    (lambda: f.count()["x"], "take the part in select(...) after it"),
    (lambda: T.select(x=f.row_number() // 2), "write row_number(...).over(...)"),
    (lambda: list(f.row_number()), "write row_number(...).over(...)"),
    (lambda: PACKAGE.col("q") @ 2, "write x * y"),
    (lambda: divmod(PACKAGE.col("q"), 2), "functions.divide(x, y) and x % y"),
    (lambda: T + T, "write relation.union_all(other)"),
    (lambda: sum([T, T]), "write first.union_all(*others)"),
    (lambda: T - T, "write relation.subtract(other)"),
    (lambda: T & T, "write relation.intersect(other)"),
    (lambda: T | T, "write relation.union(other), or union_all(other)"),
    (lambda: T * T, "write relation.cross(other)"),
    (lambda: T * 2, 'write relation.with_columns(x=col("x") * ...)'),
    (lambda: 1 / T, 'write relation.with_columns(x=col("x") / ...)'),
    (lambda: T & (sd.col("id") > 1), "write relation.filter(condition)"),
    (lambda: T.filter(lambda r: r.id.is_in([])), "lit(False) is true of no row"),
    (lambda: T.filter(lambda r: r.id.is_in(T)), 'rel.select("id")'),
    (lambda: T.join(U, lambda t, u: [t.id == u.key]), "write (x == 1) & (y == 2)"),
    (lambda: T.select(x=lambda r: [r.id, r.id]), "list_of(x, y) makes a list"),
    (lambda: T.select(x=lambda r: f.concat_ws(",", [r.name])), "one by one: concat_ws(*[...])"),
    (lambda: T.filter(lambda r: r.id.is_null), "call it: is_null(...)"),
    (lambda: T.select(x=lambda r: f.abs(r.id.is_null)), "call it: is_null(...)"),
    (lambda: T.select(x=sd.current_timestamp), "call it: current_timestamp(...)"),
    (lambda: T.select(x=f.row_number), "call it: row_number(...).over(...)"),
    (lambda: T.with_columns(a=1, b=lambda r: r.a + 1), 'make "a" in a with_columns(...) before'),
    (lambda: sd.read_named("t", T.c.id), "declare them by a Schema class"),
    (lambda: sd.read_files("x.csv", {"a": "string"}), 'write format="csv"; format=Parquet() if it is Parquet'),
    (lambda: sd.read_files(["a", "x.TSV.gz"], {"a": "string"}), 'field_delimiter="\\t"'),
    (lambda: sd.read_files("x.json", {"a": "string"}), "write read_json(path, schema) for one object in each line"),
    (lambda: sd.read_virtual([({"sku": 1},)], {"s": "struct<i64>"}), "its fields have no names: write a tuple"),
    (lambda: sd.create_table("t", T), "rel.schema is its schema, for an empty one"),
    (lambda: T.join(U, True, mark="m"), "this is an inner join"),
    (lambda: PACKAGE.when(T.c.id > 1).otherwise(1), "write when(...).then(value).otherwise(value)"),
    (lambda: PACKAGE.when(T.c.id > 1).then(1).else_(2), "finish it with .otherwise(value)"),
    (lambda: PACKAGE.when(T.c.id > 1).then(1) + 1, "finish it with .otherwise(value)"),
    (lambda: PACKAGE.when(T.c.id > 1).then(1) > 1, "has no otherwise(...), no value to compute with"),
    (lambda: PACKAGE.Nullable(sd.I64), "write Nullable[I64]; the type itself is I64(nullable=True)"),
    (lambda: PACKAGE.Nullable("i64"), "the type itself is I64(nullable=True)"),
    (lambda: W.write.parquet("x"), 'write write(files_target(uri, "parquet"))'),
    (lambda: W.write.mode("overwrite").saveAsTable("x"), 'create_mode="replace_if_exists"'),
    (lambda: W.write.partitionBy("id"), 'write(files_target("out/{x}/{y}", "parquet"))'),
    (lambda: W.join(Frame(), "id"), 'read_named("name", frame.schema), after frame.createOrReplaceTempView("name")'),
    (lambda: W.filter(lambda r: r.id.is_in(Frame())), "frame.createOrReplaceTempView"),
    (lambda: T.aggregate(x=lambda r: sum(r.id)), "functions.sum(x) and the like for all values of a column"),
    (lambda: W.group_by("id").first(), "first_of(n, partition_by=..., order_by=...)"),
    (lambda: W.group_by("id").apply(abs), "write agg(...) with functions"),
    (lambda: W.group_by("id").nunique(), 'write agg(name=functions.count(col("x")).distinct())'),
    (lambda: W.loc[0], "write filter(...) for rows, select(...) for columns"),
    (lambda: PACKAGE.exists(Frame()), "frame.createOrReplaceTempView"),
    (lambda: W.union_all(pyarrow.table({"id": [1]})), "write from_arrow(frame)"),
    (lambda: W.join("other", "id"), 'write read_named("other", schema)'),
    (lambda: f.ilike, 'write like(x, pattern, case_sensitivity="CASE_INSENSITIVE")'),
    (lambda: f.expr("id + 1"), "text of SQL is not read"),
    (lambda: PACKAGE.expr("id + 1"), "only from_sql(query, ...) reads text"),
    (lambda: PACKAGE.sql("SELECT 1"), "write from_sql(query, orders=orders)"),
    (lambda: W.selectExpr("id + 1"), "write select(y=lambda r: r.x + 1)"),
    (lambda: f.strptime, "on engines other than Spark strptime_date(x, format)"),
    (lambda: f.to_date, 'cast(Date), which reads texts such as "2024-05-31"'),
    (lambda: f.to_date, 'write substrait_dsl.everyday.to_date(x, "%d/%m/%Y")'),
    (lambda: PACKAGE.date("2024-05-31"), "write substrait_dsl.lit(datetime.date(2024, 5, 31)) for a constant"),
    (lambda: PACKAGE.timestamp("2024-05-31"), "write substrait_dsl.lit(datetime.datetime(2024, 5, 31))"),
    (lambda: W.c.id.rowsBetween(0, 1), "write functions.sum(x).over(order_by=..., rows=(None, 0))"),
    (lambda: W.c.id.rangeBetween(0, 1), "range=(None, 0)"),
    (lambda: S.c.m.getItem("a"), 'x["key"] of a map'),
    (lambda: f.len(), "count() of the rows of a group"),
    (lambda: T.filter(lambda r: r.id in [1, 2]), "x.is_in([...]) instead of in"),
    (lambda: T.select(x=lambda r: max(r.id, 2)), "functions.greatest(x, y) instead of max"),
    (lambda: T.select(x=lambda r: r.name | "!"), "functions.concat(a, b) joins texts"),
    (lambda: PACKAGE.desc("id", "q"), "a second column has a key of its own: desc('q')"),
    (lambda: f.first, 'write substrait_dsl.everyday.first(x, "y") of a group'),
    (lambda: f.last, 'write substrait_dsl.everyday.last(x, "y") of a group'),
    (
        lambda: T.group_by("q").agg(x=lambda r: f.max(r.name)),
        "for each group, row_number().over(partition_by=..., order_by=desc(x))",
    ),
    (lambda: T.filter(lambda r: r.day == r.id), "values that are compared have one type"),
    (lambda: W.c.id.shift(1), "write functions.lag(x, 1).over(order_by=...)"),
    (lambda: W.c.id.cum_sum(), "write functions.sum(x).over(order_by=..., rows=(None, 0))"),
    (lambda: W.c.id.diff(), "write x - functions.lag(x, 1).over(order_by=...)"),
    (lambda: f.rolling_mean, "write avg(x).over(order_by=..., rows=(-2, 0))"),
    (lambda: W.qualify(lambda r: r.id > 1), "write first_of(partition_by=..., order_by=...)"),
    (lambda: PACKAGE.Window, "write functions.sum(x).over(partition_by="),
    (lambda: T.select(x=f.row_number().over(order_by=("id", "desc"))), 'the column stands in the key: desc("x")'),
    (lambda: W.to_parquet("x"), 'write write(files_target(uri, "parquet"))'),
    (lambda: W.alias("t"), "the rows have the names that the lambda gives"),
    (lambda: W.sort_values("id"), 'write sort("x"), or sort(desc("x"))'),
    (lambda: W.query("id > 1"), "write filter(lambda r: r.x > 1)"),
    (lambda: W.summary(), "write describe()"),
    (lambda: W.dtypes, "write schema, which prints as a text"),
    (lambda: W.shape, "len(relation.columns)"),
    (lambda: W.apply(abs), "a lambda gets the columns, not the values of a row"),
    (lambda: W.lazy(), "nothing runs before"),
    (lambda: W.sum("id"), 'write aggregate(name=functions.sum(col("x")))'),
    (lambda: f.split_part, 'write string_split(x, ",")[0] for the first part'),
    (lambda: f.translate, 'write replace(x, "a", "b") for each letter'),
    (lambda: f.nanvl, "write substrait_dsl.when(functions.is_nan(x)).then(y).otherwise(x)"),
    (lambda: f.broadcast, "write substrait_dsl.Relation.exchange(substrait_dsl.broadcast())"),
    (lambda: f.grouping, 'write substrait_dsl.col("grouping_set")'),
    (lambda: PACKAGE.udf, "a plan holds no function of Python's"),
    (lambda: W[T.c.id > 1], "filter(...) keeps rows by a condition"),
    (lambda: W[lambda r: r.id > 1], "filter(...) keeps rows by a condition"),
    (lambda: T.aggregate(n=lambda r: f.sum(r.id > 1)), "functions.count().filter(condition) counts the rows"),
    (lambda: sd.read_virtual([(None,)], {"x": "string"}), '"string?", or Nullable[...] in a class'),
    (lambda: T.as_(OnlyId), 'select("id") first'),
    (lambda: S.select(x=lambda r: r.m.key), 'the value of a key of the map is x["key"]'),
    (lambda: S.select(x=lambda r: r.s.skuu), 'did you mean the field x["sku"]?'),
    (
        lambda: PACKAGE.functions.count().filter(lambda r: r.id > 1),
        'write count(...).filter(col("x") > 1), or a lambda',
    ),
    (lambda: PACKAGE.Struct.of({"city": "string"}), 'field "city" of Struct must be a type'),
    (lambda: PACKAGE.Struct.of({"city": "string"}), 'write parse_type("string"), or the whole type as a text'),
    (lambda: PACKAGE.Struct((sd.I64(), sd.String)), "write String()"),
    (lambda: PACKAGE.List(sd.I64), "write I64()"),
    (lambda: PACKAGE.List(sd.Nullable[sd.I64]), "write I64(nullable=True)"),
    (lambda: PACKAGE.Map("string", sd.Decimal), 'write parse_type("string")'),
    (lambda: PACKAGE.Map(sd.String(), sd.Decimal), "write Decimal(...)"),
    (lambda: PACKAGE.from_spark, "frame.createOrReplaceTempView"),
    (lambda: PACKAGE.from_pandas, "write from_arrow(frame), which puts its rows into the plan"),
    (lambda: PACKAGE.from_polars, 'read_named("t", frame), and collect(tables={"t": frame})'),
    (lambda: W.reset_index(), "write group_by(...).agg(...) as it is"),
    (lambda: W.set_index("id"), "rows have no index"),
    (lambda: W.pivot_table(), 'group_by(...).pivot("x", values, '),
    (lambda: W.len(), "write aggregate(n=functions.count())"),
    (lambda: W.isnull(), 'write filter(col("x").is_null())'),
    (lambda: W.notna(), 'write filter(col("x").is_not_null())'),
    (lambda: W.na, "write fill_null(x=value) for a value in place of NULLs"),
    (lambda: W.sql("select 1"), "substrait_dsl.from_sql(query, orders=orders) reads a whole query"),
    (lambda: f.in_, 'write substrait_dsl.col("x").is_in([1, 2])'),
    (lambda: f.not_in, "with ~ before it"),
    (lambda: T.filter(lambda r: r.name == 1), 'cast argument 1 from string to i64, or write "1", a text'),
    (lambda: T.filter(lambda r: r.name > 1.5), 'or write "1.5", a text'),
    (lambda: T.filter(lambda r: r.name.is_in([1])), "string"),
    (lambda: PACKAGE.DataFrame, "write read_virtual(rows, schema); of one of Spark's, read_named("),
]


class AsAdvised(sd.Schema):
    """The hint for a type without its parameters, taken."""

    money: Annotated[sd.UserDefined, sd.UserDefined("extension:acme:x", "money")]
    note: sd.Nullable[Annotated[sd.UserDefined, sd.UserDefined("extension:acme:x", "note")]]
    step: Annotated[sd.Func, sd.Func((sd.I64(),), sd.I64())]


def test_the_advice_for_a_class_can_be_taken() -> None:
    assert str(sd.read_named("t", AsAdvised)._rel.schema) == "money: u!money, note: u!note?, step: func<i64 -> i64>"


MONEY = """
urn: extension:acme:money
types:
  - name: money
    structure: {amount: i64, currency: string}
scalar_functions:
  - name: add
    impls:
      - args: [{name: a, value: u!money}, {name: b, value: u!money}]
        return: u!money
"""


def test_operators_of_own_types_are_functions_of_the_own_catalogue() -> None:
    own: Any = sd.Functions(sd.standard_catalog().with_extension(MONEY))
    rows: Any = sd.read_named("m", {"m": sd.UserDefined("extension:acme:money", "money")})
    for call in (lambda r: r.m + r.m, lambda r: f.add(r.m, r.m)):
        with pytest.raises(SubstraitDslError) as caught:
            rows.select(x=call)
        assert "Functions(catalog).add(...)" in str(caught.value.hint)
    assert str(rows.select(x=lambda r: own.add(r.m, r.m)).schema["x"]) == "u!money"
    with pytest.raises(SubstraitDslError) as caught:  # the catalogue is the right one, the arguments are not
        rows.select(x=lambda r: own.add(r.m, 1))
    assert "Functions(catalog)" not in str(caught.value.hint)


@pytest.mark.parametrize(("habit", "advice"), HABITS, ids=[advice for _, advice in HABITS])
def test_advice(habit: Callable[[], object], advice: str) -> None:
    with pytest.raises(SubstraitDslError) as caught:
        habit()
    assert advice in str(caught.value)


def test_advice_names_what_exists() -> None:
    import_module("substrait_dsl.spark.session")  # an attribute of the package when it has been loaded
    row = T.c.id
    for advice in words("relation").values():
        assert hasattr(sd.Relation, re.split(r"[(,]", advice)[0]), advice
    for advice in words("writer").values():
        assert hasattr(sd.Relation, advice.partition("(")[0]), advice
    for name, advice in words("group").items():
        assert hasattr(sd.GroupBy, advice.partition("(")[0]) or hasattr(sd.Relation, advice.partition("(")[0]), advice
        assert not hasattr(sd.GroupBy, name), name
    for name, advice in words("measure").items():
        assert hasattr(sd.Measure, advice.partition("(")[0]), advice
        assert not hasattr(sd.Measure, name), name
    for advice in words("package").values():
        assert attrgetter(advice.partition("(")[0].strip())(sd), advice
    functions = {name for extension in standard_catalog().extensions.values() for name in extension.functions}
    for advice in words("functions").values():
        name = advice.partition("(")[0]
        assert name in functions or attrgetter(name.removeprefix("substrait_dsl."))(sd), advice
    assert not functions & set(words("absent"))
    for advice in words("expression").values():
        name = advice.partition("(")[0]
        if name.startswith("functions."):
            assert name.removeprefix("functions.") in functions, advice
        elif " " not in name:
            assert hasattr(row, name), advice


NEAR: list[tuple[str, str | None]] = [
    ("uper", "upper"),
    ("modulo", "modulus"),
    ("row_num", "row_number"),
    ("regexp_count", "regexp_count_substring"),
    ("std", "std_dev"),
    ("sun", "sum"),
    ("timezone", "assume_timezone"),
    ("instrr", None),  # not "is_true"
    ("decoded", None),  # not "mode"
    ("ever", None),
    ("match", None),  # that of all, or of any
]


@pytest.mark.parametrize(("name", "near"), NEAR)
def test_only_near_names_are_told(name: str, near: str | None) -> None:
    assert not hasattr(f, name)
    with pytest.raises(SubstraitDslError) as caught:
        getattr(f, name)
    assert caught.value.hint == (near and f'did you mean "{near}"?')


def test_files_of_any_name_are_parquet_if_that_is_said() -> None:
    files: Any = sd.read_files("x.csv", {"a": "string"}, format=sd.Parquet())
    assert list(files.columns) == ["a"]


def test_missing_names_are_missing() -> None:
    assert not hasattr(T, "where")
    assert not hasattr(T.c.id, "startswith")
    assert not hasattr(f, "year")
    assert not hasattr(sd, "scan_csv")
    assert not hasattr(T.to_plan(), "collect")
