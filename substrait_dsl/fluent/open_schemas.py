"""Schema classes whose columns are not known until a pipeline is declared to have them.

While ``substrait-dsl typing`` evaluates the pipelines of a module, such classes stand for those that it will write:
``as_`` gives a class the columns of the relation, where it otherwise compares them.
"""

from __future__ import annotations

import sys
from typing import Any

from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import SchemaError
from substrait_dsl.fluent.relation_schema import RelationSchema
from substrait_dsl.fluent.schema_source import is_attribute
from substrait_dsl.fluent.schemas import Schema, named_column


class OpenSchemaType(type):
    """The class of a schema class that has no columns yet, and of those that inherit from it."""

    def close(cls, struct: NamedStruct, place: str | None = None) -> None:
        """Give the class its columns. Raises `SchemaError` if it has others already."""
        if cls.__bases__ != (OpenSchema,):
            return  # it inherits from one, and declares columns itself
        place = place or _caller()
        if not cls.is_open:
            before: NamedStruct = vars(cls)["__struct__"]
            if _identify_columns(before) != _identify_columns(struct):
                raise SchemaError(
                    f"two pipelines are declared by {cls.__name__}: that at {place} has {struct}, that at "
                    f"{vars(cls).get('__closed_at__')} has {before}",
                    names=[cls.__name__],
                    hint="give each a class of its own",
                )
            return
        cls.__closed_at__ = place
        cls.__annotations__ = {field.name: field.type for field in struct}  # for the classes that inherit from it
        setattr(cls, "__struct__", struct)  # noqa: B010  # a checker knows it of schema classes only
        for name in filter(is_attribute, struct.names):
            setattr(cls, name, named_column(name))

    @property
    def is_open(cls) -> bool:
        """Whether the class has no columns yet."""
        return "__struct__" not in type.__getattribute__(cls, "__dict__")

    def __getattribute__(cls, name: str) -> Any:
        if name == "__struct__" and cls.is_open:
            raise _not_known(cls)
        return super().__getattribute__(name)

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__") or not cls.is_open:
            raise AttributeError(name)
        raise _not_known(cls)

    def __call__(cls, *arguments: Any, **columns: Any) -> Any:
        if cls.is_open:
            raise _not_known(cls)
        return super().__call__(*arguments, **columns)


class OpenSchema(Schema, metaclass=OpenSchemaType):
    """Base of the schema classes that have no columns yet."""

    def __init_subclass__(cls) -> None:
        bases = [base for base in cls.__mro__[1:] if isinstance(base, OpenSchemaType) and base is not OpenSchema]
        for base in bases:
            if base.is_open:
                raise _not_known(base)
        if bases:  # else it is an open class itself
            super().__init_subclass__()


def open_schema(name: str, module: str) -> OpenSchemaType:
    """Make a schema class that has no columns yet."""
    return OpenSchemaType(name, (OpenSchema,), {"__module__": module})


def give_columns(declaration: object, struct: NamedStruct) -> None:
    """Give a schema class that has no columns yet those of a relation; leave any other as it is."""
    if isinstance(declaration, OpenSchemaType):
        declaration.close(struct)


def _not_known(schema: type) -> SchemaError:
    return SchemaError(
        f"the columns of {schema.__name__} are not known here: no pipeline before declares them",
        names=[schema.__name__],
        hint=f"declare them first, by .as_({schema.__name__}) of a relation",
    )


def _identify_columns(struct: NamedStruct) -> tuple[str, str]:
    """Return all that tells columns apart: structs are equal whatever their fields are called."""
    return str(RelationSchema(struct)), str(struct)


def _caller() -> str:
    """Return the line of the program that is being evaluated."""
    frame = sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith("substrait_dsl."):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
