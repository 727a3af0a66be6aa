"""Classes of Python that declare columns, as mypy knows them, and their text, which mypy's caches do not have."""

from __future__ import annotations

import ast
import tokenize
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from mypy.nodes import MypyFile, TypeInfo

from substrait_dsl.mypy_plugin.declarations import is_schema

PYDANTIC = "pydantic.main.BaseModel"
_PYDANTIC_PLUGIN = "pydantic-mypy-metadata"


def parse_module(module: MypyFile) -> Sequence[ast.stmt]:
    """Return the statements of a module; none if its text is not there."""
    try:
        stat = Path(module.path).stat()
        return _parse(module.path, (stat.st_mtime_ns, stat.st_size))
    except (OSError, SyntaxError, UnicodeError):
        return ()


@lru_cache(maxsize=64)
def _parse(path: str, state: tuple[int, int]) -> Sequence[ast.stmt]:
    """Return the statements of a file in a state, by which it is read again when it has changed."""
    with tokenize.open(path) as file:
        return ast.parse(file.read()).body


def find_class_text(module: MypyFile, info: TypeInfo) -> ast.ClassDef | None:
    """Return the text of a class of a module, or of a class in it; None where it is in a function or a branch."""
    statements: Sequence[ast.stmt] = parse_module(module)
    found = None
    for name in info.fullname.removeprefix(f"{module.fullname}.").split("."):
        classes = [each for each in statements if isinstance(each, ast.ClassDef) and each.name == name]
        if len(classes) != 1:
            return None
        found = classes[0]
        statements = found.body
    return found


def annotated_names(text: ast.ClassDef) -> list[str]:
    """Return the names with an annotation in the body of a class."""
    return [
        each.target.id for each in text.body if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    ]


def column_names(info: TypeInfo) -> list[str]:
    """Return the names of the columns that a class of Python declares, as mypy knows them; none of another class."""
    if info.typeddict_type is not None:
        return list(info.typeddict_type.items)
    if "namedtuple" in info.metadata:
        return list(info.metadata["namedtuple"]["fields"])
    if "attrs" in info.metadata:
        return [each["name"] for each in info.metadata["attrs"]["attributes"]]
    if is_schema(info):
        return []
    if _PYDANTIC_PLUGIN in info.metadata:
        return list(info.metadata[_PYDANTIC_PLUGIN]["fields"])
    fields = info.metadata.get("dataclass", {}).get("attributes", ())
    is_model = info.has_base(PYDANTIC)
    names = [each["name"] for each in fields if not each.get("is_init_var")]
    return [name for name in names if not (is_model and name.startswith("_"))]
