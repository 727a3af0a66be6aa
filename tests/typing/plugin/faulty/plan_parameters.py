"""Values of plan parameters: their numbers and types are those of the parameters in the relations of the plan."""

import substrait_dsl as sd
from tests.typing.plugin.tables import Orders

orders = sd.read_named("orders", Orders)
dear = orders.filter(lambda o: o.weight > sd.parameter(1, sd.FP64))

sd.Plan(dear, parameter_bindings={1: "x"})
# E: Plan, parameter 1: 'x' does not fit fp64: it takes a float, not a str  [substrait-literal]
sd.Plan(dear, parameter_bindings={1: 1.0, 2: 3})
# E: Plan, parameter 2: no expression of the plan uses this parameter; the parameters of the plan are
#    1  [substrait-invalid-argument]
sd.Plan(orders, parameter_bindings={0: 1})
# E: Plan, parameter 0: no expression of the plan uses this parameter  [substrait-invalid-argument]
values = {1: "x"}
sd.Plan(orders, dear, parameter_bindings=values)
# E: Plan, parameter 1: 'x' does not fit fp64: it takes a float, not a str  [substrait-literal]
sd.Plan(dear, parameter_bindings={1: sd.lit(1.0, sd.FP32)})
# E: Plan, parameter 1: expected a literal of fp64, got one of fp32  [substrait-literal]
sd.Plan(orders).with_roots(dear, parameter_bindings={1: None})
# E: with_roots, parameter 1: NULL does not fit fp64, which is required  [substrait-literal]
sd.Plan(dear, orders.filter(lambda o: o.day == sd.parameter(1, sd.Date)), parameter_bindings={1: 1.0})
# E: Plan: parameter 1 is fp64 in one expression and date in another  [substrait-type-mismatch]
