"""What identifies a function."""

from __future__ import annotations

import attrs


@attrs.frozen
class FunctionId:
    """What a function is called everywhere: the URN of its extension and its compound key (``add:i64_i64``)."""

    urn: str
    key: str

    @property
    def name(self) -> str:
        """The name without the signature."""
        return self.key.partition(":")[0]
