"""Hints for unknown names: methods, functions and types of another library or language."""

from __future__ import annotations

import keyword
import re
from collections.abc import Collection, Iterable, Mapping
from types import NoneType
from typing import Any, get_args, get_origin

from substrait_dsl.algebra.type_syntax import PARAMETER_NAMES
from substrait_dsl.algebra.type_text import parse_type
from substrait_dsl.algebra.types import (
    List,
    Map,
    Struct,
    Type,
)
from substrait_dsl.catalog import standard_catalog
from substrait_dsl.errors import (
    PlanFormatError,
    close_matches,
    nearest,
    quote,
    suggestion,
)
from substrait_dsl.hints import advice, words


def attribute_hint(name: str, foreign: Mapping[str, str], known: Iterable[str]) -> str | None:
    """Return the hint for an unknown name, from the table of foreign words or by the nearest name."""
    names = {each: each for each in (*known, *foreign) if not each.startswith("_")}
    near = close_matches(name, names, 0.8)
    found = foreign.get(name) or (foreign.get(near[0]) if near else None)
    return f"write {found}" if found else suggestion(name, [each for each in names if each not in foreign])


def method_hint(name: str, known: Collection[str], type_: Type | None) -> str | None:
    """Return the hint for an unknown method of an expression, by the type of the expression if it is known."""
    if isinstance(type_, Struct) and name in type_.field_names:
        return f'the field of the struct is x["{name}"]'
    if isinstance(type_, Struct) and (near := nearest(name, type_.field_names)):
        return f'did you mean the field x["{near}"]?'
    if isinstance(type_, List) and isinstance(type_.element, Struct) and name in type_.element.field_names:
        return f'each of the list has the field: x[0]["{name}"] is that of the first'
    functions = {**{each: each for each in _functions()}, **words("functions")}
    called = {
        each: _write_call(write, "x, ...")
        for each, write in functions.items()
        if each not in known and write not in known
    }
    hint = attribute_hint(name, {**called, **words("expression")}, known)
    if isinstance(type_, Struct) and hint is None:
        return f'fields of the struct are x["name"]: {quote(type_.field_names)}'
    if isinstance(type_, Map) and hint is None:
        return f'the value of a key of the map is x["{name}"]'
    return hint


def name_hint(name: str, known: Collection[str]) -> str | None:
    """Return the hint for a name that the package does not have; many are functions, or types by another name."""
    functions = {**{each: each for each in _functions()}, **words("functions")}
    foreign = {**{each: _write_call(write, "...") for each, write in functions.items()}, **words("package")}
    if name not in foreign and (type_ := _type_meant(name)):
        foreign[name] = f'"{type_}", or the class of that type'
    return attribute_hint(name, {each: write for each, write in foreign.items() if each not in known}, known)


_NO_FUNCTION = "the specification has no such function; Functions(catalog) offers those of an extension of your own"


def function_hint(name: str) -> str | None:
    """Return the hint for a function of SQL or of another library."""
    if name in words("absent"):
        return _NO_FUNCTION
    found = advice("functions", name)
    return f"write {found}" if found else None


def _functions() -> set[str]:
    """Return the names of the specification's functions; the others are words of Python's."""
    names = {function for each in standard_catalog().extensions.values() for function in each.functions}
    return {name for name in names if not keyword.iskeyword(name)}


def _write_call(write: str, arguments: str) -> str:
    """Return how to write a function with its namespace: ``functions.f(x, ...)``."""
    if write.startswith("substrait_dsl."):
        return write
    return f"functions.{write}({arguments})" if write.isidentifier() else f"functions.{write}"


def type_hint(annotation: Any) -> str | None:
    """Return which type was probably meant by what is none.

    By a name of SQL, by a type of Python or of another library.
    """
    optional = [each for each in get_args(annotation) if each is not NoneType]
    if len(optional) == 1 and NoneType in get_args(annotation):  # `int | None`
        return f"did you mean Nullable[{_annotation(optional[0])}]?"
    meant_class = get_origin(annotation) or annotation
    if (python := _python_type(meant_class)) is not None:
        return f"did you mean {python}?"
    meant = _type_meant(
        annotation if isinstance(annotation, str) else getattr(annotation, "__name__", None) or str(annotation)
    )
    return f'did you mean "{meant}"?' if meant else None


def _annotation(annotation: Any) -> str:
    """Return how a type is written in a schema class; a schema class itself is that of a struct."""
    name = str(getattr(annotation, "__name__", annotation))
    python = _python_type(get_origin(annotation) or annotation)
    return python or (f"Struct[{name}]" if hasattr(annotation, "__struct__") else name)


def _python_type(annotation: object) -> str | None:
    """Return the annotation to write instead of a Python type."""
    if not isinstance(annotation, type):
        return None
    module = "" if annotation.__module__ == "builtins" else f"{annotation.__module__}."
    return advice("python-type", f"{module}{annotation.__qualname__}")


def _type_meant(text: str) -> str | None:
    """Return the type that a text of another language means: ``array<int>``, ``decimal(10,2)``, ``DoubleType()``."""
    lowered = text.strip().lower()
    for form, mark in _NULLABILITIES:
        if (inner := form.fullmatch(lowered)) is not None:
            meant = _type_meant(inner[1]) or inner[1]
            return f"{meant.removesuffix('?')}{mark}" if _is_type(meant) else None
    phrase = re.sub(r"^[a-z_ ]+(?!\w)", lambda found: words("type").get(found[0].strip(), found[0]), lowered)
    translated = re.sub(r"[a-z_]\w*", _own_name, phrase).replace("()", "").translate(str.maketrans("()[]", "<><>"))
    name = translated.partition("<")[0]
    renamed = not lowered.startswith(name)
    for attempt in (translated, name) if renamed else (translated,):
        # Where another language says nothing of the digits after the second, it has six.
        attempt = re.sub(r"\b(precision_\w+|interval_day)(?![\w<])", r"\1<6>", attempt)
        if _is_type(attempt):
            return attempt
    names = PARAMETER_NAMES.get(name) if renamed else None
    return f"{name}<{','.join(names)}>" if names else None


_NULLABILITIES = (
    (re.compile(r"(.+?)\s+not\s+null"), ""),
    (re.compile(r"(.+?)\s+null"), "?"),
    (re.compile(r"(?:optional|nullable)[\[(<](.+)[\])>]"), "?"),
)
"""How others write that a type is required, or that NULL is one of its values, and the mark of it here."""


def _is_type(text: str) -> bool:
    try:
        parse_type(text)
    except PlanFormatError:
        return False
    return True


def _own_name(word: re.Match[str]) -> str:
    bare = word[0].removesuffix("type")
    return advice("type", word[0]) or advice("type", bare) or bare
