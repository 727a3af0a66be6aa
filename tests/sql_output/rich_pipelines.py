"""Pipelines of many steps over three tables, with their rows."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import attrs

import substrait_dsl as sd
from substrait_dsl import everyday as e
from substrait_dsl import functions as f

ORDERS = sd.read_named(
    "orders",
    {
        "id": "i64",
        "customer": "i64?",
        "price": "decimal<10,2>?",
        "weight": "fp64?",
        "day": "date",
        "note": "string?",
        "size": "i32",
    },
)
CUSTOMERS = sd.read_named("customers", {"key": "i64", "name": "string", "country": "string?"})
EVENTS = sd.read_named("events", {"id": "i64", "at": "precision_timestamp<6>?", "is_open": "boolean?"})

BASKETS = sd.read_named("baskets", {"id": "i64", "items": "list<string?>?"})
POINTS = sd.read_named("points", {"x": "fp64?", "n": "i64?", "seen": "precision_timestamp_tz<6>?"})

ROWS: dict[str, list[tuple[Any, ...]]] = {
    "orders": [
        (1, 7, Decimal("12.50"), 0.5, date(2024, 1, 31), "a gift", 3),
        (2, 7, Decimal("-3.25"), -2.5, date(2024, 2, 29), "50% off, it's \\ cheap", -7),
        (3, 8, None, None, date(2023, 12, 31), None, 0),
        (4, None, Decimal("99999999.99"), float("inf"), date(2024, 1, 1), "", 2_000_000_000),
        (5, 9, Decimal("12.50"), 1e300, date(2024, 1, 31), "a gift", 3),
        (6, 8, Decimal("0.01"), float("nan"), date(1999, 12, 31), "é_ü", -1),
    ],
    "customers": [(7, "Ann", "NL"), (8, "Bob", None), (9, "Cem", "DE"), (10, "Dee", "NL")],
    "events": [
        (1, datetime(2024, 1, 31, 23, 59, 59, 999999), True),
        (2, None, None),
        (3, datetime(1969, 12, 31, 23, 59), False),
        (3, datetime(2024, 2, 29), True),
    ],
    "baskets": [(1, ["a", None, "b"]), (2, []), (3, None), (4, ["a"])],
    "points": [
        (1.0, 8, datetime(2024, 1, 1, 12, tzinfo=UTC)),
        (0.0, 0, datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)),
        (-2.5, -100, None),
        (None, None, datetime(2024, 1, 1, 12, tzinfo=UTC)),
        (float("inf"), 1, None),
        (0.49999999999999994, 1, None),
        (4503599627370497.5, 1, None),
    ],
}
SCHEMAS = {
    "orders": ORDERS.schema,
    "customers": CUSTOMERS.schema,
    "events": EVENTS.schema,
    "baskets": BASKETS.schema,
    "points": POINTS.schema,
}
TABLES = {name: sd.read_virtual(rows, SCHEMAS[name]) for name, rows in ROWS.items()}
"""The tables as rows in a plan."""


@attrs.frozen
class Rich:
    """A pipeline."""

    relation: sd.Relation[Any]
    is_ordered: bool = False
    """Whether its last step is an order in which no two rows are equal."""


GROUPED = ORDERS.group_by("customer").agg(
    orders=f.count(),
    total=lambda o: f.sum(o.price),
    mean=lambda o: f.avg(o.price),
    first=lambda o: f.min(o.day),
    notes=lambda o: f.string_agg(o.note, "; ").order_by("id"),
    large=lambda o: f.count().filter(o.price > 10),
)
NAMED = ORDERS.join(CUSTOMERS, on=lambda o, c: o.customer == c.key, how="left")

PAIRED = ORDERS.select("id", "customer", pair=lambda o: sd.struct_of(a=o.size, b=o.note))
PAIR = sd.Struct.of({"a": sd.I32(), "b": sd.String(nullable=True)})

EXTREMES = {"i8": 2**7, "i16": 2**15, "i32": 2**31, "i64": 2**63}


def overflowing(type_: str) -> sd.Relation[Any]:
    """Arithmetic of the largest and smallest integers, as each option has it."""
    limit = EXTREMES[type_]
    values = [-limit, -limit + 1, -7, -1, 1, 2, limit - 1]
    pairs = [(x, y) for x in values for y in values]
    table = sd.read_virtual([*pairs, (None, 1), (1, None)], {"x": f"{type_}?", "y": f"{type_}?"})
    computed: dict[str, Any] = {}
    for option in ("SATURATE", "SILENT"):
        for name in ("add", "subtract", "multiply", "divide"):
            computed[f"{name}_{option}"] = getattr(f, name)(sd.col("x"), sd.col("y"), overflow=option)
        computed[f"negate_{option}"] = f.negate(sd.col("x"), overflow=option)
        computed[f"abs_{option}"] = f.abs(sd.col("x"), overflow=option)
    computed["floored"] = f.modulus(sd.col("x"), sd.col("y"), division_type="FLOOR")
    return table.select("x", "y", **computed)


RICH: dict[str, Rich] = {
    "structs": Rich(
        PAIRED.filter(lambda o: (o.pair != sd.lit((3, "a gift"), PAIR)) | (o.id < 2)).select(
            "pair",
            size=lambda o: o.pair["a"] + 1,
            note=lambda o: f.coalesce(o.pair["b"], "none"),
            some=lambda o: sd.when(o.id > 2).then(o.pair).otherwise(None),
            is_empty=lambda o: o.pair == sd.lit((0, None), PAIR),
        )
    ),
    "groups by structs": Rich(
        PAIRED.group_by("pair").agg(orders=f.count()).filter(lambda g: g.pair.is_not_null()).select("orders", "pair")
    ),
    "different structs": Rich(
        PAIRED.select("pair").union_all(PAIRED.filter(lambda o: o.id > 3).select("pair")).distinct()
    ),
    "a join by structs": Rich(
        PAIRED.join(PAIRED, on=lambda a, b: f.is_not_distinct_from(a.pair, b.pair) & (a.id < b.id)).emit([0, 3, 5])
    ),
    **{f"extremes of {type_}": Rich(overflowing(type_)) for type_ in ("i8", "i64")},
    "filters and an order": Rich(
        ORDERS.filter(lambda o: (o.price > 1) | o.note.is_null()).sort(sd.desc("price"), "id"), is_ordered=True
    ),
    "groups": Rich(GROUPED.filter(lambda g: g.orders > 1).sort(sd.desc("customer")), is_ordered=True),
    "groups of groups": Rich(GROUPED.group_by("orders").agg(customers=f.count(), most=lambda g: f.max(g.total))),
    "a left join": Rich(NAMED.select("id", "name", country=lambda r: f.coalesce(r.country, "?"))),
    "what a left join makes NULL": Rich(
        CUSTOMERS.join(ORDERS, on=lambda c, o: c.key == o.customer, how="left").select(
            "key",
            least=lambda r: f.least(r["key"], r["id"]),
            greatest=lambda r: f.greatest(r["size"], r["size"] + 1),
            inside=lambda r: sd.lit(2, "i64").between(r["id"], 3),
            most=lambda r: f.add(r["size"], r["size"], overflow="SATURATE"),
        )
    ),
    "a full join": Rich(ORDERS.join(CUSTOMERS, on=lambda o, c: o.customer == c.key, how="outer").select("id", "name")),
    "an anti join": Rich(CUSTOMERS.join(ORDERS, on=lambda c, o: c.key == o.customer, how="left_anti")),
    "a subquery": Rich(
        ORDERS.filter(lambda o: o.customer.is_in(CUSTOMERS.filter(lambda c: c.country == "NL").select("key")))
    ),
    "a correlated subquery": Rich(
        CUSTOMERS.filter(lambda c: sd.exists(ORDERS.filter(lambda o: (o.customer == c.key) & (o.price > 5))))
    ),
    "windows": Rich(
        ORDERS.select(
            "id",
            place=f.rank().over(partition_by="customer", order_by=sd.desc("price")),
            before=lambda o: f.lag(o.price).over(order_by="id"),
            running=lambda o: f.sum(o.size.cast("i64")).over(order_by="id", rows=(None, 0)),
        ).sort("id"),
        is_ordered=True,
    ),
    "the latest of each": Rich(ORDERS.first_of(1, partition_by="customer", order_by=[sd.desc("day"), "id"])),
    "the first with ties": Rich(ORDERS.top_n(1, sd.desc("day"), with_ties=True).select("id", "note")),
    "integers": Rich(
        ORDERS.select(
            "id",
            half=lambda o: f.divide(o.size, 2),
            rest=lambda o: o.size % 3,
            negative=lambda o: -o.size,
            wide=lambda o: o.size.cast("i64") * 4,
        )
    ),
    "decimals": Rich(
        ORDERS.select(
            "id",
            taxed=lambda o: o.price * Decimal("1.21"),
            part=lambda o: o.price / Decimal("3.0"),
            up=lambda o: f.ceil(o.price),
        )
    ),
    "floats": Rich(
        ORDERS.select("id", "weight", twice=lambda o: o.weight * 2.0, odd=lambda o: f.is_nan(o.weight)).sort(
            "weight", "id"
        ),
        is_ordered=True,
    ),
    "texts": Rich(
        ORDERS.select(
            "id",
            shout=lambda o: f.concat(o.note, "!", "\\'\n"),
            many=lambda o: f.char_length(o.note),
            off=lambda o: f.like(o.note, "50% off%"),
            start=lambda o: f.substring(o.note, 1, 3),
        )
    ),
    "times": Rich(
        EVENTS.select(
            "id",
            year=lambda e: f.extract("YEAR", e.at),
            minute=lambda e: f.extract("MINUTE", e.at),
            day=lambda e: e.at.cast("date?"),
            later=lambda e: f.add(e.at, sd.lit(sd.YearMonths(0, 1))),
        ).sort("id", "later"),
        is_ordered=True,
    ),
    "truths": Rich(
        EVENTS.select(
            "id",
            no=lambda e: ~e.is_open,
            either=lambda e: e.is_open | e.at.is_null(),
            sure=lambda e: f.is_true(e.is_open),
        )
    ),
    "a union of differences": Rich(
        ORDERS.select("customer")
        .subtract(CUSTOMERS.select(customer=lambda c: c.key.cast("i64?")))
        .union_all(EVENTS.select(customer=lambda e: e.id.cast("i64?")))
        .sort("customer"),
        is_ordered=True,
    ),
    "grouping sets": Rich(NAMED.group_by("country", "customer").rollup(n=f.count())),
    "choices": Rich(
        ORDERS.select(
            "id",
            size=lambda o: sd.when(o.price > 100).then("large").when(o.price > 1).then("small").otherwise("none"),
            most=lambda o: f.greatest(o.size, 0),
        )
    ),
    "the first two of each": Rich(
        CUSTOMERS.lateral_join(
            lambda c: ORDERS.filter(lambda o: o.customer == c.key).sort("id").limit(2).select("id"), how="left"
        ).select("name", "id")
    ),
    "a total of each": Rich(
        CUSTOMERS.lateral_join(
            lambda c: ORDERS.filter(lambda o: o.customer == c.key).aggregate(
                n=f.count(), total=lambda o: f.sum(o.price)
            ),
            lambda c, t: t.n > 0,
        ).select("key", "n", "total")
    ),
    "those of which one is larger": Rich(
        ORDERS.lateral_join(
            lambda o: ORDERS.filter(lambda other: other.price > o.price).select("id"),
            how="left_semi",
        ).select("id")
    ),
    "elements": Rich(
        BASKETS.unnest("items").filter(lambda b: b.element.is_not_null()).select("id", "element", "offset")
    ),
    "elements of pairs": Rich(
        CUSTOMERS.select("key", pair=lambda c: sd.list_of(c.name, c.country)).unnest("pair").select("key", "element")
    ),
    "rounded": Rich(
        ORDERS.select(
            "id",
            tenths=lambda o: f.round(o.price, 1),
            whole=lambda o: f.round(o.price, 0),
            all=lambda o: f.round(o.price, 4),
            same=lambda o: f.round(o.size, 1),
        )
    ),
    "logarithms": Rich(
        POINTS.select(
            "x",
            "n",
            natural=lambda p: f.ln(p.x),
            tens=lambda p: f.log10(p.n),
            twos=lambda p: f.log2(p.n),
            square=lambda p: f.power(p.x, 2.0),
            whole=lambda p: f.round(p.x, 0),
        ).filter(lambda p: ((p.x == 1.0) | (p.x <= 0.0)) | (p.x > 1e16))
    ),
    "points in time": Rich(
        POINTS.filter(lambda p: p.seen < sd.lit(datetime(2025, 1, 1, tzinfo=UTC), "precision_timestamp_tz<6>"))
        .group_by("seen")
        .agg(n=f.count(), last=lambda p: f.max(p.seen))
        .sort(sd.desc("seen"))
        .select("n", is_last=lambda p: p.last == p.seen),  # what engines give for a point in time differs in Python
        is_ordered=True,
    ),
    "rows without NULL": Rich(
        ORDERS.drop_nulls("price", "note")
        .with_columns(twice=lambda o: o.price + o.price)
        .group_by("note")
        .agg(n=f.count())
    ),
    "values for NULL": Rich(ORDERS.fill_null(note="none", price=Decimal("0.00")).select("id", "note", "price")),
    "remainders of decimals": Rich(
        ORDERS.select(
            "id",
            of_parts=lambda o: f.modulus(o.price, Decimal("0.7")),
            of_whole=lambda o: f.modulus(o.price, o.size.cast("decimal<13,3>")),
        ).filter(lambda o: o.id != 3)
    ),
    "starts of units": Rich(
        ORDERS.select(
            "id",
            year=lambda o: e.date_trunc("YEAR", o.day),
            quarter=lambda o: e.date_trunc("QUARTER", o.day),
            month=lambda o: e.date_trunc("MONTH", o.day),
            week=lambda o: e.date_trunc("WEEK", o.day),
            day=lambda o: e.date_trunc("DAY", o.day),
        )
    ),
    "starts of units of timestamps": Rich(
        EVENTS.select(
            "id",
            quarter=lambda r: e.date_trunc("QUARTER", r.at),
            week=lambda r: e.date_trunc("WEEK", r.at),
            day=lambda r: e.date_trunc("DAY", r.at),
        )
    ),
    "columns as rows": Rich(CUSTOMERS.unpivot("name", "country", name="what")),
    "names in need of quotes": Rich(
        ORDERS.select("id", "note", lambda o: (o.id + 1).alias("Id"), "size")
        .rename({"id": "Select", "note": 'a "b" `c`', "size": "é.ü"})
        .sort("Select"),
        is_ordered=True,
    ),
    "names that are one to an engine": Rich(
        ORDERS.select(lambda o: (o.size - 2).alias("A"), lambda o: (0 - o.id).alias("a")).sort("a"), is_ordered=True
    ),
    "what is used twice": Rich(
        (shared := sd.shared(GROUPED.select("customer", "total")))
        .join(shared, on=lambda a, b: a.total < b.total)
        .emit([0, 1, 2])
    ),
}
