"""A reference interpreter of the algebra over Python values.

It is written to be read, not to be fast; engines have to agree with it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import partial
from itertools import zip_longest
from typing import Literal, assert_never, cast, get_args

import attrs

from substrait_dsl.errors import (
    EvaluationError,
    TypeMismatchError,
    UnknownFieldError,
    UnsupportedError,
    quote,
    require,
    require_choice,
    shorten,
    suggestion,
)
from substrait_dsl.partiql import bindings as b
from substrait_dsl.partiql import expressions as e
from substrait_dsl.partiql.node import BindingsExpr, Node, ValueExpr, hint_of_expression, walk
from substrait_dsl.partiql.operations import AGGREGATES, FUNCTIONS, OPERATORS, Mistyped, Operation
from substrait_dsl.partiql.printing import data_text, render
from substrait_dsl.partiql.values import (
    MISSING,
    Bag,
    BindingsData,
    BindingTuple,
    CollectionType,
    Data,
    Missing,
    Struct,
    Table,
    Value,
    elements,
    key,
    order_key,
    to_value,
)

Mode = Literal["permissive", "strict"]
"""Whether an expression without a value is missing, or an error."""


def require_mode(mode: object) -> None:
    """Raise `InvalidChoiceError` for an unknown mode."""
    require_choice("mode", mode, get_args(Mode))


Env = Mapping[str, Value]
Tuples = tuple[CollectionType, Iterable[Env]]
"""Evaluated binding tuples: their collection type, and the variables of each."""


def evaluate_value(expression: ValueExpr, tables: Data | None = None, mode: Mode = "permissive") -> Value:
    """Evaluate a value expression.

    Args:
        expression: the expression.
        tables: what the names that no scan binds stand for. Plain Python objects are values, too: a list, a dict.
        mode: "permissive": what has no value, as an attribute that is not there or a sum of a text, is `MISSING`;
            "strict": it is an error.

    Raises:
        UnknownFieldError: a name that nothing binds.
        TypeMismatchError: it is no value expression.
        EvaluationError: in strict mode, something has no value; in both, a limit is not a number of tuples.
    """
    _require(expression, ValueExpr, "evaluate_value takes a value expression")
    return _interpreter(expression, tables, mode).value(expression, {})


def evaluate_bindings(expression: BindingsExpr, tables: Data | None = None, mode: Mode = "permissive") -> BindingsData:
    """Evaluate a bindings expression; see `evaluate_value`."""
    _require(expression, BindingsExpr, "evaluate_bindings takes a bindings expression")
    collection_type, tuples = _interpreter(expression, tables, mode).bindings(expression, {})
    names = expression.variables
    return BindingsData(
        collection_type, tuple(BindingTuple(tuple((name, one[name]) for name in names)) for one in tuples)
    )


def _require(expression: object, class_: type[Node], expected: str) -> None:
    if not isinstance(expression, class_):
        by_class = {ValueExpr: "evaluate_value takes values", BindingsExpr: "evaluate_bindings takes bindings"}
        hint = next((hint for class_, hint in by_class.items() if isinstance(expression, class_)), None)
        hint = hint or hint_of_expression(expression)
        raise TypeMismatchError(f"{expected}, got {_format_value(expression)}", hint=hint)


def _interpreter(expression: ValueExpr | BindingsExpr, tables: Data | None, mode: Mode) -> _Interpreter:
    require_mode(mode)
    require(tables or {}, Mapping, "tables are a mapping of names to values")
    known = {name: value if isinstance(value, Table) else to_value(value) for name, value in (tables or {}).items()}
    for name in sorted(expression.free - known.keys()):
        bound = [name for node in walk(expression) if isinstance(node, BindingsExpr) for name in node.variables]
        raise UnknownFieldError(
            f'there is no variable or table "{name}"; the tables are {quote(known)}',
            hint=f'"{name}" is not bound here' if name in bound else suggestion(name, (*known, *bound)),
        )
    return _Interpreter(known, mode)


def struct_of(pairs: Iterable[tuple[Value, Value]], mode: Mode) -> Struct:
    """Return the struct of a pivot, without missing attributes.

    Raises `EvaluationError` in strict mode for a name that is no text; in permissive mode there is no such attribute.
    """
    return _Interpreter({}, mode).struct(pairs)


@attrs.frozen
class _Interpreter:
    tables: Mapping[str, Value | Table]
    mode: Mode

    def absent(self, why: Callable[[], str]) -> Value:
        """Return missing for a value that does not exist; raise in strict mode."""
        if self.mode == "strict":
            raise EvaluationError(why())
        return MISSING

    # --- values

    def value(self, expression: ValueExpr, env: Env) -> Value:
        """Evaluate a value expression for a binding tuple and the enclosing ones."""
        match cast(e.AnyValueExpr, expression):
            case e.Id(name=name):
                found = env[name] if name in env else self.tables[name]
                return found.value if isinstance(found, Table) else found
            case e.Lit(value=value):
                return value
            case e.Path(root=root, steps=steps):
                value = self.value(root, env)
                for step in steps:
                    value = self.step(value, self.value(step, env))
                return value
            case e.StructExpr(pairs=pairs):
                return self.struct((self.value(pair.name, env), self.value(pair.value, env)) for pair in pairs)
            case e.ListExpr(items=items):
                return tuple(self.value(item, env) for item in items)
            case e.BagExpr(items=items):
                return Bag(tuple(self.value(item, env) for item in items))
            case e.Operator(op=op, operands=operands):
                return self.operation(op, OPERATORS[op], operands, env)
            case e.Call(function=function, arguments=arguments):
                return self.operation(function, FUNCTIONS[function], arguments, env)
            case e.MapValues(value=each, source=source):
                collection_type, tuples = self.bindings(source, env)
                values = tuple(self.value(each, {**env, **one}) for one in tuples)
                return values if collection_type == "list" else Bag(values)
            case e.Pivot(name=name_of, value=value_of, source=source):
                _, tuples = self.bindings(source, env)
                inside = ({**env, **one} for one in tuples)
                return self.struct((self.value(name_of, here), self.value(value_of, here)) for here in inside)
            case never:
                assert_never(never)

    def operation(self, name: str, operation: Operation, operands: Iterable[ValueExpr], env: Env) -> Value:
        try:
            return operation.evaluate([self.value(operand, env) for operand in operands])
        except Mistyped as error:
            why = f"{name}: {error}"
            return self.absent(lambda: why)

    def struct(self, pairs: Iterable[tuple[Value, Value]]) -> Struct:
        """Return a struct of the attributes that have a name and a value."""
        fields: list[tuple[str, Value]] = []
        for name, value in pairs:
            if not isinstance(name, str):
                self.absent(partial(_no_name, name))
            elif value is not MISSING:
                fields.append((name, value))
        return Struct(tuple(fields))

    def step(self, value: Value, step: Value) -> Value:
        """Return an attribute of a struct, or an element of a list."""
        match value, step:
            case (Missing(), _) | (_, Missing()):
                return MISSING
            case (None, _) | (_, None):
                return None
            case Struct(names=names), str():
                if names.count(step) == 1 or (step in names and self.mode == "permissive"):
                    return value[step]
                if step in names:
                    return self.absent(lambda: f'several attributes are called "{step}"')
                return self.absent(lambda: f'there is no attribute "{step}" among {quote(names)}')
            case tuple(), int() if not isinstance(step, bool):
                if 0 <= step < len(value):
                    return value[step]
                return self.absent(lambda: f"a list of {len(value)} has no element {step}")
            case _:
                return self.absent(lambda: f"the step {_format_value(step)} leads nowhere in {_format_value(value)}")

    # --- bindings

    def bindings(self, expression: BindingsExpr, env: Env) -> Tuples:
        """Evaluate a bindings expression inside an enclosing tuple."""
        match cast(b.AnyBindingsExpr, expression):
            case b.Scan() as scan:
                return self.scan(scan, env)
            case b.Unpivot() as unpivot:
                return "bag", [
                    _bind_variables((unpivot.as_, value), (unpivot.at, name), (unpivot.by, MISSING))
                    for name, value in self.attributes(self.value(unpivot.value, env))
                ]
            case b.CrossJoin(left=left, right=right):
                pairs = ((one, other) for one in self.tuples(left, env) for other in self.tuples(right, {**env, **one}))
                return "bag", [{**one, **other} for one, other in pairs]
            case b.Join() as join:
                return "bag", self.join(join, env)
            case b.Filter(condition=condition, source=source):
                collection_type, tuples = self.bindings(source, env)
                return collection_type, [one for one in tuples if self.holds(condition, {**env, **one})]
            case b.Limit(count=count, source=source):
                collection_type, tuples = self.bindings(source, env)
                return collection_type, list(tuples)[: self.number(count, "limit", env)]
            case b.Offset(count=count, source=source):
                collection_type, tuples = self.bindings(source, env)
                return collection_type, list(tuples)[self.number(count, "offset", env) :]
            case b.OrderBy(keys=keys, source=source):
                return "list", self.sort_tuples(keys, self.tuples(source, env), env)
            case b.MapLet(named=named, source=source):
                collection_type, tuples = self.bindings(source, env)
                scoped = ((one, {**env, **one}) for one in tuples)
                return collection_type, [
                    {**one, **{new.name: self.value(new.value, here) for new in named}} for one, here in scoped
                ]
            case b.GroupBy() as group_by:
                return "bag", self.groups(group_by, env)
            case never:
                assert_never(never)

    def tuples(self, expression: BindingsExpr, env: Env) -> list[Env]:
        return list(self.bindings(expression, env)[1])

    def scan(self, scan: b.Scan, env: Env) -> Tuples:
        """Yield a tuple for each element."""
        found = (
            self.tables.get(scan.value.name) if isinstance(scan.value, e.Id) and scan.value.name not in env else None
        )
        value = self.value(scan.value, env)
        ids = found.record_ids if isinstance(found, Table) else ()
        collection_type: CollectionType = "list" if isinstance(value, tuple) else "bag"
        items = elements(value)
        places: Iterable[Value] = range(len(items)) if collection_type == "list" else ()
        named = zip_longest(items, places, ids, fillvalue=MISSING)
        return collection_type, [
            _bind_variables((scan.as_, item), (scan.at, at), (scan.by, by)) for item, at, by in named
        ]

    def attributes(self, value: Value) -> tuple[tuple[str, Value], ...]:
        """Return the attributes of a struct; another value counts as a struct of one attribute, and missing of none."""
        if isinstance(value, Struct):
            return value.fields
        if self.mode == "strict":
            raise EvaluationError(f"unpivot: {_format_value(value)} is not a struct")
        return () if value is MISSING else (("_1", value),)

    def join(self, join: b.Join, env: Env) -> Iterator[Env]:
        """Return the matching pairs, and the tuples that an outer join preserves."""
        left_null, right_null = (dict.fromkeys(side.variables) for side in (join.left, join.right))
        matched: set[int] = set()
        for one in self.tuples(join.left, env):
            inside = {**env, **one}
            pairs = [(number, {**one, **other}) for number, other in enumerate(self.tuples(join.right, inside))]
            if join.condition is not None:
                pairs = [(number, pair) for number, pair in pairs if self.holds(join.condition, {**env, **pair})]
            matched.update(number for number, _ in pairs)
            yield from (pair for _, pair in pairs)
            if not pairs and join.how in ("left", "full"):
                yield {**one, **right_null}
        if join.how in ("right", "full"):
            for number, other in enumerate(self.tuples(join.right, env)):
                if number not in matched:
                    yield {**left_null, **other}

    def holds(self, condition: ValueExpr, env: Env) -> bool:
        """Return whether a condition is true; a value that is no boolean counts as false."""
        value = self.value(condition, env)
        if not (value is None or value is MISSING or isinstance(value, bool)):
            self.absent(lambda: f"a condition is a boolean, not {_format_value(value)}")
        return value is True

    def number(self, expression: ValueExpr, what: str, env: Env) -> int:
        """Evaluate the number of a limit or an offset."""
        value = self.value(expression, env)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise EvaluationError(f"{what} is a number of tuples, 0 or more, not {_format_value(value)}")
        return value

    def sort_tuples(self, keys: Iterable[b.SortKey], tuples: Iterable[Env], env: Env) -> list[Env]:
        """Sort the tuples, by the last key first, as a stable sort allows."""
        rows = list(tuples)
        for sort_key in reversed(tuple(keys)):
            values = [self.value(sort_key.key, {**env, **one}) for one in rows]
            absent = [one for one, value in zip(rows, values, strict=True) if value is None or value is MISSING]
            present = [
                pair for pair in zip(values, rows, strict=True) if pair[0] is not None and pair[0] is not MISSING
            ]
            present.sort(key=lambda pair: order_key(pair[0]), reverse=sort_key.direction == "desc")
            ordered = [one for _, one in present]
            rows = absent + ordered if sort_key.nulls == "nulls_first" else ordered + absent
        return rows

    def groups(self, group_by: b.GroupBy, env: Env) -> Iterator[Env]:
        """Return a tuple for each group: keys, aggregates, and the bag of its tuples."""
        groups: dict[Hashable, tuple[dict[str, Value], list[Env]]] = {}
        if not group_by.keys:
            groups[()] = ({}, [])
        for one in self.tuples(group_by.source, env):
            values = {new.name: self.value(new.value, {**env, **one}) for new in group_by.keys}
            keys: dict[str, Value] = {name: None if value is MISSING else value for name, value in values.items()}
            groups.setdefault(tuple(map(key, keys.values())), (keys, []))[1].append(one)
        for keys, members in groups.values():
            row: dict[str, Value] = dict(keys)
            for measure in group_by.measures:
                values_of = [self.value(measure.value, {**env, **one}) for one in members]
                row[measure.name] = self.aggregate(measure.function, values_of)
            if group_by.group_as is not None:
                row[group_by.group_as] = Bag(tuple(self.struct(one.items()) for one in members))
            yield row

    def aggregate(self, function: b.AggregateFunction, values: Iterable[Value]) -> Value:
        present = [value for value in values if value is not None and value is not MISSING]
        try:
            return AGGREGATES[function](present)
        except Mistyped as error:
            why = f"{function}: {error}"
            return self.absent(lambda: why)


def _no_name(value: Value) -> str:
    return f"the name of an attribute is a text, not {_format_value(value)}"


def _format_value(value: object) -> str:
    """Return a value or expression for a message, in the notation; a value without notation as Python shows it."""
    try:
        text = render(value) if isinstance(value, Node) else data_text(cast(Value, value))
    except UnsupportedError:
        text = repr(value)
    return shorten(text)


def _bind_variables(*pairs: tuple[str | None, Value]) -> Env:
    """Return the variables that have a name, with their values."""
    return {name: value for name, value in pairs if name is not None}
