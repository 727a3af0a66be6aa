"""The base class of frozen classes of attrs, with the methods that all of them share.

A method that attrs makes is source that is compiled when the class is: of a program that builds a plan and writes it,
the texts of values alone were a tenth of the time.
"""

from __future__ import annotations

import attrs


class FrozenValue:
    """A frozen class of attrs, made with ``repr=False``, whose instances print as their fields."""

    __slots__ = ()

    def __repr__(self) -> str:
        fields = attrs.fields(type(self))  # type: ignore[arg-type]  # each class that extends this one is of attrs
        shown = [f"{field.name}={getattr(self, field.name)!r}" for field in fields if field.repr]
        return f"{type(self).__qualname__.rpartition('>.')[2]}({', '.join(shown)})"
