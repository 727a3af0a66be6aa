"""The hints of the library: the texts behind `hint=`, and what code in them names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import substrait_dsl as sd

ROOT = Path(sd.__file__).parent

VALUE = "\0"
"""What stands in a text for a value that the program puts there."""

HINT_NAME = re.compile(r"hint|advice|remedy|instead", re.IGNORECASE)
"""Names of arguments, variables and functions whose texts are hints."""


ADVICE = re.compile(r"\bwrite \S*\w\(|\bread_\w+\((?!\))")
"""What a text says that is a hint, whatever it is called."""

FLUENT = "substrait_dsl.fluent."
"""What each text in these modules names, hint or not, is of the API that they are."""

WITHOUT_WORDS = ("function_examples", "stub", "schema_source")
"""Modules that write programs."""

Text = tuple[str, int, str]
"""A module, a line and the text that stands there."""


class Texts:
    """The texts that hints are made of, in the modules of a package.

    A name in a hint leads to what it stands for: a constant or a function of the module or of the one it is imported
    from, or a variable of the function around it.

    Args:
        modules: the source of each module, by its dotted name.
    """

    def __init__(self, modules: Mapping[str, str]) -> None:
        self.trees = {name: ast.parse(source) for name, source in modules.items()}
        self.imported = {name: dict(_imports(tree)) for name, tree in self.trees.items()}
        self.defined = {name: _definitions(tree.body) for name, tree in self.trees.items()}
        self.positions = {
            node.name: [each.arg for each in (*node.args.posonlyargs, *node.args.args) if each.arg != "self"]
            for tree in self.trees.values()
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef)
        }
        self.seen: set[int] = set()

    def hints(self) -> Iterator[Text]:
        """Yield each text of a hint."""
        for module, tree in self.trees.items():
            for scope in ast.walk(tree):
                if isinstance(scope, ast.FunctionDef | ast.ClassDef | ast.Module):
                    local = {} if isinstance(scope, ast.Module) else _definitions(scope.body)
                    for node in _hints_in(scope, self.positions):
                        yield from self.texts(node, module, local)
            if module.endswith(WITHOUT_WORDS):
                continue
            is_fluent = module.startswith(FLUENT)
            documents = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
            for node in ast.walk(tree):
                if isinstance(node, ast.Constant | ast.JoinedStr) and id(node) not in documents:
                    yield from (found for found in self.texts(node, module, {}) if is_fluent or ADVICE.search(found[2]))

    def texts(self, node: ast.AST, module: str, local: Mapping[str, list[ast.AST]]) -> Iterator[Text]:
        """Yield the texts of an expression or a function, and of what it names."""
        if id(node) in self.seen:
            return
        self.seen.add(id(node))
        parts: Iterable[ast.AST]
        match node:
            case ast.JoinedStr(values=values):
                text = "".join(str(each.value) if isinstance(each, ast.Constant) else VALUE for each in values)
                yield module, node.lineno, text
                self.seen.update(map(id, values))
                parts = [each.value for each in values if isinstance(each, ast.FormattedValue)]
            case ast.Constant(value=str(text)):
                yield module, node.lineno, text
                parts = []
            case ast.Name(id=name):
                where, parts = self._definition(name, module, local)
                module, local = where, local if where == module else {}
            case ast.FunctionDef(body=body):
                local = _definitions(body)
                parts = [each.value for each in ast.walk(node) if isinstance(each, ast.Return) and each.value]
            case ast.IfExp(body=first, orelse=other):
                parts = [first, other]
            case ast.Subscript(value=value) | ast.Lambda(body=value):
                parts = [value]
            case ast.Compare() | ast.Call(func=ast.Attribute(attr="compile")):
                parts = []
            case _:
                parts = ast.iter_child_nodes(node)
        for each in parts:
            yield from self.texts(each, module, local)

    def _definition(self, name: str, module: str, local: Mapping[str, list[ast.AST]]) -> tuple[str, list[ast.AST]]:
        """Return what a name stands for, and in which module."""
        if name in local:
            return module, local[name]
        if name in self.defined[module]:
            return module, self.defined[module][name]
        source = self.imported[module].get(name, "")
        return source, self.defined.get(source, {}).get(name, [])


def _imports(tree: ast.AST) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from ((each.asname or each.name, node.module) for each in node.names)


def _definitions(body: list[ast.stmt]) -> dict[str, list[ast.AST]]:
    """What each name of a body stands for: functions, and the values of variables."""
    found: dict[str, list[ast.AST]] = {}
    for node in (each for statement in body for each in _statements(statement)):
        match node:
            case ast.FunctionDef(name=name):
                found.setdefault(name, []).append(node)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found.setdefault(name, []).append(value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                found.setdefault(name, []).append(value)
            case ast.AugAssign(target=ast.Name(id=name), value=value):
                found.setdefault(name, []).append(value)
            case ast.NamedExpr(target=ast.Name(id=name), value=value):
                found.setdefault(name, []).append(value)
    return found


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and what is in it, but for the bodies of functions and classes."""
    yield node
    if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda):
        for each in ast.iter_child_nodes(node):
            yield from _statements(each)


def _hints_in(
    scope: ast.FunctionDef | ast.ClassDef | ast.Module, positions: Mapping[str, list[str]]
) -> Iterator[ast.AST]:
    """Yield the expressions of a scope that are hints: arguments and variables of such a name, and such a function."""
    if isinstance(scope, ast.FunctionDef) and HINT_NAME.search(scope.name):
        yield scope
    for node in (each for statement in scope.body for each in _statements(statement)):
        match node:
            case ast.keyword(arg=str(name), value=value) if HINT_NAME.search(name):
                yield value
            case ast.Assign(targets=[ast.Name(id=name) | ast.Attribute(attr=name)], value=value) if HINT_NAME.search(
                name
            ):
                yield value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value) if HINT_NAME.search(name):
                yield value
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=arguments):
                for parameter, value in zip(positions.get(name, ()), arguments, strict=False):
                    if HINT_NAME.search(parameter):
                        yield value


def mentions(text: str, receivers: Iterable[str]) -> Iterator[str]:
    """Yield the names that a text takes of one of the receivers, called or not.

    >>> list(mentions("sd.I64 is a type, functions.sum(x) a call", ["sd", "functions"]))
    ['sd.I64', 'functions.sum']
    """
    for found in re.finditer(rf"(?<![\w.\0])(?:{'|'.join(receivers)})(?:\.[A-Za-z_]\w*)+", text):
        yield found[0]


def calls(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield what a text calls, with what stands before it and a dot, and the names of the arguments it has by name.

    >>> list(calls('write sd.read_csv(path, schema).select(x="id"), or cast(t, on_failure="throw")'))
    [('sd.read_csv', []), ('.select', ['x']), ('cast', ['on_failure'])]
    """
    for found in _CALLED.finditer(text):
        yield (
            found[1],
            [name[1] for part in _arguments(text[found.end() :]) if (name := _BY_NAME.match(part)) is not None],
        )


def _arguments(text: str) -> Iterator[str]:
    """Yield the arguments of a call, of which the text is all after its parenthesis."""
    depth, start, quote = 0, 0, ""
    for position, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}" and depth:
            depth -= 1
        elif depth == 0 and character in ",)":
            yield text[start:position].strip()
            start = position + 1
            if character == ")":
                return


_CALLED = re.compile(r"(?<![\w\0%\\])((?:[A-Za-z_]\w*)?(?:\.[A-Za-z_]\w*)*)\((?!s\))")
_BY_NAME = re.compile(r"([A-Za-z_]\w*)=(?!=)")
