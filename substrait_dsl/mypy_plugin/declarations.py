"""Schema classes, as mypy sees them.

mypy's caches sort the names of a class, so the order of its columns is written beside them, when the class is analysed.
And mypy does not know that a type like ``Relation[Row[...]]`` follows from the columns of a class: its daemon is told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mypy.nodes import AssignmentStmt, NameExpr, SymbolTableNode, TypeInfo, Var
from mypy.types import Type

if TYPE_CHECKING:
    from mypy.checker import TypeChecker
    from mypy.plugin import ClassDefContext

KEY = "substrait_dsl"
"""Where in the metadata of a class the order of its columns stands."""

SCHEMA = "substrait_dsl.fluent.schemas.Schema"
ROWS = ("substrait_dsl.fluent.schemas.DynRow", "substrait_dsl.fluent.rows.Row")


def is_schema(info: TypeInfo) -> bool:
    """Whether a class declares columns: a subclass of `Schema` that is no row of the library's own."""
    return info.has_base(SCHEMA) and info.fullname != SCHEMA and not any(info.has_base(row) for row in ROWS)


def is_base(symbol: SymbolTableNode | None) -> bool:
    """Whether what inherits from this declares columns."""
    return symbol is not None and isinstance(symbol.node, TypeInfo) and symbol.node.has_base(SCHEMA)


def remember_order(context: ClassDefContext) -> None:
    """Write down the order of a schema class's own columns."""
    names = [
        target.name
        for statement in context.cls.defs.body
        if isinstance(statement, AssignmentStmt) and statement.unanalyzed_type is not None
        for target in statement.lvalues
        if isinstance(target, NameExpr) and not target.name.startswith("__")
    ]
    context.cls.info.metadata[KEY] = {"columns": names}


def annotations_of(schema: TypeInfo, checker: TypeChecker) -> dict[str, Type]:
    """The annotation of each column, in order: first those of the classes that it inherits from."""
    found: dict[str, Type] = {}
    for base in reversed(schema.mro):
        columns = base.metadata.get(KEY)
        if columns is None:
            continue
        _depend(base, checker)
        for name in columns["columns"]:
            symbol = base.names.get(name)
            column = symbol.node if symbol is not None else None
            if isinstance(column, Var) and column.type is not None and not column.is_classvar:
                found[name] = column.type
    return found


def _depend(schema: TypeInfo, checker: TypeChecker) -> None:
    """Tell the daemon to check this place again when the columns of a class change.

    `add_plugin_dependency` exists only while names are resolved; these are what it uses.
    """
    tree, scope = getattr(checker, "tree", None), getattr(checker, "tscope", None)
    if tree is not None and scope is not None:
        tree.plugin_deps.setdefault(f"<{schema.fullname}[wildcard]>", set()).add(scope.current_target())
