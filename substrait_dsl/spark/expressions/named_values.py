"""Values with a name in SQL text: a value of long text stands there once, however often it is used.

The name is the parameter of a lambda over a list of one element.
"""

from __future__ import annotations

from collections.abc import Mapping

from substrait_dsl.spark.session.engines import current_engine


def with_name(value: str, name: str, body: str) -> str:
    """Write a text in which a value has a name, for the current engine."""
    texts = name_placeholders()
    return f"{texts['one']}transform({texts['list']}{value}{texts['tail']}, {name} -> {body}){texts['end']}"


def template_with_name(value: str, name: str, body: str) -> str:
    """Write the same in a template, whose placeholders are filled for the engine that is current then."""
    return f"{{one}}transform({{list}}{value}{{tail}}, {name} -> {body}){{end}}"


def name_placeholders() -> Mapping[str, str]:
    """Return the texts of the placeholders: around a list for its one element, and around a value for such a list."""
    engine = current_engine()
    return dict(zip(("one", "end", "list", "tail"), (*engine.around_list, *engine.around_element), strict=True))
