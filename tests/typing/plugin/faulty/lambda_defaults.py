"""Values that only their class is known of: defaults of lambdas, and times where a date is wanted."""

import datetime as dt

import substrait_dsl as sd
from tests.typing.plugin.tables import orders


def compared(least: int, name: str) -> None:
    orders.filter(lambda o, least=least: o.comment == least)
    # E: filter: no overload takes equal(string?, int); there is equal(x: any1, y: any1) ->
    #    boolean  [substrait-function-not-found]
    orders.filter(lambda o, name=name: o.id == name)
    # E: filter: no overload takes equal(i64, str); str does not fit i64: it takes an int, not a
    #    str  [substrait-function-not-found]
    orders.select(x=lambda o, name=name: o.weight * name)
    # E: select, column "x": no overload takes multiply(fp64, str); str does not fit fp64: it takes a float, not a
    #    str  [substrait-function-not-found]


def until(when: dt.datetime) -> sd.Relation:
    orders.filter(lambda o: o.day <= when)
    # E: no overload takes lte(date, datetime); the day of a datetime is its .date(); x.cast(PrecisionTimestamp(6)) is
    #    the beginning of a day  [substrait-function-not-found]
    orders.filter(lambda o, when=when: o.day < when)
    # E: filter: no overload takes lt(date, datetime); the day of a datetime is its .date();
    #    x.cast(PrecisionTimestamp(6)) is the beginning of a day  [substrait-function-not-found]
    return orders.filter(lambda o: o.day == when)
    # E: Unsupported operand types for == ("Expr[Date, Req]" and "datetime")  [operator]
