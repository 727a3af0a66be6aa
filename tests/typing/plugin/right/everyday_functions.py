"""The functions for everyday work: the types of what they give."""

from typing import Literal

import substrait_dsl as sd
from substrait_dsl import everyday as e
from tests.typing.plugin.tables import customers, orders


class Body(sd.Schema):
    page: sd.Nullable[sd.String]
    size: sd.Nullable[sd.I64]


class Months(sd.Schema):
    due: sd.Nullable[sd.PrecisionTimestamp[Literal[6]]]
    host: sd.Nullable[sd.String]
    page: sd.Nullable[sd.String]
    body: sd.Nullable[sd.Struct[Body]]
    text: sd.Nullable[sd.String]
    month: sd.Date
    age: sd.I64
    key: sd.Nullable[sd.String]
    paid: sd.Nullable[sd.Date]


class Customers(sd.Schema):
    customer: sd.I64
    newest: sd.Nullable[sd.Date]
    pairs: sd.I64
    near: sd.Nullable[sd.FP64]
    usual: sd.Nullable[sd.String]
    orders: sd.List[sd.I64]
    median: sd.Nullable[sd.FP64]
    last: sd.Nullable[sd.String]


orders.select(
    due=lambda o: e.to_timestamp(o.comment, "%d/%m/%Y %H:%M", on_failure="return_null"),
    host=lambda o: e.parse_url(o.comment, "HOST"),
    page=lambda o: e.get_json(o.comment, "$.page"),
    body=lambda o: e.from_json(o.comment, sd.Struct[Body]),
    text=lambda o: e.to_json(o.comment),
    month=lambda o: e.date_trunc("MONTH", o.day),
    age=lambda o: e.date_diff("YEAR", o.day, e.last_day(o.day)),
    key=lambda o: e.sha2(o.comment, 512),
    paid=lambda o: e.to_date(o.comment, "%d/%m/%Y", on_failure="return_null"),
).as_(Months)
orders.group_by("customer").agg(
    newest=lambda o: e.last(o.day, "id"),
    pairs=lambda o: e.count_distinct(o.day, o.comment),
    near=lambda o: e.approx_percentile(o.weight, 0.5, accuracy=100),
    usual=lambda o: e.mode(o.comment),
    orders=lambda o: e.collect_list(o.id).order_by("day"),
    median=lambda o: e.percentile(o.weight, 0.5),
    last=lambda o: e.max(o.comment),
).as_(Customers)
customers.select(
    keys=lambda c: e.map_keys(c.notes),
    counts=lambda c: e.map_values(c.notes),
    entries=lambda c: e.map_entries(c.notes),
    hash=lambda c: e.xxhash64(c.name),
    tags=lambda c: e.sort_array(e.array_distinct(c.tags)),
).select("keys", "counts", "tags")
