"""Walk over the statements and expressions of a file.

mypy has visitors, but Python code cannot inherit from them, because they are compiled.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mypy import nodes as n
from mypy import patterns as p

from substrait_dsl.mypy_plugin.mypy_internals import find_tree

if TYPE_CHECKING:
    from mypy.plugin import CheckerPluginInterface

CHILD_FIELDS: Mapping[type, tuple[str, ...]] = {
    n.MypyFile: ("defs",),
    n.Block: ("body",),
    n.FuncDef: ("arguments", "body"),
    n.LambdaExpr: ("arguments", "body"),
    n.Argument: ("initializer",),
    n.Decorator: ("func", "decorators"),
    n.OverloadedFuncDef: ("items",),
    n.ClassDef: ("defs", "base_type_exprs", "decorators", "keywords", "metaclass"),
    n.AssignmentStmt: ("rvalue", "lvalues"),
    n.OperatorAssignmentStmt: ("rvalue", "lvalue"),
    n.ExpressionStmt: ("expr",),
    n.ForStmt: ("index", "expr", "body", "else_body"),
    n.WhileStmt: ("expr", "body", "else_body"),
    n.IfStmt: ("expr", "body", "else_body"),
    n.ReturnStmt: ("expr",),
    n.AssertStmt: ("expr", "msg"),
    n.DelStmt: ("expr",),
    n.RaiseStmt: ("expr", "from_expr"),
    n.TryStmt: ("types", "vars", "body", "handlers", "else_body", "finally_body"),
    n.WithStmt: ("expr", "target", "body"),
    n.MatchStmt: ("subject", "patterns", "guards", "bodies"),
    p.AsPattern: ("pattern", "name"),
    p.OrPattern: ("patterns",),
    p.ValuePattern: ("expr",),
    p.SequencePattern: ("patterns",),
    p.StarredPattern: ("capture",),
    p.MappingPattern: ("keys", "values", "rest"),
    p.ClassPattern: ("class_ref", "positionals", "keyword_values"),
    n.MemberExpr: ("expr",),
    n.YieldFromExpr: ("expr",),
    n.YieldExpr: ("expr",),
    n.AwaitExpr: ("expr",),
    n.CallExpr: ("callee", "args"),
    n.OpExpr: ("left", "right"),
    n.ComparisonExpr: ("operands",),
    n.SliceExpr: ("begin_index", "end_index", "stride"),
    n.CastExpr: ("expr",),
    n.AssertTypeExpr: ("expr",),
    n.RevealExpr: ("expr",),
    n.SuperExpr: ("call",),
    n.UnaryExpr: ("expr",),
    n.ListExpr: ("items",),
    n.TupleExpr: ("items",),
    n.SetExpr: ("items",),
    n.DictExpr: ("items",),
    n.IndexExpr: ("base", "index"),
    n.GeneratorExpr: ("left_expr", "sequences", "condlists", "indices"),
    n.DictionaryComprehension: ("key", "value", "sequences", "condlists", "indices"),
    n.ListComprehension: ("generator",),
    n.SetComprehension: ("generator",),
    n.ConditionalExpr: ("cond", "if_expr", "else_expr"),
    n.TypeApplication: ("expr",),
    n.StarExpr: ("expr",),
    n.AssignmentExpr: ("target", "value"),
}
"""The fields of each class of nodes that have child nodes. Other classes have none."""


def walk(tree: n.Node) -> Iterator[Any]:
    """Return each node of a file, in any order."""
    stack: list[Any] = [tree]
    while stack:
        node = stack.pop()
        class_ = type(node)
        if class_ is list or class_ is tuple:
            stack.extend(node)
        elif class_ is dict:
            stack.extend(node.values())
        elif node is not None:
            yield node
            for name in CHILD_FIELDS.get(class_, ()):
                stack.append(getattr(node, name))  # noqa: PERF401  # a generator for each node would take longer


def find_nodes(checker: CheckerPluginInterface) -> Sequence[Any]:
    """Return the nodes of the file that is being checked, in the order of `walk`: the file is walked once.

    mypy's daemon makes a checker each time it checks a file.
    """
    if not _LAST or _LAST[0][0] is not checker:
        _LAST[:] = [(checker, tuple(walk(find_tree(checker))))]
    return _LAST[0][1]


_LAST: list[tuple[CheckerPluginInterface, Sequence[Any]]] = []
"""The nodes of the file that was asked about last."""
