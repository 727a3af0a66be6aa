"""Digests: one for what is equal, and the same for every machine and version."""

from __future__ import annotations

import subprocess
import sys
from hashlib import sha256

from hypothesis import HealthCheck, given, settings
from substrait.plan_pb2 import ExecutionBehavior
from substrait.plan_pb2 import Plan as PlanMessage
from substrait.type_pb2 import Type as TypeMessage

import substrait_dsl as sd
from substrait_dsl.algebra.node import Rel
from tests.trees.relations import plans

ORDERS = sd.read_named("orders", {"id": "i64", "price": "fp64?"})


def test_it_is_the_hash_of_the_message_without_its_version() -> None:
    """Of a message that is written here by hand, field by field."""
    message = PlanMessage()
    root = message.relations.add().root
    root.names.extend(["id", "price"])
    read = root.input.read
    read.common.direct.SetInParent()
    read.named_table.names.append("orders")
    read.base_schema.names.extend(["id", "price"])
    struct = read.base_schema.struct
    struct.types.add().i64.nullability = TypeMessage.NULLABILITY_REQUIRED
    struct.types.add().fp64.nullability = TypeMessage.NULLABILITY_NULLABLE
    struct.nullability = TypeMessage.NULLABILITY_REQUIRED
    message.execution_behavior.variable_eval_mode = ExecutionBehavior.VARIABLE_EVALUATION_MODE_PER_PLAN
    expected = sha256(message.SerializeToString(deterministic=True)).hexdigest()
    assert ORDERS.to_plan().digest() == f"sha256:{expected}"


def test_another_process_has_the_same() -> None:
    program = (
        "import substrait_dsl as sd\n"
        "orders = sd.read_named('orders', {'id': 'i64', 'price': 'fp64?'})\n"
        "print(orders.filter(lambda o: (o.price > 5.0) & (o.id > 1)).to_plan().digest())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert found == {ORDERS.filter(lambda o: (o.price > 5.0) & (o.id > 1)).to_plan().digest()}


def test_it_is_of_what_the_plan_says() -> None:
    named = ORDERS.with_columns(half=lambda o: o.price / 2.0).filter(lambda o: o.half > 1.0).select("id")
    other = ORDERS.with_columns(h=lambda o: o.price / 2.0).filter(lambda o: o.h > 1.0).select("id")
    assert named.to_plan().digest() == other.to_plan().digest()
    different = [
        named.rename({"id": "key"}),
        ORDERS.with_columns(h=lambda o: o.price / 3.0).filter(lambda o: o.h > 1.0).select("id"),
        named.limit(10),
    ]
    assert len({each.to_plan().digest() for each in [named, *different]}) == 4
    assert sd.Plan(named, evaluation_mode="per_record").digest() != named.to_plan().digest()
    expressions = sd.ExtendedExpression(ORDERS.schema, half=lambda o: o.price / 2.0)
    assert expressions.digest() == sd.ExtendedExpression.from_bytes(expressions.to_bytes()).digest()


def test_constants_that_are_equal_are_written_alike() -> None:
    """NaN is one constant, whatever its sign; 0.0 and -0.0 are two."""
    nan, other, zero, negative = (
        ORDERS.with_columns(v=sd.lit(value)).to_plan() for value in (float("nan"), -float("nan"), 0.0, -0.0)
    )
    assert (nan == other, nan.to_bytes() == other.to_bytes(), nan.digest() == other.digest()) == (True, True, True)
    assert (zero == negative, zero.digest() == negative.digest()) == (False, False)


@settings(max_examples=60, suppress_health_check=list(HealthCheck), deadline=None)
@given(plans())
def test_a_plan_that_is_read_back_has_the_digest_of_the_one_written(rel: Rel) -> None:
    plan = sd.Relation(rel).to_plan()
    assert sd.Plan.from_bytes(plan.to_bytes()).digest() == plan.digest()
    assert sd.Plan.from_proto(plan.to_proto()).digest() == plan.digest()
