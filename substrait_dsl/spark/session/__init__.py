"""Sessions: Spark or Sail, how one is started and stopped, and its errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from substrait_dsl.spark.session.local import drop_views as drop_views
    from substrait_dsl.spark.session.local import local_session as local_session

__all__ = ["drop_views", "local_session"]


def __getattr__(name: str) -> Any:
    """Load the public functions lazily: the modules of this package are imported without them."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from substrait_dsl.spark.session import local

    return getattr(local, name)
