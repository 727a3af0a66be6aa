"""Schemas that are no classes give relations of unknown rows."""

from typing import assert_type

from pyspark.sql.types import LongType, StructField, StructType

import substrait_dsl as sd
from substrait_dsl import DynRow, Relation
from substrait_dsl.fluent.expr import DynExpr

by_dict = sd.read_named("orders", {"o_orderkey": sd.I64, "o_comment": sd.Nullable[sd.String]})
assert_type(by_dict, Relation[DynRow])
assert_type(by_dict.c.o_comment, DynExpr)

by_spark = sd.read_named("orders", StructType([StructField("o_orderkey", LongType(), nullable=False)]))
assert_type(by_spark, Relation[DynRow])
assert_type(by_spark.filter(lambda r: r.o_orderkey > 3).select("o_orderkey"), Relation[DynRow])

by_relation = sd.read_virtual([(1,)], by_spark.schema)
assert_type(by_relation, Relation[DynRow])

by_arrow = sd.read_virtual([(1,)], by_spark.schema.to_arrow())  # pyarrow has no types: its schema is Any
by_arrow.filter(lambda r: r.o_orderkey > 3)
