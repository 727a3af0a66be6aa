"""Edits of syntax trees that break what the code says: small ones, each of which leaves a module that can be loaded."""

from __future__ import annotations

import ast
import copy
import functools
import re
from collections.abc import Callable, Iterator

import attrs

from tests.coverage_rows import ROOT
from tests.mutations.corruption import NAME
from tests.mutations.places import Definition, Place, definition_in, definition_of, source_of, tree_of

FIELD_NAME = "__corrupt_field__"
"""What `corrupt_field` is called in modules that have been broken."""


@attrs.frozen
class Break:
    """One edit of one module."""

    module: str
    line: int
    what: str
    """What is done to what, for the report."""
    tree: Callable[[], ast.Module]
    """Makes the tree of the module with the edit."""
    words: frozenset[str]
    """The words of what is edited, to find the edit that a row is about."""
    operator: str


def words_in(text: str) -> frozenset[str]:
    """The words of a text, or of names in it."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", text)
    return frozenset(re.findall(r"[a-z]+\d*", apart.lower()))


@functools.cache
def breaks_of(place: Place) -> tuple[Break, ...]:
    """All edits of what a place names."""
    definition, owner = definition_of(place, tree_of(place.module))
    found = [*_field_breaks(place, definition, owner)]
    for number, node in enumerate(_sites(definition, owner)):
        found += [
            _site_break(place, number, node, operator)
            for operator, edit in OPERATORS.items()
            if edit(_one_level(node)) is not None
        ]
    return tuple(found)


def _one_level(node: ast.AST) -> ast.AST:
    """A copy that an edit may change: it changes the fields of the node itself, and lists in them."""
    made = copy.copy(node)
    for name, value in ast.iter_fields(node):
        if isinstance(value, list):
            setattr(made, name, [*value])
    return made


def written_break(module: str, old: str, new: str) -> Break:
    """A break that is written down: another text in a module, in whose place that must stand once."""
    source = source_of(module)
    assert source is not None, module
    if source.count(old) != 1:
        raise ValueError(f"{module} has the text {source.count(old)} times: {old}")
    line = source[: source.index(old)].count("\n") + 1
    changed = source.replace(old, new)
    return Break(module, line, f"{old} -> {new}", lambda: ast.parse(changed), words_in(old), "written")


def breaks_of_messages(place: Place) -> Iterator[Break]:
    """Breaks of what writes a field of a relation or an expression: `encode_join` for ``Join.left``."""
    definition, owner = definition_of(place, tree_of(place.module))
    if owner is None or isinstance(definition, ast.FunctionDef):
        return
    writer = "encode_" + re.sub(r"(?<=[a-z])(?=[A-Z])", "_", owner.name).lower()
    for file in sorted((ROOT / "substrait_dsl" / "proto").glob("*.py")):
        module = f"substrait_dsl.proto.{file.stem}"
        if definition_in(tree_of(module).body, writer) is not None:
            breaks = breaks_of(Place(module, (writer,)))
            yield from (each for each in breaks if f".{place.names[-1]}" in each.what)


# --- where to break


def _sites(definition: Definition, owner: ast.ClassDef | None) -> Iterator[ast.AST]:
    """The nodes of a definition that may be edited; of a field, those of the methods' statements that mention it."""
    if owner is None or isinstance(definition, ast.FunctionDef):
        yield from _nodes(definition)
        return
    name = (
        definition.target.id
        if isinstance(definition, ast.AnnAssign) and isinstance(definition.target, ast.Name)
        else ""
    )
    yield from _nodes(definition)
    for method in owner.body:
        if isinstance(method, ast.FunctionDef):
            for statement in ast.walk(method):
                mentions = f"self.{name}"
                if isinstance(statement, ast.stmt) and not isinstance(statement, ast.FunctionDef):
                    head = ast.unparse(statement).partition("\n")[0]
                    if re.search(rf"\b{re.escape(mentions)}\b", head):
                        yield from _nodes(statement)


def _nodes(definition: ast.AST) -> Iterator[ast.AST]:
    """The nodes inside, without annotations and docstrings, which say nothing to Python."""
    stack = [definition]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "attrs.field":  # how a class is made, and no rule
            continue
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns", "decorator_list", "type_params", "bases", "args") and not (
                field == "args" and isinstance(node, ast.Call)
            ):
                continue
            children = value if isinstance(value, list) else [value]
            stack.extend(
                child for child in reversed(children) if isinstance(child, ast.AST) and not _is_docstring(child)
            )


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _site_break(place: Place, number: int, node: ast.AST, operator: str) -> Break:
    def tree() -> ast.Module:
        made = copy.deepcopy(tree_of(place.module))
        definition, owner = definition_of(place, made)
        for position, site in enumerate(_sites(definition, owner)):
            if position == number:
                edited = OPERATORS[operator](_one_level(site))
                assert edited is not None
                _Replace(site, edited).visit(made)
                return ast.fix_missing_locations(made)
        raise AssertionError(f"{place}: there is no node {number}")

    text = _text_of_entry(node, operator) or ast.unparse(node)
    what = f"{operator}: {' '.join(text.split())[:120]}"
    return Break(place.module, getattr(node, "lineno", 0), what, tree, words_in(text), operator)


def _text_of_entry(node: ast.AST, operator: str) -> str:
    """The text of the entry of a table that an edit concerns; empty for other edits."""
    number = operator.rpartition(" ")[2]
    if not number.isdigit():
        return ""
    if isinstance(node, ast.Dict):
        key = node.keys[int(number)]
        return f"{ast.unparse(key) if key else '**'}: {ast.unparse(node.values[int(number)])}"
    return ast.unparse(node.elts[int(number)]) if isinstance(node, ast.Tuple | ast.List | ast.Set) else ""


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old = old
        self.new = new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else self.generic_visit(node)


def _field_breaks(place: Place, definition: Definition, owner: ast.ClassDef | None) -> Iterator[Break]:
    """Objects whose fields hold something else than they were given."""
    if owner is not None:
        fields = [definition] if isinstance(definition, ast.AnnAssign) else []
    elif isinstance(definition, ast.ClassDef):
        owner = definition
        fields = [each for each in definition.body if isinstance(each, ast.AnnAssign)]
    else:
        return
    for field in fields:
        if isinstance(field.target, ast.Name) and "ClassVar" not in ast.unparse(field.annotation):
            yield _field_break(place.module, owner.name, field.target.id, field.lineno)


def _field_break(module: str, kind: str, name: str, line: int) -> Break:
    program = f"""
def _broken(cls, hook):
    original = getattr(cls, hook)
    def broken(self, *args, **kwargs):
        original(self, *args, **kwargs)
        {FIELD_NAME}(self, {name!r})
    setattr(cls, hook, broken)
_broken({kind}, "__attrs_post_init__" if hasattr({kind}, "__attrs_post_init__") else "__init__")
"""
    return _added(module, line, f"the field {kind}.{name} holds something else", program, "field")


def _added(module: str, line: int, what: str, program: str, operator: str) -> Break:
    """A break that stands at the end of a module."""

    def tree() -> ast.Module:
        made = copy.deepcopy(tree_of(module))
        made.body += ast.parse(program).body
        return made

    return Break(module, line, what, tree, words_in(what), operator)


def breaks_of_rules(place: Place, asks: str) -> Iterator[Break]:
    """Breaks of rules that many relations have: how many inputs there are, and whether there is an output."""
    definition, owner = definition_of(place, tree_of(place.module))
    if owner is not None or not isinstance(definition, ast.ClassDef):
        return
    name = definition.name
    if re.match("Inputs?:", asks):
        program = f"{name}.inputs = property(lambda self, get={name}.inputs.fget: get(self)[1:] or (self,))"
        yield _added(place.module, definition.lineno, f"{name} has another number of inputs", program, "inputs")
    if re.match("Outputs?:", asks):
        program = f"""
def _broken(cls):
    from substrait_dsl.algebra.schema import Field, NamedStruct
    from substrait_dsl.algebra.types import Boolean
    validate = cls._validate
    def broken(self):
        validate(self)
        fields = () if self.schema.fields else (Field("x", Boolean()),)
        object.__setattr__(self, "schema", NamedStruct(fields))
    cls._validate = broken
_broken({name})
"""
        yield _added(place.module, definition.lineno, f"{name} has an output or none", program, "outputs")


# --- how to break

Edit = Callable[[ast.AST], ast.AST | None]
"""Makes another node of one, which it may change; None where it does not apply."""


def _corrupted(value: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(NAME, ast.Load()), [value], [])


def _negate(node: ast.AST) -> ast.AST | None:
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        node.test = ast.UnaryOp(ast.Not(), node.test)
        return node
    if isinstance(node, ast.comprehension) and node.ifs:
        node.ifs[0] = ast.UnaryOp(ast.Not(), node.ifs[0])
        return node
    return None


OTHER_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


def _compare(node: ast.AST) -> ast.AST | None:
    if not isinstance(node, ast.Compare):
        return None
    node.ops[-1] = OTHER_COMPARISONS[type(node.ops[-1])]()
    return node


def _connect(node: ast.AST) -> ast.AST | None:
    if not isinstance(node, ast.BoolOp):
        return None
    node.op = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
    return node


def _leave_out(node: ast.AST) -> ast.AST | None:
    """A check or an effect that does not happen."""
    if isinstance(node, ast.Raise) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call | ast.YieldFrom)):
        return ast.Pass()
    return None


def _leave_case_out(node: ast.AST) -> ast.AST | None:
    if not isinstance(node, ast.match_case):
        return None
    if isinstance(node.pattern, ast.MatchAs) and node.pattern.pattern is None:  # all that is left
        return None
    node.guard = ast.Constant(False)
    return node


def _other_value(node: ast.AST) -> ast.AST | None:
    """What is returned, set or yielded is something else."""
    if isinstance(node, ast.Return | ast.Assign | ast.AnnAssign | ast.Yield) and node.value is not None:
        if isinstance(node, ast.Assign | ast.AnnAssign) and (_is_type_alias(node.value) or _is_default(node)):
            return None
        node.value = _corrupted(node.value)
        return node
    return None


def _is_type_alias(value: ast.expr) -> bool:
    return isinstance(value, ast.Subscript) or (isinstance(value, ast.BinOp) and isinstance(value.op, ast.BitOr))


def _is_default(node: ast.Assign | ast.AnnAssign) -> bool:
    """Whether a field is declared here, whose default is not what it holds."""
    value = node.value
    return isinstance(node, ast.AnnAssign) and (
        isinstance(value, ast.Constant) or (isinstance(value, ast.Call) and ast.unparse(value.func) == "attrs.field")
    )


def _other_argument(node: ast.AST) -> ast.AST | None:
    if not isinstance(node, ast.Call) or not node.args or isinstance(node.args[-1], ast.Starred):
        return None
    node.args[-1] = _corrupted(node.args[-1])
    return node


def _other_keyword(node: ast.AST) -> ast.AST | None:
    if not isinstance(node, ast.keyword) or node.arg is None:
        return None
    node.value = _corrupted(node.value)
    return node


def _other_constant(node: ast.AST) -> ast.AST | None:
    if not isinstance(node, ast.Constant) or not isinstance(node.value, bool | int):
        return None
    return ast.Constant(not node.value if isinstance(node.value, bool) else node.value + 1)


def _other_entry(node: ast.AST) -> ast.AST | None:
    """A table of one entry less: see `_entries` for tables of several."""
    if isinstance(node, ast.Dict) and len(node.values) == 1:
        return ast.Dict([], [])
    return None


def _other_side(node: ast.AST) -> ast.AST | None:
    sides = {"left": "right", "right": "left"}
    if isinstance(node, ast.Attribute) and node.attr in sides:
        node.attr = sides[node.attr]
        return node
    return None


def _without(position: int) -> Edit:
    """A table, a tuple or a type of several words without one of them."""

    def edit(node: ast.AST) -> ast.AST | None:
        if isinstance(node, ast.Dict) and position < len(node.values) > 1:
            del node.keys[position], node.values[position]
            return node
        if isinstance(node, ast.Tuple | ast.List | ast.Set) and position < len(node.elts) > 1:
            if isinstance(getattr(node, "ctx", None), ast.Store):
                return None
            del node.elts[position]
            return node
        return None

    return edit


def _with_another(position: int) -> Edit:
    """A table with another value in one entry."""

    def edit(node: ast.AST) -> ast.AST | None:
        if isinstance(node, ast.Dict) and position < len(node.values) and node.keys[position] is not None:
            node.values[position] = _corrupted(node.values[position])
            return node
        return None

    return edit


def _only_left(node: ast.AST) -> ast.AST | None:
    """A union of classes without the last one."""
    return node.left if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr) else None


MAX_ENTRIES = 60

OPERATORS: dict[str, Edit] = {
    "negated": _negate,
    "left out": _leave_out,
    "another value": _other_value,
    "another comparison": _compare,
    "and for or": _connect,
    "a case left out": _leave_case_out,
    "another argument": _other_argument,
    "another keyword": _other_keyword,
    "the other side": _other_side,
    "another constant": _other_constant,
    "no entry": _other_entry,
    "a shorter union": _only_left,
    **{f"another value in entry {position}": _with_another(position) for position in range(MAX_ENTRIES)},
    **{f"without entry {position}": _without(position) for position in range(MAX_ENTRIES)},
}

CORRUPTING = re.compile("another (value|argument|keyword)|field")
"""The operators that change values while the tests run, if there is something to change."""
