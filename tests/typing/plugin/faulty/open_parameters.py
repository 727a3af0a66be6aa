"""Functions that ask for at least some columns, and relations that have not these."""

from typing import TypeVar

import substrait_dsl as sd
from tests.typing.plugin.tables import orders


class Weighed(sd.Schema):
    weight: sd.FP64


class Commented(sd.Schema):
    id: sd.I64
    comment: sd.Nullable[sd.String]


W = TypeVar("W", bound=Weighed)
C = TypeVar("C", bound=Commented)


def heavy(rows: sd.Relation[W], least: float = 100.0) -> sd.Relation[W]:
    return rows.filter(lambda r: r.weight > least)


def commented(first: sd.Relation[C], *rest: sd.Relation[C], last: sd.Relation[C] | None = None) -> sd.Relation[C]:
    return first.filter(lambda r: r.comment.is_not_null())


class Steps:
    def heavy(self, rows: sd.Relation[W]) -> sd.Relation[W]:
        return heavy(rows)

    @staticmethod
    def both(rows: sd.Relation[W], others: sd.Relation[C]) -> sd.Relation[W]:
        return heavy(rows)


narrow = orders.select("id", wight="weight")
heavy(narrow)
# E: heavy: there is no column "weight": fp64, which Weighed declares; there are "id", "wight"; did you mean
#    "wight"?  [substrait-unknown-field]
heavy(orders.select("id", weight=lambda o: o.weight.cast(sd.FP32)), 1.0)
# E: heavy: the columns are not those of Weighed: weight is fp32, declared fp64  [substrait-schema]
heavy(rows=orders.select(weight=lambda o: sd.when(o.open).then(o.weight).otherwise(None)))
# E: heavy: the columns are not those of Weighed: weight is nullable (fp64?), declared required; declare it
#    Nullable[...], or give it a value and say so: functions.coalesce(x, ...).assert_not_null()  [substrait-schema]
heavy(orders.cross(narrow.rename(wight="weight")))
# E: heavy: column "weight" is ambiguous: it stands at positions 3, 9; rename or drop one of them first, or say which by
#    its position: col(3) or col(9); join(..., using="weight") leaves one of a key  [substrait-ambiguous-field]
heavy(orders, "x")
# E: Argument 2 to "heavy" has incompatible type "str"; expected "float"  [arg-type]
heavy("orders")
# E: Argument 1 to "heavy" has incompatible type "str"; expected "Relation[Never]"  [arg-type]
commented(orders, narrow, last=orders.select("id"))
# E: commented: there is no column "comment": string?, which Commented declares; there are "id",
#    "wight"  [substrait-unknown-field]
# E: commented: there is no column "comment": string?, which Commented declares; there is
#    "id"  [substrait-unknown-field]
heavy(orders).filter(lambda o: o.wait > 1.0)
# E: filter: there is no column "wait"; there are "id", "customer", "price", "weight", "day", "open", "rank",
#    "comment"  [substrait-unknown-field]
Steps().heavy(narrow)
# E: heavy: there is no column "weight": fp64, which Weighed declares; there are "id", "wight"; did you mean
#    "wight"?  [substrait-unknown-field]
Steps.both(orders, narrow)
# E: both: there is no column "comment": string?, which Commented declares; there are "id",
#    "wight"  [substrait-unknown-field]
