"""Modules of the user's project, imported anew from the working directory to look at their pipelines."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from pathlib import Path
from types import ModuleType

from substrait_dsl.errors import InvalidArgumentError, SubstraitDslError


def require_module_name(name: str) -> None:
    """Raise `InvalidArgumentError` for a text that is no name of a module, with the name that a path stands for."""
    if all(part.isidentifier() for part in name.split(".")):
        return
    near = name.removesuffix(".py").replace("/", ".").replace(os.sep, ".").strip(".")
    raise InvalidArgumentError(
        "a module is given by its name, as Python imports it",
        got=name,
        hint=f"write {near}" if all(part.isidentifier() for part in near.split(".")) else None,
    )


@contextmanager
def importing_anew(finder: MetaPathFinder | None = None, found: Collection[str] = ()) -> Iterator[None]:
    """Let modules of the working directory be imported anew; afterwards those that were there before are there again.

    Args:
        finder: what finds some modules before Python does.
        found: the names of the modules that it finds.
    """
    here = os.getcwd()
    loaded, paths = dict(sys.modules), sys.path[:]
    for name in [name for name, module in loaded.items() if _is_of(name, module, here)]:
        del sys.modules[name]
    sys.meta_path[:0] = [finder] if finder is not None else []
    sys.path.insert(0, here)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        if finder is not None:
            sys.meta_path.remove(finder)
        sys.path[:] = paths
        for name, module in [*sys.modules.items()]:
            if name not in loaded and (name in found or _is_of(name, module, here)):
                del sys.modules[name]
        sys.modules.update(loaded)


def _is_of(name: str, module: object, folder: str) -> bool:
    """Return whether a module is one of a project, in its folder."""
    if not isinstance(module, ModuleType):
        return False
    file = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", ())), "")  # a namespace package
    is_of_library = name.partition(".")[0] in (__name__.partition(".")[0], "__main__")
    return (
        isinstance(file, str) and file.startswith(folder + os.sep) and "site-packages" not in file and not is_of_library
    )


def import_project_module(name: str) -> ModuleType:
    """Import a module. Raises `InvalidArgumentError` that says at which line it fails."""
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        raise program_error(f"module {name} cannot be imported", error, name) from error


def program_error(what: str, error: BaseException, module: str) -> InvalidArgumentError:
    """Return the error for a part of a program that fails, with the line of it."""
    not_of_programs = (*(str(Path(file).parent) + os.sep for file in (__file__, importlib.__file__)), "<frozen")
    lines = [
        each for each in traceback.extract_tb(error.__traceback__) if not each.filename.startswith(not_of_programs)
    ]
    place = f" (at {relative_path(Path(lines[-1].filename))}:{lines[-1].lineno})" if lines else ""
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, SubstraitDslError):
        text = error._headline().splitlines()[0]
    failed = InvalidArgumentError(f"{what}: {text}{place}", names=[module])
    failed.hint = error.hint if isinstance(error, SubstraitDslError) else None
    return failed


def relative_path(path: Path) -> str:
    """Return a path from here, if it is below."""
    return os.path.relpath(path) if path.is_absolute() and path.is_relative_to(Path.cwd()) else str(path)
