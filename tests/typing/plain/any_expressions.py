"""A function that is declared to give a `DynExpr` may give any expression, and take any."""

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.tables import Orders

orders = sd.read_named("orders", Orders)


def there() -> sd.DynExpr:
    return sd.exists(orders)


def scaled(x: sd.DynExpr) -> sd.DynExpr:
    return sd.scalar_subquery(orders.select("o_orderkey")) * x


def compared() -> sd.DynExpr:
    return sd.col("o_orderkey") > 1


def typed_constant() -> sd.DynExpr:
    return sd.lit(5, sd.I32)


def of_row(row: Orders) -> sd.DynExpr:
    return row.o_orderkey * 2


def column(row: Orders) -> sd.DynExpr:
    return row.o_comment


def function(row: Orders) -> sd.DynExpr:
    return f.upper(row.o_comment)


def converted(row: Orders) -> sd.DynExpr:
    return row.o_orderkey.cast(sd.String)


def in_list(row: Orders) -> sd.DynExpr:
    return row.o_orderkey.is_in([1, 2]) & there()


orders.filter(there(), in_list)
orders.select(a=of_row, b=lambda o: scaled(o.o_orderkey), c=typed_constant(), d=column, e=function, g=converted)
orders.filter(lambda o: compared())
