"""A typed, fluent builder of Substrait plans that derives every schema as you write and runs on Spark.

    import substrait_dsl as sd
    from substrait_dsl import functions as f

Importing the package is cheap: its modules are loaded when a name is first used, and protobuf, pyspark, pyarrow and the
extension files when something needs them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from substrait_dsl import api
    from substrait_dsl.api import *  # noqa: F403  # they are listed in its __all__

    __all__: list[str] = ["__version__"]
    __all__ += api.__all__

__version__ = "0.2.0"


if not TYPE_CHECKING:  # a checker knows the names by the import above, and must not take every other for one

    def __getattr__(name: str) -> Any:
        # The submodules that the import system looks up here must not load everything.
        if name.startswith("_") and name != "__all__":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        api = import_module(f"{__name__}.api")
        if name not in api.__all__ and name != "__all__":
            from importlib.util import find_spec

            if find_spec(f"{__name__}.{name}"):  # the import system will load it
                raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
            try:
                raise import_module(f"{__name__}.fluent.guidance").no_name(name, api.__all__)
            except AttributeError as error:
                import_module(f"{__name__}.tracebacks").hide_library_frames(error)
                raise
        public = import_module(f"{__name__}.signature_errors").public
        value = globals()[name] = public(getattr(api, name), name, __name__)
        return value


def __dir__() -> list[str]:  # submodules that happen to be loaded are no part of it
    return sorted(["__version__", *import_module(f"{__name__}.api").__all__])
