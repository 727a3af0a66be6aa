"""What follows from the relations of other modules; each step stands in a function of its own."""

import base
from helpers import key_of, newest

import substrait_dsl as sd

KEYS = ["day", "note"]
LATE = sd.col("key") * base.RATE > 5


def by_lambda() -> None:
    base.load().filter(lambda o: o.note.is_null())


def by_name() -> None:
    base.load().filter(sd.col("note").is_null())


def by_item() -> None:
    orders = base.load()
    orders.filter(orders["note"].is_null())


def by_string() -> None:
    base.load().select("day", "note")


def from_function() -> None:
    base.brief().filter(sd.col("price") > 1)


def from_inferred() -> None:
    base.dear.filter(sd.col("note") == "x")


def from_sums() -> None:
    base.sums.filter(lambda r: r.total > 5)


def from_attribute() -> None:
    base.Source().notes.filter(sd.col("note") == "x")


def from_property() -> None:
    base.Source().loaded.drop("note")


def from_variable() -> None:
    base.load().sort(base.DAY)


def from_held_columns() -> None:
    base.load().filter(LATE)


def from_held_names() -> None:
    base.load().select(*KEYS)


def through_generic() -> None:
    newest(base.load()).select("note")


def through_protocol() -> None:
    base.load().filter(lambda o: key_of(o) > 5)


def enter_lambda() -> None:
    base.load().filter(lambda o: o.home["zip"] == 12345)


def all_rows() -> None:
    base.load().union_all(base.archive)


def with_join() -> None:
    base.load().join(base.dear, lambda o, d: o.key == d.key).select(0, 1, "day")


class Report:
    rows = base.load().select("day", "price")

    def run(self) -> None:
        self.rows.sort("day")


cheap = base.load().filter(lambda o: o.price < 10).select("key")
