"""Plans of earlier versions in protobuf's text form, and what they are today."""

from __future__ import annotations

from typing import Any

from google.protobuf import json_format, text_format
from substrait.plan_pb2 import Plan

from substrait_dsl.algebra.findings import Finding
from substrait_dsl.proto.legacy import modern_plan, modern_plan_from_json
from substrait_dsl.proto.legacy_schema import old_plan_class

URIS = """
  extension_uris { extension_uri_anchor: 1 uri: "/functions_arithmetic.yaml" }
  extension_uris { extension_uri_anchor: 2 uri: "https://example.com/mine.yaml" }
  extensions { extension_function { extension_uri_reference: 1 function_anchor: 5 name: "add:i64_i64" } }
  extensions { extension_type { extension_uri_reference: 2 type_anchor: 6 name: "point" } }
  extensions { extension_type_variation { extension_uri_reference: 2 type_variation_anchor: 7 name: "odd" } }
"""
"""Declarations of a function, a type and a variation, by URIs."""


def old(text: str, version: str = "0.50") -> Any:
    """A plan that holds what the messages of then could, written in protobuf's text form."""
    plan: Any = old_plan_class()()
    plan.version.major_number, plan.version.minor_number = map(int, version.split("."))
    return text_format.Parse(text, plan)


def modern(text: str, version: str = "0.50", findings: list[Finding] | None = None) -> Plan:
    """What bytes and JSON of an old plan are today; both are the same."""
    plan = old(text, version)
    from_bytes = modern_plan(plan.SerializeToString(), findings)
    assert modern_plan_from_json(json_format.MessageToJson(plan)) == from_bytes
    from_bytes.ClearField("version")
    return from_bytes


def relation(text: str) -> str:
    return f"relations {{ rel {{ {text} }} }}"


def expression(text: str) -> str:
    return relation(f"project {{ expressions {{ {text} }} }}")


def type_(text: str) -> str:
    return relation(f"read {{ base_schema {{ struct {{ types {{ {text} }} }} }} }}")
