"""Texts: their digests."""

from __future__ import annotations

from substrait_dsl.errors import InvalidArgumentError, error_context
from substrait_dsl.everyday.calling import call_own
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
