"""Functions called with what no overload takes."""

from substrait_dsl import functions as f
from tests.typing.own import functions as own
from tests.typing.tables import Orders


def calls(o: Orders) -> None:
    f.summ(o.o_orderkey)  # E: no such function
    f.add(o.o_orderkey, o.o_comment)  # E: i64 and string
    f.add(o.o_orderkey, o.o_weight)  # E: i64 and fp64
    f.lt(o.o_totalprice, o.o_weight)  # E: decimal and fp64
    f.add(o.o_orderkey)  # E: one argument is missing
    f.add(o.o_orderkey, 1, overflow="WRAP")  # E: an unknown value of an option
    f.add(o.o_orderkey, 1, overflow=["ERROR", "WRAP"])  # E: the same in a list
    f.add(o.o_orderkey, 1, rounding="FLOOR")  # E: an option that the overload lacks
    f.add(x=o.o_orderkey, y=1)  # E: arguments have no names
    f.upper(o.o_orderkey)  # E: i64 for string
    f.concat(o.o_comment, 1)  # E: int for string
    f.substring(o.o_comment, "1", 2)  # E: str for i32
    f.extract("YEARS", o.o_orderdate)  # E: an unknown component
    f.extract("HOUR", o.o_orderdate)  # E: a day has no hours
    f.extract("YEAR", o.o_comment)  # E: nor a string a year
    f.sum(o.o_comment)  # E: a sum of strings
    f.sum(f.sum(o.o_orderkey))  # E: an aggregate of an aggregate
    f.and_(o.o_open, o.o_orderkey)  # E: a number is no condition
    f.coalesce(o.o_orderkey, o.o_comment)  # E: two types
    f.negate(o.o_comment)  # E: minus a string
    f.count().upper()  # E: a measure has no such method
    f.count() + f.row_number()  # E: a window function is no value
    f.abs(f.row_number())  # E: a window function is no value


def own_calls(o: Orders) -> None:
    own.whisper(o.o_comment)  # E: no such function
    own.shout(o.o_comment, o.o_orderkey)  # E: i64 for i32
    own.date(o.o_taken, "FIRST")  # E: an unknown word
    own.date(o.o_taken, "LATEST", zone="CET")  # E: an unknown value of an option
    own.longest()  # E: one list at least
    own.product(o.o_weight)  # E: fp64 for decimal
