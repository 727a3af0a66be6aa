"""Read the columns of schema classes from mypy, and tell mypy what depends on them.

mypy's caches sort the names of a class, so the order of its columns is written to the metadata of the class. mypy does
not know that the type of a call depends on the columns of schema classes: dependencies are added for its daemon, which
checks functions anew, and for its caches, which hold modules.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from mypy.nodes import (
    AssignmentStmt,
    Expression,
    ForStmt,
    IfStmt,
    MatchStmt,
    MypyFile,
    NameExpr,
    Statement,
    SymbolTableNode,
    TryStmt,
    TypeInfo,
    Var,
    WhileStmt,
    WithStmt,
)
from mypy.types import AnyType, RawExpressionType, Type, TypeOfAny, UnboundType

from substrait_dsl.mypy_plugin.mypy_internals import find_modules, find_tree, make_trigger, make_wildcard_trigger

if TYPE_CHECKING:
    from mypy.plugin import CheckerPluginInterface, ClassDefContext

KEY = "substrait_dsl"
"""The key of the order of the columns in the metadata of a class."""

SCHEMA = "substrait_dsl.fluent.schemas.Schema"
ROWS = ("substrait_dsl.fluent.schemas.DynRow", "substrait_dsl.fluent.rows.Row")


def is_schema(info: TypeInfo) -> bool:
    """Whether a class declares columns: a subclass of `Schema` that is no row class of the library."""
    return info.has_base(SCHEMA) and info.fullname != SCHEMA and not any(info.has_base(row) for row in ROWS)


def is_column(info: TypeInfo, name: str) -> bool:
    """Whether a name of a class is a column, and no method, no ``ClassVar`` and no name without an annotation."""
    return is_schema(info) and (info.get(name) is None or any(_is_annotated(base, name) for base in info.mro))


def _is_annotated(base: TypeInfo, name: str) -> bool:
    symbol = base.names.get(name)
    if symbol is None or not isinstance(symbol.node, Var) or symbol.node.is_classvar:
        return False
    return name in base.metadata[KEY]["columns"] if KEY in base.metadata else not symbol.node.is_inferred


def is_schema_base(symbol: SymbolTableNode | None) -> bool:
    """Whether the subclasses of a class declare columns."""
    return symbol is not None and isinstance(symbol.node, TypeInfo) and symbol.node.has_base(SCHEMA)


def record_columns(context: ClassDefContext) -> None:
    """Write the order of a schema class's own columns to its metadata, and tell mypy what depends on them."""
    info = context.cls.info
    names = [
        target.name
        for statement in context.cls.defs.body
        if isinstance(statement, AssignmentStmt) and statement.unanalyzed_type is not None
        for target in statement.lvalues
        if isinstance(target, NameExpr) and not target.name.startswith("__")
    ]
    marked = [name for statement in context.cls.defs.body for name in _marked_names(statement)]
    unclear = any(map(_has_unclear_column, context.cls.defs.body))
    info.metadata[KEY] = {"columns": names, "marked": marked, "unclear": unclear}
    # What depends on the class depends on its contents, on the types of its columns, and on its base classes.
    changes = [make_wildcard_trigger(info.fullname)]
    changes += [make_trigger(f"{info.fullname}.{name}") for name in names]
    changes += [make_trigger(base.fullname) for base in info.mro[1:] if KEY in base.metadata]
    for change in changes:
        context.api.add_plugin_dependency(change, make_trigger(info.fullname))


def _has_unclear_column(statement: Statement) -> bool:
    """Whether Python may see another column than mypy does, or none: in a branch, or a private one."""
    match statement:
        case AssignmentStmt(lvalues=[NameExpr(name=name), *_], unanalyzed_type=Type()):
            return name.startswith("__") and not name.endswith("__")
    return isinstance(statement, ForStmt | IfStmt | MatchStmt | TryStmt | WhileStmt | WithStmt)


def _marked_names(statement: Statement) -> list[str]:
    """Return the columns of a statement whose types may be in metadata, which mypy does not keep."""
    return [target.name for target in marked_targets(statement) if isinstance(target, NameExpr)]


def marked_targets(statement: Statement) -> list[Expression]:
    """Return the targets with metadata that may be a type: ``x: Annotated[Func, Func((I64(),), I64())]``."""
    match statement:
        case AssignmentStmt(lvalues=targets, unanalyzed_type=Type() as type_) if _has_metadata(type_):
            return targets
    return []


def _has_metadata(type_: Type) -> bool:
    """Whether a type contains metadata other than text: they may be another type."""
    if not isinstance(type_, UnboundType):
        return False
    metadata = type_.args[1:] if type_.name.rpartition(".")[2] == "Annotated" else ()
    return not all(map(_is_text, metadata)) or any(map(_has_metadata, type_.args))


def _is_text(type_: Type) -> bool:
    if isinstance(type_, RawExpressionType):
        return type_.base_type_name == "builtins.str"
    return isinstance(type_, UnboundType) and type_.original_str_expr is not None


def has_unlisted_columns(base: TypeInfo) -> bool:
    """Whether a class that is no schema may have annotations, which are columns of the schemas that inherit from it."""
    is_of_python = base.module_name in ("builtins", "typing", "abc")
    if is_of_python or base.fullname == SCHEMA or KEY in base.metadata:
        return False
    return any(isinstance(each.node, Var) for each in base.names.values())


def record_reading(class_: TypeInfo, checker: CheckerPluginInterface) -> None:
    """Remember that the types of the module that is being checked depend on the columns of a class."""
    _READ_SCHEMAS[find_tree(checker).fullname].add(class_)


def find_annotations(schema: TypeInfo, checker: CheckerPluginInterface) -> dict[str, Type]:
    """Return the annotation of each column, in order: first those of base classes."""
    record_reading(schema, checker)
    annotations: dict[str, Type] = {}
    if any(has_unlisted_columns(base) or base.metadata.get(KEY, {}).get("unclear") for base in schema.mro):
        return annotations
    for base in reversed(schema.mro):
        annotations.update(_own_annotations(base))
    return annotations


def has_no_columns(schema: TypeInfo) -> bool:
    """Whether a schema class is known to declare no column, nor to inherit one."""
    if any(has_unlisted_columns(base) or base.metadata.get(KEY, {}).get("unclear") for base in schema.mro):
        return False
    return not any(base.metadata.get(KEY, {}).get("columns") for base in schema.mro)


def _own_annotations(schema: TypeInfo) -> dict[str, Type]:
    annotations: dict[str, Type] = {}
    recorded = schema.metadata.get(KEY, {})
    for name in recorded.get("columns", ()):
        symbol = schema.names.get(name)
        column = symbol.node if symbol is not None else None
        if isinstance(column, Var) and column.type is not None and not column.is_classvar:
            annotations[name] = AnyType(TypeOfAny.special_form) if name in recorded.get("marked", ()) else column.type
    return annotations


_READ_SCHEMAS: defaultdict[str, set[TypeInfo]] = defaultdict(set)
"""The schema classes whose columns have been read, for each module that is being checked."""


def find_dependencies(file: MypyFile) -> set[str]:
    """Return the modules on which the types of a module depend, after it has been checked."""
    classes = [base for schema in _READ_SCHEMAS.pop(file.fullname, ()) for base in schema.mro]
    types = [column for schema in classes for column in _own_annotations(schema).values()]
    return {schema.module_name for schema in classes} | find_modules(types)
