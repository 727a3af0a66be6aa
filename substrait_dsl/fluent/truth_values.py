"""What `__bool__` gives of an expression or a relation, which have no truth value before a query runs: it raises."""

from __future__ import annotations


class NoTruthValue:
    """No `bool`, so that a checker objects to ``if x:`` and ``x and y``. There is none: `__bool__` raises instead.

    `NoReturn` would not do: it is a `bool` to a checker, and what stands behind the condition would not be checked.
    """
