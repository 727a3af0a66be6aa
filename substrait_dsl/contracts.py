"""Contracts: the columns that the pipelines of a project promise, stored in a file and compared with what they derive.

The file is JSON that people review: for each pipeline, the text of each column's type by its name, in order::

    {
      "shop.pipelines.spent": {
        "customer": "i64",
        "spent": "fp64?"
      }
    }

A pipeline is a relation in a variable of a module. Relations that only read a table or a file are none: their columns
are declared where they stand. So are those that a module imports, or whose names begin with an underscore.
"""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from importlib.abc import InspectLoader
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import Literal

import attrs

from substrait_dsl.algebra.relations import Read
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.analysis.schema_changes import COLUMN_CHANGES, ColumnChange, ColumnChangeKind, compare_schemas
from substrait_dsl.errors import (
    InvalidArgumentError,
    PlanFormatError,
    SubstraitDslError,
    UnsupportedError,
    require_choice,
)
from substrait_dsl.fluent.base import RelationBase
from substrait_dsl.fluent.relation_schema import RelationSchema
from substrait_dsl.fluent.saving import write_atomically
from substrait_dsl.fluent.schemas import as_struct
from substrait_dsl.project_modules import import_project_module, importing_anew, require_module_name
from substrait_dsl.texts import object_of_pairs, printable, suggestion

FILE = "contracts.json"
"""The file that contracts stand in, unless another one is named."""

WRITE = "substrait-dsl contract write"


@attrs.frozen
class ContractChange:
    """What became of a pipeline, compared with its contract.

    Args:
        pipeline: its name, with that of its module in front.
        kind: ``"new"``: it has no contract; ``"gone"``: its contract has no pipeline; ``"changed"``: it has other
            columns.
        columns: what became of each of the columns, if it has others.
    """

    pipeline: str
    kind: Literal["new", "gone", "changed"]
    columns: tuple[ColumnChange, ...] = ()

    def is_allowed(self, allowed: Sequence[ColumnChangeKind]) -> bool:
        """Return whether its columns have changes of these kinds alone; no pipeline may be new or gone."""
        return self.kind == "changed" and all(change.kind in allowed for change in self.columns)

    def __str__(self) -> str:
        name = printable(self.pipeline)
        match self.kind:
            case "new":
                return f"{name}: has no contract"
            case "gone":
                return f"{name}: there is no such pipeline"
            case "changed":
                return "\n".join([name, *(f"  {change}" for change in self.columns)])


@attrs.frozen
class Contracts:
    """The columns of pipelines, by the names of the pipelines."""

    columns: Mapping[str, NamedStruct]

    @classmethod
    def of_modules(cls, modules: Sequence[str]) -> Contracts:
        """Return the contracts that the pipelines of some modules fulfil now.

        Args:
            modules: their names, as Python imports them from the working directory.

        Raises:
            InvalidArgumentError: a module cannot be imported, or has no pipeline.
        """
        found: dict[str, NamedStruct] = {}
        for name in modules:
            require_module_name(name)
        with importing_anew():
            for name in modules:
                pipelines = dict(_pipelines(import_project_module(name)))
                if not pipelines:
                    raise InvalidArgumentError(
                        f"module {name} has no pipeline",
                        names=[name],
                        hint="a pipeline is a relation in a variable of the module, which does more than read",
                    )
                found |= {f"{name}.{pipeline}": rel.schema.struct for pipeline, rel in pipelines.items()}
        return cls(found)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Contracts:
        """Read contracts from a file.

        Raises:
            InvalidArgumentError: there is no such file.
            PlanFormatError: it holds no contracts.
            OSError: it cannot be read.
        """
        if not os.path.exists(path):
            raise InvalidArgumentError(f"there is no file {path}", names=[str(path)], hint=f"write it: {WRITE} MODULE")
        content = Path(path).read_bytes()
        try:
            return cls(_read_columns(content))
        except SubstraitDslError as error:
            raise PlanFormatError(f"{path} holds no contracts", reason=error) from error

    def save(self, path: str | PathLike[str]) -> None:
        """Write the contracts to a file, sorted by the names of the pipelines.

        Raises:
            UnsupportedError: a pipeline has two columns of one name, or the text of a type does not say all of it.
            OSError: the file cannot be written.
        """
        texts = {}
        for name in sorted(self.columns):
            try:
                texts[name] = RelationSchema(self.columns[name]).to_dict()
            except SubstraitDslError as error:
                raise UnsupportedError(f'the columns of pipeline "{name}" cannot be stored', reason=error) from error
        write_atomically(Path(path), f"{json.dumps(texts, indent=2, ensure_ascii=False)}\n".encode())

    def of(self, modules: Sequence[str]) -> Contracts:
        """Return those of the pipelines of some modules."""
        of_them = {name: struct for name, struct in self.columns.items() if name.rpartition(".")[0] in modules}
        return Contracts(of_them)

    def changes(self, present: Contracts) -> Iterator[ContractChange]:
        """Yield what became of each pipeline, by name.

        Args:
            present: the contracts that the pipelines fulfil now.
        """
        for name in sorted({*self.columns, *present.columns}):
            if name not in self.columns:
                yield ContractChange(name, "new")
            elif name not in present.columns:
                yield ContractChange(name, "gone")
            elif changes := tuple(compare_schemas(self.columns[name], present.columns[name])):
                yield ContractChange(name, "changed", changes)

    def find(self, pipeline: str) -> NamedStruct:
        """Return the columns of a pipeline. Raises `InvalidArgumentError` if it has no contract."""
        if pipeline not in self.columns:
            hint = suggestion(pipeline, self.columns) or f"write it: {WRITE} {pipeline.rpartition('.')[0] or 'MODULE'}"
            raise InvalidArgumentError(f'pipeline "{pipeline}" has no contract', names=[pipeline], hint=hint)
        return self.columns[pipeline]


def require_column_changes(kinds: Sequence[str]) -> None:
    """Raise `InvalidChoiceError` for a text that is no kind of change of a column."""
    for kind in kinds:
        require_choice("change of a column", kind, COLUMN_CHANGES)


def _read_columns(content: bytes) -> dict[str, NamedStruct]:
    """Return the columns by the names of pipelines from JSON. Raises errors of our tree that do not say the file."""
    try:
        read = json.loads(content, object_pairs_hook=object_of_pairs)
    except (ValueError, RecursionError) as error:
        raise PlanFormatError(f"this is no JSON: {error}") from error
    if not isinstance(read, dict):
        raise PlanFormatError("expected an object: the columns by the names of pipelines", got=read)
    columns = {}
    for name, types in read.items():
        try:
            if not isinstance(types, dict) or not all(isinstance(each, str) for each in types.values()):
                raise PlanFormatError("expected an object: the types by the names of columns", got=types)
            columns[name] = as_struct(types)
        except SubstraitDslError as error:
            raise PlanFormatError(f'the columns of pipeline "{name}" cannot be read', reason=error) from error
    return columns


def _pipelines(module: ModuleType) -> Iterator[tuple[str, RelationBase]]:
    """Yield the relations in the variables of a module that do more than read."""
    imported = _imported_names(module)
    for name, value in vars(module).items():
        is_public = not name.startswith("_") and name not in imported
        if is_public and isinstance(value, RelationBase) and not isinstance(value._rel, Read):
            yield name, value


def _imported_names(module: ModuleType) -> set[str]:
    """Return the names that a module imports from others."""
    loader = module.__spec__.loader if module.__spec__ else None
    source = loader.get_source(module.__name__) if isinstance(loader, InspectLoader) else None
    imports = [statement for statement in ast.walk(ast.parse(source or "")) if isinstance(statement, ast.ImportFrom)]
    return {alias.asname or alias.name for statement in imports for alias in statement.names}
