"""Mistakes with extended expressions, each marked."""

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.tables import Orders

sd.ExtendedExpression(Orders, x=lambda o: o.o_wieght)  # E: a misspelt column
sd.ExtendedExpression(Orders, lambda o: f.max(o.o_weigth).alias("most"))  # E: a misspelt column
sd.ExtendedExpression(Orders, x=lambda o: o.o_weight + o.o_comment)  # E: no such sum
sd.ExtendedExpression(5, x=1)  # E: a number has no columns
sd.ExtendedExpression.from_bytes("text")  # E: a text is no bytes
