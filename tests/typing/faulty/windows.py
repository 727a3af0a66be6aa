"""Windows, lambdas and parameters that are wrong."""

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.tables import Orders


class Ranked(sd.Schema):
    rank: sd.I64


def windows(o: Orders) -> None:
    f.row_number() + 1  # E: a window function has no window yet
    f.row_number().alias("n")  # E: no such method
    f.sum(o.o_rank).partition_by("o_custkey")  # E: no such method
    f.row_number().over("o_custkey")  # E: the parts are given by name
    f.row_number().over(partition_by=1.5)  # E: no column
    f.row_number().over(rows=3)  # E: no pair
    f.row_number().over(rows=("UNBOUNDED PRECEDING", 0))  # E: SQL's words
    f.row_number().over(rows=(o.o_rank, 0))  # E: before or after?
    f.row_number().over(order="o_custkey")  # E: no such argument
    sd.preceding("3")  # E: no distance
    f.lag(o.o_comment, "1").over()  # E: str for i32
    Ranked(rank=f.rank().over())  # E: nullable for required
    f.upper(f.lag(o.o_orderkey).over())  # E: i64 for string


def others(o: Orders) -> None:
    f.transform(o.o_tags, lambda tag, other: tag)  # E: one parameter
    f.transform(o.o_orderkey, lambda key: key)  # E: no list
    sd.lambda_(sd.I64, lambda x: x)  # E: no dict
    sd.parameter("x", sd.I64)  # E: no number
    sd.parameter(0, int)  # E: no type
    sd.current_date() + 1  # E: a number of what?
    sd.current_timestamp(13)  # E: no such precision
    sd.map_of(5)  # E: no entries
    o.o_tags.keep(1.5)  # E: no field
