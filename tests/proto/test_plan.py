"""What stands around the relations of a plan, and its bytes and JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import metadata

import pytest
from google.protobuf import json_format
from substrait.plan_pb2 import Plan

from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.plan import AlgebraPlan, Root
from substrait_dsl.errors import SchemaError
from substrait_dsl.proto.plan import encode_plan, to_bytes, to_json
from tests.proto.plans import T, add, col, encoded, equal, i64, outer, plan_of, table


def test_a_plan_names_the_version_of_the_installed_messages_and_its_producer() -> None:
    version = encoded(T).version
    numbers = (version.major_number, version.minor_number, version.patch_number)
    assert ".".join(map(str, numbers)) == metadata.version("substrait-protobuf")
    assert version.producer.split()[0] == "substrait_dsl"
    assert not version.git_hash


def test_variables_are_evaluated_once_per_plan() -> None:
    assert encoded(T).execution_behavior.variable_eval_mode == 1


def test_roots_carry_all_names_depth_first() -> None:
    rel = table("t", p=t.Struct.of({"x": t.I8(), "y": t.List(t.Struct.of({"z": t.I8()}))}), q=t.I8())
    assert list(encoded(rel).relations[0].root.names) == ["p", "x", "y", "z", "q"]


def test_several_roots_stay_in_order() -> None:
    plan = encode_plan(plan_of(T, table("u", k=t.I8())))
    assert [relation.root.input.read.named_table.names[0] for relation in plan.relations] == ["t", "u"]


def test_equal_plans_are_equal_bytes() -> None:
    def build() -> bytes:
        rel = r.Project(T, (add(col(T, 0), i64(1)), equal(col(T, 0), col(T, 1))), ("x", "y"))
        return to_bytes(encoded(r.Filter(rel, col(rel, 4))))

    assert build() == build()


def test_bytes_and_json_are_the_same_plan() -> None:
    plan = encoded(r.Filter(T, equal(col(T, 0), i64(2**60))))
    assert Plan.FromString(to_bytes(plan)) == plan
    assert json_format.Parse(to_json(plan), Plan()) == plan
    document = json.loads(to_json(plan))
    assert document["extensionUrns"][0]["urn"] == "extension:io.substrait:functions_comparison"
    arguments = document["relations"][0]["root"]["input"]["filter"]["condition"]["scalarFunction"]["arguments"]
    assert arguments[1] == {"value": {"literal": {"i64": str(2**60)}}}  # 64-bit numbers are strings in JSON


def test_a_root_that_refers_to_a_row_that_is_not_there_is_refused() -> None:
    lost = r.Filter(T, equal(col(T, 0), outer(7, 0, t.I64())))
    with pytest.raises(SchemaError, match="does not stand in"):
        encode_plan(AlgebraPlan((Root(lost, ("a", "b", "s")),)))


def test_only_this_part_of_the_library_loads_protobuf() -> None:
    program = (
        "import sys, substrait_dsl, substrait_dsl.algebra.relations, substrait_dsl.algebra.plan;"
        "assert not [m for m in sys.modules if m.startswith(('google.protobuf', 'substrait.'))]"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
