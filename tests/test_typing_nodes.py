"""What the plugin trusts of a variable depends on every use of it: no kind of node of mypy's may be passed over."""

from __future__ import annotations

from mypy import nodes, patterns

from substrait_dsl.mypy_plugin.nodes import CHILD_FIELDS

LEAVES = frozenset(
    (
        # constants, names, and statements that are one word or name something
        "BreakStmt", "BytesExpr", "ComplexExpr", "ContinueStmt", "EllipsisExpr", "FloatExpr", "GlobalDecl", "Import",
        "ImportAll", "ImportFrom", "IntExpr", "NameExpr", "NonlocalDecl", "PassStmt", "SingletonPattern", "StrExpr",
        # types, which hold no values
        "EnumCallExpr", "NamedTupleExpr", "NewTypeExpr", "ParamSpecExpr", "PromoteExpr", "TypeAliasExpr",
        "TypeAliasStmt", "TypedDictExpr", "TypeFormExpr", "TypeVarExpr", "TypeVarTupleExpr",
        # what mypy makes for itself
        "FakeExpression", "TempNode",
        # a t-string, which is newer than the Python that this library needs
        "TemplateStrExpr",
    )
)  # fmt: skip
"""The kinds of nodes without parts that matter."""

BASES = frozenset(("Expression", "ImportBase", "Lvalue", "Pattern", "RefExpr", "Statement", "TypeVarLikeExpr"))


def test_every_kind_of_node_is_walked_or_known_to_have_no_parts() -> None:
    kinds = {
        kind.__name__
        for module in (nodes, patterns)
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, nodes.Statement | nodes.Expression | patterns.Pattern)
    }
    assert sorted(kinds - {kind.__name__ for kind in CHILD_FIELDS} - LEAVES - BASES) == []


def test_what_is_walked_is_there() -> None:
    assert [(kind, part) for kind, parts in CHILD_FIELDS.items() for part in parts if not hasattr(kind, part)] == []
