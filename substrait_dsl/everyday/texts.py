"""Texts: their digests, and the parts of addresses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from substrait_dsl.errors import InvalidArgumentError, error_context, require, require_choice
from substrait_dsl.everyday.calling import call_own
from substrait_dsl.everyday.time_texts import escaped
from substrait_dsl.fluent.calls import scalar
from substrait_dsl.fluent.conditionals import when
from substrait_dsl.fluent.expr import DynExpr


def md5(x: object) -> DynExpr:
    """Return the MD5 sum of a text in UTF-8, or of bytes, as 32 hexadecimal digits.

    Args:
        x: a string, or binary.

    Returns:
        A string.

    Raises:
        FunctionNotFoundError: for another type.

    Specification: https://substrait.io/extensions/; an extension of this library.

    Example:
        >>> from substrait_dsl import everyday as e
        >>> print(customers.select(key=lambda c: e.md5(c.name)).schema)
        0  key  string
    """
    return call_own("md5", x)


def sha2(x: object, bits: int = 256) -> DynExpr:
    """Return the SHA-2 sum of a text in UTF-8, or of bytes, as hexadecimal digits.

    Args:
        x: a string, or binary.
        bits: 256 or 512.

    Returns:
        A string.

    Raises:
        InvalidArgumentError: for another number of bits.
        FunctionNotFoundError: for another type.

    Specification: https://substrait.io/extensions/; an extension of this library.

    Example:
        >>> from substrait_dsl import everyday as e
        >>> print(customers.select(key=lambda c: e.sha2(c.name)).schema)
        0  key  string
    """
    with error_context(verb="sha2"):
        if type(bits) is not int or bits not in (256, 512):
            raise InvalidArgumentError("bits is 256 or 512", got=bits)
        return call_own(f"sha{bits}", x)


def xxhash64(x: object) -> DynExpr:
    """Return the 64 bits of the XXH64 hash of a text in UTF-8, or of bytes, with the seed 42, as Spark has it.

    It is quick, and no protection against whoever looks for two texts of one hash: `sha2` is.

    Args:
        x: a string, or binary.

    Returns:
        An i64, NULL if `x` is.

    Raises:
        FunctionNotFoundError: for another type.

    Specification: https://substrait.io/extensions/; an extension of this library.

    Example:
        >>> from substrait_dsl import everyday as e
        >>> print(customers.select(key=lambda c: e.xxhash64(c.name)).schema)
        0  key  i64
    """
    return call_own("xxhash64", x)


_SCHEME = r"\A(?:[A-Za-z][A-Za-z0-9+.\-]*:)?"
_USER = r"(?:[^/?#@]*@)?"
_SERVER = r"(?:\[[^\]/?#]*\]|[^/?#:@\[]+)"

_URL_PARTS: Mapping[str, str] = {
    "PROTOCOL": r"\A([A-Za-z][A-Za-z0-9+.\-]*):",
    "AUTHORITY": rf"{_SCHEME}//([^/?#]+)",
    "USERINFO": rf"{_SCHEME}//([^/?#@]*)@",
    "HOST": rf"{_SCHEME}//{_USER}({_SERVER})",
    "PORT": rf"{_SCHEME}//{_USER}{_SERVER}:([0-9]+)",
    "PATH": rf"{_SCHEME}(?://[^/?#]*)?([^?#]*)[?#]",
    "QUERY": r"\A[^?#]*\?([^#]*)",
    "FILE": rf"{_SCHEME}(?://[^/?#]*)?([^#]*)#",
    "REF": r"\A[^#]*#((?:[^#]|#)*)",
}
"""The patterns of the parts of an address, the part being the group: those of RFC 3986, appendix B."""


def parse_url(x: object, part: str, key: str | None = None) -> DynExpr:
    """Return a part of an address, as it stands there: no character is decoded or changed.

    It is functions of the specification, with the pattern of RFC 3986, appendix B, which takes every text apart;
    whether an address is valid is not looked at.

    Args:
        x: a string.
        part: ``"PROTOCOL"``, ``"AUTHORITY"`` (``user:secret@example.com:80``), ``"USERINFO"``, ``"HOST"``, ``"PORT"``,
            ``"PATH"``, ``"QUERY"``, ``"FILE"`` (the path and the query) or ``"REF"``, what follows ``#``.
        key: of ``"QUERY"``, the value of the first parameter of this name alone.

    Returns:
        A string, NULL where the address has no such part; the path of one without is the empty text.

    Raises:
        InvalidChoiceError: for another part, also in lower case.
        InvalidArgumentError: `key` is no text, or not of ``"QUERY"``.
        FunctionNotFoundError: for what is no string.

    Specification: ``regexp_match_substring`` and ``regexp_count_substring`` in ``functions_string.yaml``.

    Example:
        >>> from substrait_dsl import everyday as e
        >>> visits = sd.read_named("visits", {"url": "string"})
        >>> print(visits.select(term=lambda v: e.parse_url(v.url, "QUERY", "q")).schema)
        0  term  string?
    """
    with error_context(verb="parse_url"):
        require_choice("part", part, tuple(_URL_PARTS))
        if key is not None:
            if part != "QUERY":
                raise InvalidArgumentError('key is for the part "QUERY"', got=part)
            require(key, str, "key is the name of a parameter")
            if not key:
                raise InvalidArgumentError("key is the name of a parameter", got=key)
    # Which may be empty; engines differ in matches of no text.
    found = _group(scalar("concat", [x, "#"]) if part in ("PATH", "FILE") else x, _URL_PARTS[part])
    return found if key is None else _group(scalar("concat", ["&", found]), rf"&{escaped(key)}=([^\&]*)")


def _group(text: object, pattern: str) -> DynExpr:
    """Return the group of the first match of a pattern, NULL where there is none."""
    has_match: Any = scalar("regexp_count_substring", [text, pattern]) > 0
    found: DynExpr = when(has_match).then(scalar("regexp_match_substring", [text, pattern, 1, 1, 1])).otherwise(None)
    return found
