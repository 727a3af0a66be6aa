"""Plans as the command line reads and prints them."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from substrait_dsl.errors import error_context

if TYPE_CHECKING:
    from substrait_dsl.fluent.plan import Plan

STANDARD_INPUT = "-"

plan_argument = click.argument("plan", metavar="PLAN")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")


def read_plan(path: str) -> Plan:
    """Read a plan, in the binary form or as JSON, from a file or from the standard input.

    Raises as `Plan.load`.
    """
    from substrait_dsl.fluent.documents import MAX_BYTES
    from substrait_dsl.fluent.plan import Plan

    if path != STANDARD_INPUT:
        return Plan.load(path)
    with error_context(verb="load", place="the standard input"):
        return Plan._read_content(sys.stdin.buffer.read(MAX_BYTES + 1), False, None, MAX_BYTES)


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    print(json.dumps(value, indent=2, ensure_ascii=False))
