"""Lateral and physical joins, exchanges, windows, writes, hints called with what they do not take."""

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.tables import Customers, Orders

orders = sd.read_named("orders", Orders)
customers = sd.read_named("customers", Customers)

orders.lateral_join(customers)  # E: the right side is made by a lambda
orders.lateral_join(lambda o: o.o_rank)  # E: of which comes a relation
orders.lateral_join(lambda o: customers.filter(lambda c: c.c_custkey == o.o_custky))  # E: a misspelt column
orders.lateral_join(lambda o: customers, how="right")  # E: the left row comes first
orders.lateral_join(lambda o: customers, lambda o, c: c.o_custkey == o.o_custkey)  # E: the sides are swapped
orders.hash_join(customers, lambda o, c: [o.o_custkey == c.c_name])  # E: other types
orders.hash_join(customers, "key", build="both")  # E: one side
orders.hash_join(customers, 5)  # E: no key
orders.hash_join(customers, "key", residual=lambda o, c: o.o_rank)  # E: a number is no condition
orders.merge_join(customers, "key", build="left")  # E: no hash table
orders.nested_loop_join(customers, how="full")  # E: an unknown join type
sd.join_key("a", "b", "equal")  # E: an unknown comparison
orders.top_n("o_rank", 5)  # E: the count comes first
orders.exchange("o_custkey")  # E: a name is no kind of exchange
orders.exchange(sd.round_robin(), partition_count="4")  # E: a count is a number
orders.window(n=lambda o: o.o_rank)  # E: an expression is no window function
orders.window(n=f.count(), method="hash")  # E: an unknown method
orders.aggregate("o_custkey", n=f.count(), method="hashing")  # E: an unknown method
orders.write(5)  # E: a number is no table
orders.write("t", "append")  # E: an unknown operation
orders.write("t", "ctas", create_mode="overwrite")  # E: an unknown mode
sd.update("orders", Orders, {"o_rank": 1})  # E: which rows?
sd.update("orders", Orders, {"o_rank": 1}, where=lambda o: o.o_rank)  # E: a number is no condition
sd.files_target("s3://x", "xml")  # E: an unknown format
sd.read_named("orders", Orders, properties={"a": 1})  # E: a property is a text
sd.read_files(5, Orders)  # E: a number is no path
sd.read_iceberg("s3://t/v1.json", Orders, snapshot_timestamp="2026-01-01")  # E: a text is no time
sd.extension_leaf("leaf", Orders)  # E: a text is no message
orders.hint("broadcast")  # E: a number of rows
orders.hint(saved=[(1, "hash")])  # E: an unknown data structure
orders.with_extension(sd.AnyMessage("x/y"))  # E: a message is no extension yet
sd.shared("orders")  # E: a name is no relation
