"""Schema modules: the columns of a module's pipelines, written for type checkers and editors that have no plugin.

A pipeline is annotated if it is declared by a class of the schema module, ``shop.pipelines_schemas`` for
``shop.pipelines``, whether that class is there yet or not::

    from shop import pipelines_schemas as schemas

    spent = orders.group_by("customer").agg(spent=lambda o: f.sum(o.price)).as_(schemas.Spent)

    def large(orders: sd.Relation[Orders]) -> sd.Relation[schemas.Large]:
        return orders.filter(lambda o: o.price > 100.0).select("key").as_(schemas.Large)

The module is imported with classes in place of the schema module that get their columns from `as_`
(`fluent.open_schemas`); then the functions that are annotated to give such a relation are called, with relations of the
columns that their parameters declare.
"""

from __future__ import annotations

import datetime as dt
import decimal
import difflib
import inspect
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import attrs

from substrait_dsl.errors import InvalidArgumentError, quote
from substrait_dsl.fluent.open_schemas import OpenSchema, OpenSchemaType, open_schema
from substrait_dsl.fluent.reads import read_named
from substrait_dsl.fluent.relation import Relation
from substrait_dsl.fluent.schema_source import SchemaSource
from substrait_dsl.fluent.schemas import DynRow, Schema
from substrait_dsl.project_modules import (
    import_project_module,
    importing_anew,
    program_error,
    relative_path,
    require_module_name,
)

SUFFIX = "_schemas"
"""What the name of a schema module ends in, after that of the module of the pipelines."""

COMMAND = "substrait-dsl typing --write"

_SAMPLES: Mapping[type, tuple[object, object]] = {
    bool: (True, False),
    int: (1, 2),
    float: (1.5, 2.5),
    str: ("a", "b"),
    bytes: (b"a", b"b"),
    decimal.Decimal: (decimal.Decimal("1.5"), decimal.Decimal("2.5")),
    dt.date: (dt.date(2020, 1, 31), dt.date(2021, 2, 1)),
    dt.datetime: (dt.datetime(2020, 1, 31, 1, 2, 3), dt.datetime(2021, 2, 1)),
    dt.timedelta: (dt.timedelta(days=1), dt.timedelta(seconds=2)),
}
"""Two values for parameters that are no relations: the columns must be the same for both."""


@attrs.frozen
class SchemaModule:
    """A schema module as it should be."""

    name: str
    """The module of the pipelines."""
    path: Path
    text: str

    @property
    def present(self) -> str:
        """The text of the file, if there is one. Raises `InvalidArgumentError` for a file that somebody wrote."""
        text = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        if text.strip() and COMMAND not in text:
            raise InvalidArgumentError(
                f"{relative_path(self.path)} is no schema module that this command has written",
                names=[str(self.path)],
                hint="move it, or what its classes are imported as",
            )
        return text

    @property
    def difference(self) -> str:
        """What would be written, against what is there, as a unified diff."""
        before, after = (text.splitlines(keepends=True) for text in (self.present, self.text))
        return "".join(
            difflib.unified_diff(
                before, after, relative_path(self.path), f"{relative_path(self.path)} (as it should be)"
            )
        )

    def write(self) -> bool:
        """Write the file, unless it is as it should be; whether it was written."""
        if self.present == self.text:
            return False
        self.path.write_text(self.text, encoding="utf-8")
        return True


def schema_modules(modules: Sequence[str]) -> list[SchemaModule]:
    """Evaluate the annotated pipelines of modules, all of them together: one may use the schemas of another.

    Args:
        modules: the names of the modules, as Python imports them.

    Returns:
        Their schema modules.

    Raises:
        InvalidArgumentError: a module cannot be imported or declares no pipeline, a pipeline fails or cannot be called,
            two pipelines have other columns for one class, or a class has none.
        SchemaError: no schema class has the columns of a pipeline.
    """
    names = list(dict.fromkeys(modules))
    for name in names:
        require_module_name(name)
        if name.endswith(SUFFIX):
            raise InvalidArgumentError(
                f"{name} is the name of a schema module", names=[name], hint=f"write {name.removesuffix(SUFFIX)}"
            )
    finder = _Finder(names)
    with importing_anew(finder, finder.classes):
        found = [import_project_module(name) for name in names]
        _call_functions(found, finder)
        return [_schema_module(module, finder.classes[module.__name__ + SUFFIX]) for module in found]


class _Finder(MetaPathFinder, Loader):
    """Finds the schema modules: they have whatever class the program asks for."""

    def __init__(self, modules: Sequence[str]) -> None:
        self.classes: dict[str, dict[str, OpenSchemaType]] = {module + SUFFIX: {} for module in modules}

    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname in self.classes else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _OpenModule(spec.name, self.classes[spec.name])

    def exec_module(self, module: ModuleType) -> None:
        pass  # its classes are made when the program asks for them

    def all_classes(self) -> Iterator[OpenSchemaType]:
        """Yield the classes that the programs have asked for."""
        for classes in self.classes.values():
            yield from classes.values()


class _OpenModule(ModuleType):
    def __init__(self, name: str, classes: dict[str, OpenSchemaType]) -> None:
        super().__init__(name)
        self._classes = classes

    def __getattr__(self, name: str) -> OpenSchemaType:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return self._classes.setdefault(name, open_schema(name, self.__name__))


# --- the pipelines of a module


@attrs.define
class _Pipeline:
    """A function that is annotated to give a relation of a class of the schema module."""

    function: Callable[..., Any]
    schema: OpenSchemaType
    hints: Mapping[str, Any]
    module: str

    @property
    def name(self) -> str:
        return f"{self.function.__name__} of {self.module}"

    def waiting_for(self) -> list[str]:
        """Return the schema classes of its parameters whose columns are not known yet."""
        parameters = [_open(hint) for name, hint in self.hints.items() if name != "return"]
        return [schema.__name__ for schema in parameters if schema is not None and schema.is_open]

    @property
    def parameters(self) -> list[inspect.Parameter]:
        """Those that a call must give."""
        return [
            each
            for each in inspect.signature(self.function).parameters.values()
            if each.default is each.empty and each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)
        ]

    def samples(self, parameter: inspect.Parameter) -> tuple[object, ...]:
        """Arguments for a parameter. Raises `InvalidArgumentError` where none is known."""
        hint = self.hints.get(parameter.name)
        schema = _find_declared_schema(hint)
        if schema is not None and schema not in (DynRow, Schema):
            return (read_named(parameter.name, schema),)
        if isinstance(hint, type) and hint in _SAMPLES:
            return _SAMPLES[hint]
        raise InvalidArgumentError(
            f'pipeline {self.name} cannot be called: its parameter "{parameter.name}" has no default, and is no '
            "relation of declared columns, number, text or date",
            names=[parameter.name],
            hint="give it a default, or declare the result in a variable of the module, with .as_(...)",
        )

    def evaluate(self) -> None:
        """Call it, and give the schema class the columns of the result."""
        parameters = self.parameters
        samples = [self.samples(each) for each in parameters]
        for number in range(max(map(len, samples), default=1)):
            arguments = [
                (each, some[min(number, len(some) - 1)]) for each, some in zip(parameters, samples, strict=True)
            ]
            positional = [value for each, value in arguments if each.kind != each.KEYWORD_ONLY]
            named = {each.name: value for each, value in arguments if each.kind == each.KEYWORD_ONLY}
            try:
                self._close(self.function(*positional, **named))
            except (Exception, SystemExit) as error:
                values = f" for other values of {quote([each.name for each, _ in arguments])}" if number else ""
                raise program_error(f"pipeline {self.name} fails{values}", error, self.module) from error

    def _close(self, result: object) -> None:
        if not isinstance(result, Relation):
            raise InvalidArgumentError("it is annotated to give a relation", got=result)
        code = inspect.unwrap(self.function).__code__
        self.schema.close(result.schema.struct, f"{code.co_filename}:{code.co_firstlineno}")


def _find_declared_schema(hint: object) -> type[Schema] | None:
    """Return the schema class of a relation that an annotation declares."""
    arguments = typing.get_args(hint) if typing.get_origin(hint) is Relation else ()
    is_class = bool(arguments) and isinstance(arguments[0], type) and issubclass(arguments[0], Schema)
    return arguments[0] if is_class else None


def _open(hint: object) -> OpenSchemaType | None:
    """Return the class of a schema module of which an annotation declares a relation."""
    schema: object = _find_declared_schema(hint)
    return schema if isinstance(schema, OpenSchemaType) and OpenSchema in schema.__bases__ else None


def _pipelines(module: ModuleType) -> Iterator[_Pipeline]:
    for function in [*vars(module).values()]:
        plain = inspect.unwrap(function) if callable(function) else None
        if (
            isinstance(plain, FunctionType)
            and plain.__module__ == module.__name__
            and "return" in plain.__annotations__
        ):
            hints = _hints(plain)
            schema = _open(hints.get("return"))
            if schema is not None:
                yield _Pipeline(function, schema, hints, module.__name__)


def _hints(annotated: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(annotated)
    except Exception:
        return {}  # names that are only imported for checkers: a class that this leaves without columns is told


def _call_functions(modules: Sequence[ModuleType], finder: _Finder) -> None:
    """Give the classes of the finder their columns, as far as pipelines have them."""
    for module in modules:
        for name, hint in _hints(module).items():
            schema, value = _open(hint), getattr(module, name, None)
            if schema is not None and isinstance(value, Relation):
                schema.close(value.schema.struct, f"{name} of {module.__name__}")
    waiting = [pipeline for module in modules for pipeline in _pipelines(module)]
    refused: dict[str, InvalidArgumentError] = {}
    while ready := [pipeline for pipeline in waiting if not pipeline.waiting_for()]:
        for pipeline in ready:
            try:
                for parameter in pipeline.parameters:
                    pipeline.samples(parameter)
            except InvalidArgumentError as error:
                refused[pipeline.schema.__name__] = error
            else:
                pipeline.evaluate()
        waiting = [pipeline for pipeline in waiting if pipeline not in ready]
    unknown = [schema for schema in finder.all_classes() if schema.is_open]
    for schema in unknown:
        if schema.__name__ in refused:
            raise refused[schema.__name__]
    if unknown:
        _raise_unknown(unknown, waiting)


def _raise_unknown(unknown: Sequence[OpenSchemaType], waiting: Sequence[_Pipeline]) -> None:
    names = [schema.__name__ for schema in unknown]
    module = unknown[0].__module__
    more = "".join(f"; {each.name} waits for {', '.join(each.waiting_for())}" for each in waiting)
    raise InvalidArgumentError(
        f"no pipeline has the columns of {quote(names)} of {module}{more}",
        names=names,
        hint=f"declare a relation by .as_({names[0]}), in a variable of the module or in a function of it that is "
        f"annotated -> Relation[{names[0]}]",
    )


# --- the file


def _schema_module(module: ModuleType, classes: Mapping[str, OpenSchemaType]) -> SchemaModule:
    name, file = module.__name__, getattr(module, "__file__", None)
    if not classes or file is None:
        last = (name + SUFFIX).rpartition(".")[2]
        raise InvalidArgumentError(
            f"no pipeline of {name} is declared by a class of {name}{SUFFIX}",
            names=[name],
            hint=f"import {last} in {name}, and declare relations: .as_({last}.Name)",
        )
    path = Path(file)
    folder = path.parent.parent if path.name == "__init__.py" else path.parent
    schemas = {each: classes[each].__struct__ for each in sorted(classes)}
    return SchemaModule(name, folder / f"{(name + SUFFIX).rpartition('.')[2]}.py", _text(name, schemas))


def _text(name: str, schemas: Mapping[str, Any]) -> str:
    source = SchemaSource(schemas, documented=True)
    head = [f'"""The columns of the pipelines of ``{name}``.', "", "Generated, not to be edited, by:", ""]
    head += [f"    {COMMAND} {name}", '"""', ""]
    imports = "\n".join(filter(None, [source.typing_import, source.library_import]))
    settings = "\n# fmt: off\n" if source.is_wrapped else ""
    return "\n\n".join(["\n".join(head) + f"\n{imports}{settings}", *source.classes])
