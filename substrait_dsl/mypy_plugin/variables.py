"""Variables of the program that are assigned once: their value is that of the assigned expression.

``keys = ["a", "b"]`` and ``revenue = sd.col("price") * sd.col("quantity")`` are evaluated where the variables are used,
if the variable is assigned once, and if nothing can change the list or dict.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mypy.nodes import (
    ARG_POS,
    ARG_STAR,
    ARG_STAR2,
    AssignmentExpr,
    AssignmentStmt,
    Block,
    CallExpr,
    ComparisonExpr,
    DelStmt,
    DictExpr,
    DictionaryComprehension,
    Expression,
    ForStmt,
    FuncDef,
    FuncItem,
    GeneratorExpr,
    IfStmt,
    Import,
    ImportFrom,
    IndexExpr,
    LambdaExpr,
    ListComprehension,
    ListExpr,
    MemberExpr,
    MypyFile,
    NameExpr,
    Node,
    OperatorAssignmentStmt,
    OpExpr,
    RefExpr,
    ReturnStmt,
    SetComprehension,
    StarExpr,
    StrExpr,
    SymbolNode,
    TempNode,
    TryStmt,
    TupleExpr,
    UnaryExpr,
    Var,
    WithStmt,
)
from mypy.patterns import AsPattern, MappingPattern, StarredPattern

from substrait_dsl.fluent.calls import Measure, WindowFunction
from substrait_dsl.fluent.expr import Expr
from substrait_dsl.fluent.grouping import GroupBy
from substrait_dsl.fluent.relation import Relation
from substrait_dsl.mypy_plugin.allowed import is_evaluated
from substrait_dsl.mypy_plugin.blocks import Branches, Filling, find_branches, find_fillings, statements_of
from substrait_dsl.mypy_plugin.immutability import are_items_constant, has_immutable_items, is_immutable
from substrait_dsl.mypy_plugin.loops import Loop, find_variables
from substrait_dsl.mypy_plugin.plan_parameters import CHECKS
from substrait_dsl.mypy_plugin.receivers import Receivers

if TYPE_CHECKING:
    pass

_READING_METHODS = frozenset(("get", "items", "keys", "values", "copy", "index", "count"))
"""Methods of lists and dicts that change nothing."""

_READING_FUNCTIONS = frozenset(f"builtins.{name}" for name in ("isinstance", "len", "print", "repr", "str"))
"""Functions that neither keep nor change their arguments."""

_COPYING_FUNCTIONS = frozenset(f"builtins.{name}" for name in ("dict", "list", "set", "sorted", "tuple"))
"""Functions that return another container with the same items."""

_VERBS = frozenset(
    name
    for kind in (Relation, GroupBy, Expr, Measure, WindowFunction)
    for name in dir(kind)
    if name == "sort" or not any(hasattr(changed, name) for changed in (list, dict, set))
)
"""Methods of this library: none of them changes its arguments."""

_ConditionalUse = tuple[Expression, Counter[SymbolNode], Counter[SymbolNode] | None]
"""An object that may be of a class of the program; the counter of uses if it is of none, and the counter if it is."""


class Variables:
    """The expression that is assigned to each variable of a file; None where there are several.

    A mutable value is known only if no use of the variable changes it or gives it another name. So all uses are
    counted, and all harmless uses: the value is known if the two numbers are the same.
    """

    def __init__(self, module: str, nodes: Iterable[Node]) -> None:
        self._module = module
        self._assigned: dict[SymbolNode, Expression | None] = {}
        self.targets: dict[int, tuple[Expression, str]] = {}
        """The variables and attributes that calls are assigned to, by the `id` of the call, with the call itself."""
        self.loops: defaultdict[SymbolNode, list[Loop]] = defaultdict(list)
        """The loops over the values of each variable."""
        self._fillings: defaultdict[SymbolNode, list[Filling]] = defaultdict(list)
        """The loops that fill the dict or list of each variable."""
        self._branches: defaultdict[SymbolNode, list[Branches]] = defaultdict(list)
        """The branches that assign a value to each variable."""
        self._changed_attributes: set[str] = set()
        """The names of the attributes that are assigned, or may be changed, outside of the bodies of classes."""
        self._counts: Counter[SymbolNode] = Counter()
        """How often each variable, or an item of it, is assigned."""
        self._imported: set[str] = set()
        self._uses: Counter[SymbolNode] = Counter()
        self._harmless_uses: Counter[SymbolNode] = Counter()
        """Uses that neither change the value nor read its items."""
        self._reading_uses: Counter[SymbolNode] = Counter()
        """Uses that read items of the value: harmless if the items are immutable."""
        self._conditional_uses: defaultdict[SymbolNode, list[_ConditionalUse]] = defaultdict(list)
        """Uses that are harmless if an object is of no class of the program."""
        self._fillings_by_statement: Counter[SymbolNode] = Counter()
        """Uses of a list that only add an item, ask whether there is one, or return it."""
        self._passes: Counter[SymbolNode] = Counter()
        """How often each variable is an argument with a star, or returned."""
        self._attributes: Counter[str] = Counter()
        """How often an attribute of each name is used."""
        self._defaults: dict[SymbolNode, Expression] = {}
        """The defaults of the parameters of functions."""
        self._passed: defaultdict[SymbolNode, list[Var]] = defaultdict(list)
        """The parameters of functions of the program that get the value of each variable."""
        self._calls_with_lambda: dict[SymbolNode, CallExpr] = {}
        """The calls with lambdas as arguments, by the parameters of the lambdas."""
        for node in nodes:
            visit = _VISITS.get(type(node))
            if visit is not None:
                visit(self, node)

    def find_alternatives(self, use: NameExpr) -> Sequence[Expression]:
        """Return the expressions that branches assign to a variable, if all of them may be what is used there."""
        variable = use.node
        if not isinstance(variable, Var) or variable not in self._branches or not is_immutable(variable.type):
            return ()
        for branches in self._branches[variable]:
            if branches.assigned == self._counts[variable] and len(branches.values) > 1 and branches.reach(use):
                return branches.values
        return ()

    def find_constant_of_class(self, attribute: Var) -> Expression | None:
        """Return the expression of a constant of a class of the file; None if another may be meant."""
        name, found = attribute.name, self._assigned.get(attribute)
        if not (attribute.is_classvar or attribute.is_final) or name in self._changed_attributes or found is None:
            return None
        if not (has_immutable_items(attribute.type) or is_immutable(attribute.type)):
            return None
        others = (
            each for each in self._assigned if isinstance(each, Var) and each.name == name and each is not attribute
        )
        return None if any(attribute.info in each.info.mro for each in others if each.info) else found

    def find_filling(self, use: NameExpr) -> Filling | None:
        """Return the loop that has filled the dict or list of a variable where it is used; None if there is none."""
        match self._fillings.get(use.node) if use.node is not None else None:
            case [Filling(loop=loop) as filling] if use.line > (loop.end_line or loop.line):
                return filling
        return None

    def find_assigned_value(self, use: NameExpr) -> Expression | None:
        """Return the expression that a variable is assigned once; None if there is no such one."""
        variable = use.node
        if not isinstance(variable, Var):
            return None
        filling = self.find_filling(use)
        is_filled = filling is not None and self._counts[variable] == (2 if isinstance(filling.value, DictExpr) else 1)
        found = filling.value if filling is not None and is_filled else self._assigned.get(variable)
        is_local = "." not in variable.fullname
        if found is None or not (is_local or variable.fullname == f"{self._module}.{variable.name}"):
            return None  # of another module: a fallback for what cannot be imported
        if variable.name in self._imported:
            return None
        if is_immutable(variable.type) or (isinstance(found, MemberExpr) and found.name == "c"):  # a row, perhaps
            return found
        is_safe_to_read = has_immutable_items(variable.type) or are_items_constant(found)
        return found if self._is_unchanged(variable, is_safe_to_read=is_safe_to_read) else None

    def _is_unchanged(self, variable: Var, *, is_safe_to_read: bool) -> bool:
        """Whether no use of a variable changes its list or dict, or gives it another name for longer than a call."""
        self._count_conditional_uses(variable)
        harmless = self._harmless_uses[variable] + (self._reading_uses[variable] if is_safe_to_read else 0)
        if is_safe_to_read:
            harmless += sum(map(self._is_only_read, self._passed.get(variable, ())))
        return self._uses[variable] == harmless

    def is_filled_list(self, variable: Var) -> bool:
        """Whether a variable is a list that is only filled, and passed on once: ``*conditions``, or returned."""
        if not isinstance(self._assigned.get(variable), ListExpr) or not has_immutable_items(variable.type):
            return False
        self._count_conditional_uses(variable)
        known = self._harmless_uses[variable] + self._reading_uses[variable] + self._fillings_by_statement[variable]
        known -= sum(isinstance(each.value, ListExpr) for each in self._fillings.get(variable, ()))  # counted twice
        return self._passes[variable] == 1 and self._uses[variable] == known

    def is_named_once(self, function: FuncDef) -> bool:
        """Whether a function, or an attribute of its name, is used once in the file."""
        return self._uses[function] + self._attributes[function.name] == 1

    def find_default(self, parameter: Var) -> Expression | None:
        """Return the default of a parameter to which nothing is assigned, and whose value nothing changes."""
        default = self._defaults.get(parameter)
        if default is None or self._counts[parameter]:
            return None
        return default if is_immutable(parameter.type) or self._is_only_read(parameter) else None

    def _is_only_read(self, parameter: Var) -> bool:
        """Whether a function only reads the list or dict that a parameter gets."""
        self._count_conditional_uses(parameter)
        harmless = self._harmless_uses[parameter] + self._reading_uses[parameter]
        return not self._counts[parameter] and self._uses[parameter] == harmless

    def _count_conditional_uses(self, variable: Var) -> None:
        """Count the uses of a variable that depend on the class of another object."""
        receivers = Receivers(self._assigned, self._calls_with_lambda)
        for receiver, places, otherwise in self._conditional_uses.pop(variable, ()):
            if receivers.is_harmless(receiver):
                places[variable] += 1
            elif otherwise is not None:
                otherwise[variable] += 1

    def _record_assignment(self, target: Expression | None, value: Expression | None) -> None:
        match target:
            case NameExpr(node=Var() as variable):
                self._assigned[variable] = None if variable in self._assigned else value
                self._counts[variable] += 1
                self._harmless_uses[variable] += 1
            case TupleExpr(items=items) | ListExpr(items=items):
                for item in items:
                    self._record_assignment(item, None)
            case StarExpr(expr=inner):
                self._record_assignment(inner, None)
            case IndexExpr(base=NameExpr(node=Var() as variable)):
                self._assigned[variable] = None  # a part of it is another now
                self._counts[variable] += 1
            case MemberExpr(name=name) | IndexExpr(base=MemberExpr(name=name)):
                self._changed_attributes.add(name)

    def _record_use(self, node: Expression, places: Counter[SymbolNode]) -> None:
        """Count a use of a variable that does not change it."""
        match node:
            case NameExpr(node=Var() as variable):
                places[variable] += 1

    def _record_conditional_use(
        self,
        node: Expression,
        receiver: Expression,
        places: Counter[SymbolNode],
        otherwise: Counter[SymbolNode] | None = None,
    ) -> None:
        """Record a use of a variable that counts as one of two sorts, by the class of another object."""
        match node:
            case NameExpr(node=Var() as variable):
                self._conditional_uses[variable].append((receiver, places, otherwise))

    # --- assignments

    def visit_block(self, o: Block | MypyFile) -> None:
        statements = statements_of(o)
        for filling in find_fillings(statements):
            self._fillings[filling.variable].append(filling)
            if isinstance(filling.value, ListExpr):  # to assign an item counts as to read one
                self._harmless_uses[filling.variable] += 1
        for branches in find_branches(statements):
            self._branches[branches.variable].append(branches)

    def visit_assignment_stmt(self, o: AssignmentStmt) -> None:
        match o.lvalues:
            case [NameExpr(name=name) | MemberExpr(name=name)] if isinstance(o.rvalue, CallExpr):
                self.targets[id(o.rvalue)] = o.rvalue, name
        if not isinstance(o.rvalue, TempNode):  # ``x: int``
            for target in o.lvalues:
                self._record_assignment(target, o.rvalue)
                if len(o.lvalues) > 1:
                    self._record_alias(target)
        elif isinstance(o.lvalues[0], NameExpr):
            self._record_use(o.lvalues[0], self._harmless_uses)

    def _record_alias(self, target: Expression) -> None:
        """Count a use that gives the value a second name, by which it can be changed."""
        if isinstance(target, NameExpr) and target.node is not None:
            self._uses[target.node] += 1

    def visit_assignment_expr(self, o: AssignmentExpr) -> None:
        self._record_assignment(o.target, o.value)
        self._record_alias(o.target)

    def visit_operator_assignment_stmt(self, o: OperatorAssignmentStmt) -> None:
        self._record_assignment(o.lvalue, None)

    def visit_for_stmt(self, o: ForStmt) -> None:
        for variable, path in find_variables(o.index):
            self.loops[variable].append(Loop(o, o.expr, path))
        self._record_assignment(o.index, None)
        self._record_use(o.expr, self._reading_uses)

    def visit_generator_expr(self, o: GeneratorExpr) -> None:
        self._record_loop(o)

    def visit_dictionary_comprehension(self, o: DictionaryComprehension) -> None:
        self._record_loop(o)
        self._record_comprehension(o)

    def visit_comprehension(self, o: ListComprehension | SetComprehension) -> None:
        self._record_comprehension(o.generator)

    def _record_comprehension(self, o: GeneratorExpr | DictionaryComprehension) -> None:
        """Record a loop that is made at once, and not when something asks for its values, as that of a generator."""
        for target, sequence in zip(o.indices, o.sequences, strict=True):
            for variable, path in find_variables(target):
                self.loops[variable].append(Loop(o, sequence, path))

    def _record_loop(self, o: GeneratorExpr | DictionaryComprehension) -> None:
        for target, sequence in zip(o.indices, o.sequences, strict=True):
            self._record_assignment(target, None)
            self._record_use(sequence, self._reading_uses)

    def visit_with_stmt(self, o: WithStmt) -> None:
        for target in o.target:
            self._record_assignment(target, None)

    def visit_try_stmt(self, o: TryStmt) -> None:
        for target in o.vars:
            self._record_assignment(target, None)

    def visit_del_stmt(self, o: DelStmt) -> None:
        self._record_assignment(o.expr, None)

    def visit_func(self, o: FuncItem) -> None:
        for argument in o.arguments:
            self._assigned[argument.variable] = None
            if argument.initializer is not None:
                self._defaults[argument.variable] = argument.initializer

    def visit_as_pattern(self, o: AsPattern) -> None:
        self._record_assignment(o.name, None)

    def visit_starred_pattern(self, o: StarredPattern) -> None:
        self._record_assignment(o.capture, None)

    def visit_mapping_pattern(self, o: MappingPattern) -> None:
        self._record_assignment(o.rest, None)

    def visit_import(self, o: Import) -> None:
        self._imported.update(alias or name.partition(".")[0] for name, alias in o.ids)

    def visit_import_from(self, o: ImportFrom) -> None:
        self._imported.update(alias or name for name, alias in o.names)

    # --- other uses

    def visit_member_expr(self, o: MemberExpr) -> None:
        self._attributes[o.name] += 1

    def visit_if_stmt(self, o: IfStmt) -> None:
        for condition in o.expr:
            self._record_use(condition, self._fillings_by_statement)

    def visit_unary_expr(self, o: UnaryExpr) -> None:
        if o.op == "not":
            self._record_use(o.expr, self._fillings_by_statement)

    def visit_return_stmt(self, o: ReturnStmt) -> None:
        if o.expr is not None:
            self._record_use(o.expr, self._fillings_by_statement)
            self._record_use(o.expr, self._passes)

    def visit_name_expr(self, o: NameExpr) -> None:
        if o.node is not None:
            self._uses[o.node] += 1

    def visit_comparison_expr(self, o: ComparisonExpr) -> None:
        match o:
            case ComparisonExpr(operators=["is" | "is not"], operands=operands):
                for operand in operands:
                    self._record_use(operand, self._harmless_uses)
            case ComparisonExpr(operators=[operator], operands=[left, right]):
                self._record_conditional_use(left, right, self._harmless_uses)
                self._record_conditional_use(
                    right, right if operator in ("in", "not in") else left, self._harmless_uses
                )

    def visit_op_expr(self, o: OpExpr) -> None:
        if o.op not in ("and", "or"):
            self._record_conditional_use(o.left, o.right, self._reading_uses)
            self._record_conditional_use(o.right, o.left, self._reading_uses)

    def visit_dict_expr(self, o: DictExpr) -> None:
        for key, value in o.items:
            if key is None:  # ``**value``
                self._record_use(value, self._reading_uses)

    def visit_star_expr(self, o: StarExpr) -> None:
        self._record_use(o.expr, self._reading_uses)

    def visit_index_expr(self, o: IndexExpr) -> None:
        self._record_use(o.base, self._reading_uses)

    def visit_call_expr(self, o: CallExpr) -> None:
        places = self._uses_of_arguments(o.callee)
        verb = o.callee.expr if isinstance(o.callee, MemberExpr) and o.callee.name in _VERBS else None
        for argument, kind in zip(o.args, o.arg_kinds, strict=True):
            if isinstance(argument, LambdaExpr):
                self._calls_with_lambda.update((parameter.variable, o) for parameter in argument.arguments)
            if places is not None:
                for part in _items_of(argument) if places is self._harmless_uses else [argument]:
                    self._record_use(part, places)
            elif verb is not None:
                self._record_conditional_use(
                    argument, verb, self._harmless_uses, self._reading_uses if kind in (ARG_STAR, ARG_STAR2) else None
                )
            elif kind in (ARG_STAR, ARG_STAR2):
                self._record_use(argument, self._reading_uses)
            if kind == ARG_STAR:
                self._record_use(argument, self._passes)
        if isinstance(o.callee, MemberExpr) and o.callee.name == "append":
            self._record_use(o.callee.expr, self._fillings_by_statement)
        if isinstance(o.callee, NameExpr) and isinstance(o.callee.node, FuncDef):
            self._record_passed(o, o.callee.node)
        if isinstance(o.callee, MemberExpr) and o.callee.name in _READING_METHODS:
            self._record_use(o.callee.expr, self._reading_uses)
        elif isinstance(o.callee, MemberExpr) and isinstance(o.callee.expr, MemberExpr) and o.callee.name not in _VERBS:
            self._changed_attributes.add(o.callee.expr.name)

    def _record_passed(self, o: CallExpr, function: FuncDef) -> None:
        """Record the variables that a function of the file gets. mypy may not have read the parameters of others."""
        if not function.fullname.startswith(f"{self._module}.") and "." in function.fullname:
            return
        by_name = {each.variable.name: each for each in function.arguments}
        for position, (argument, kind, name) in enumerate(zip(o.args, o.arg_kinds, o.arg_names, strict=True)):
            parameter = by_name.get(name or "")
            if kind == ARG_POS and position < len(function.arguments):
                parameter = function.arguments[position]
            variable = argument.node if isinstance(argument, NameExpr) else None
            if parameter is not None and not parameter.kind.is_star() and variable is not None:
                self._passed[variable].append(parameter.variable)

    def _uses_of_arguments(self, callee: Expression) -> Counter[SymbolNode] | None:
        """Return the counter for the arguments of a call; None if the call may change them."""
        match callee:
            case RefExpr(fullname=name) if is_evaluated(name) or name in _READING_FUNCTIONS or name in CHECKS:
                return self._harmless_uses
            case RefExpr(fullname=name) if name in _COPYING_FUNCTIONS:
                return self._reading_uses
            case MemberExpr(expr=StrExpr()):
                return self._harmless_uses
        return None


def _items_of(node: Expression) -> Iterator[Expression]:
    """Return the items of a list, tuple or dict that is written where it is used, and itself if it is none."""
    match node:
        case ListExpr(items=items) | TupleExpr(items=items):
            for item in items:
                yield from _items_of(item)
        case DictExpr(items=pairs):
            for key, value in pairs:
                yield from _items_of(value) if key is not None else ()
        case _:
            yield node


_VISITS: Mapping[type, Callable[[Variables, Any], None]] = {
    Block: Variables.visit_block,
    MypyFile: Variables.visit_block,
    AssignmentStmt: Variables.visit_assignment_stmt,
    AssignmentExpr: Variables.visit_assignment_expr,
    OperatorAssignmentStmt: Variables.visit_operator_assignment_stmt,
    ForStmt: Variables.visit_for_stmt,
    GeneratorExpr: Variables.visit_generator_expr,
    DictionaryComprehension: Variables.visit_dictionary_comprehension,
    ListComprehension: Variables.visit_comprehension,
    SetComprehension: Variables.visit_comprehension,
    WithStmt: Variables.visit_with_stmt,
    TryStmt: Variables.visit_try_stmt,
    DelStmt: Variables.visit_del_stmt,
    FuncDef: Variables.visit_func,
    LambdaExpr: Variables.visit_func,
    AsPattern: Variables.visit_as_pattern,
    StarredPattern: Variables.visit_starred_pattern,
    MappingPattern: Variables.visit_mapping_pattern,
    Import: Variables.visit_import,
    ImportFrom: Variables.visit_import_from,
    NameExpr: Variables.visit_name_expr,
    MemberExpr: Variables.visit_member_expr,
    IfStmt: Variables.visit_if_stmt,
    UnaryExpr: Variables.visit_unary_expr,
    ReturnStmt: Variables.visit_return_stmt,
    ComparisonExpr: Variables.visit_comparison_expr,
    OpExpr: Variables.visit_op_expr,
    DictExpr: Variables.visit_dict_expr,
    StarExpr: Variables.visit_star_expr,
    IndexExpr: Variables.visit_index_expr,
    CallExpr: Variables.visit_call_expr,
}
