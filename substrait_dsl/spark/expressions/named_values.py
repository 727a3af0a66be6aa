"""Values with a name in SQL text: a value of long text stands there once, however often it is used.

The name is the parameter of a lambda over a list of one element.
"""

from __future__ import annotations

from collections.abc import Mapping

from substrait_dsl.spark.session.engines import current_engine


def with_name(value: str, name: str, body: str) -> str:
    """Write a text in which a value has a name, for the current engine."""
    before, behind = current_engine().around_list
    return f"{before}{_mapped(value, name, body)}{behind}"


def template_with_name(value: str, name: str, body: str) -> str:
    """Write the same in a template, whose placeholders are filled for the engine that is current then."""
    return f"{{one}}{_mapped(value, name, body)}{{end}}"


def _mapped(value: str, name: str, body: str) -> str:
    return f"transform(array({value}), {name} -> {body})"


def fill_ends() -> Mapping[str, str]:
    """Return the texts of the placeholders around a list of one element."""
    return dict(zip(("one", "end"), current_engine().around_list, strict=True))
