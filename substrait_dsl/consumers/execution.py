"""Execution on engines that take plans as bytes, with the same errors, rows and text as on Spark."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import attrs

from substrait_dsl.algebra.expressions import Expression, ScalarFunction
from substrait_dsl.algebra.node import Node
from substrait_dsl.algebra.plan import AlgebraPlan
from substrait_dsl.algebra.relations import NamedTable, Read
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.algebra.stability import SHARED_HINT, SHARED_ROWS, unstable_shared_relations
from substrait_dsl.algebra.trees import Root
from substrait_dsl.array_functions import over_arrays
from substrait_dsl.arrow.exact import exact_table
from substrait_dsl.arrow.schemas import to_arrow, type_to_arrow
from substrait_dsl.catalog.implementations import bound_by, bound_calls, is_stable_on
from substrait_dsl.consumers.columns import check_columns, fit_columns
from substrait_dsl.consumers.consumer import BoundFunction, Encoded
from substrait_dsl.consumers.rows import ResultRow, python_rows, require_values
from substrait_dsl.consumers.steps import name_steps
from substrait_dsl.consumers.text import format_rows
from substrait_dsl.engines.profile import load_profile
from substrait_dsl.errors import (
    ExecutionError,
    InvalidArgumentError,
    UnsupportedError,
    quote,
    shorten,
    suggestion,
)
from substrait_dsl.fluent.checks import check_and_encode, first_error
from substrait_dsl.fluent.execution import Execution, Output, root_schema
from substrait_dsl.fluent.table_arguments import tables_clause
from substrait_dsl.proto.plan import encode_plan, to_bytes
from substrait_dsl.texts import table_key

if TYPE_CHECKING:
    import pyarrow as pa

    from substrait_dsl.consumers.consumer import Consumer, Names, Result

T = TypeVar("T")


class ConsumerExecution(Execution):
    """A plan on an engine that takes it as bytes: a frame of the engine's for each root.

    The tables of the argument, and those of the session whose types differ in layout from the declared ones, have
    generated names, and are visible only until the engine has planned the query.
    """

    def __init__(
        self,
        plan: AlgebraPlan,
        consumer: Consumer,
        tables: Mapping[Names, pa.Table],
        *,
        persist_shared: bool,
        is_preview: bool,
        output: Output,
    ) -> None:
        """`is_preview` has the plan made ready, and not sent."""
        self._consumer = consumer
        title = consumer.title
        if persist_shared:
            raise UnsupportedError(f"persist_shared is for sessions of Spark: {title} keeps no rows between executions")
        plan = plan.with_parameters_bound()
        self._trees = plan.relations
        self._schemas = [root_schema(root) for root in plan.roots]
        if output == "rows":
            require_values(self._schemas[0])
        is_stable = partial(is_stable_on, consumer.engine)
        if len(plan.roots) > 1 and unstable_shared_relations(plan.relations, is_stable):  # each root is a plan
            raise UnsupportedError(f"{title} {SHARED_ROWS}", hint=SHARED_HINT)
        if len(plan.roots) < len(plan.trees):
            raise UnsupportedError(f"{title} runs no subtrees, which are evaluated for their effect alone")
        plan, tables = _with_names_of_one_part(plan, tables)
        self._encoded = [self._encode(plan, root, schema, tables) for root, schema in self._with_schemas(plan, output)]
        self._results = [] if is_preview else [self._ask_engine(partial(self._run, each)) for each in self._encoded]
        self.frames = [result.frame for result in self._results]

    def _with_schemas(self, plan: AlgebraPlan, output: Output) -> Iterator[tuple[Root, NamedStruct]]:
        """Yield the roots, each with the columns that its frame has.

        Those of one name have others until they are rows.
        """
        is_alike = load_profile(self._consumer.engine).has_form("named_columns_alike")
        for root in plan.roots:
            renamed = root.with_unique_columns(is_alike=is_alike)
            if output == "frame" and renamed is not root:
                title = self._consumer.title
                raise UnsupportedError(
                    f"a frame of {title} has no two columns of one name"
                    + ", whatever the case, and none without" * is_alike,
                    hint="rename one of them, or take the rows: collect, to_arrow",
                )
            yield renamed, root_schema(renamed)

    def _run(self, encoded: Encoded) -> Result:
        return self._consumer.consume(encoded)

    def _encode(self, plan: AlgebraPlan, root: Root, schema: NamedStruct, tables: Mapping[Names, pa.Table]) -> Encoded:
        """Lower, check and encode the plan of one root, and find what it reads."""
        profile = load_profile(self._consumer.engine)
        checked = check_and_encode(attrs.evolve(plan, trees=(root,)), profile)
        low = checked.check.lowered
        if low is None or checked.message is None:
            first, *others = checked.refusals
            raise first_error(first.error, len(others), profile)
        sources: dict[str, Any] = {}
        done: dict[tuple[Names, NamedStruct], NamedTable] = {}

        def with_source(node: Node) -> Node:
            if not isinstance(node, Read) or not isinstance(node.definition, NamedTable):
                return node
            key = (node.definition.names, node.base_schema)
            if key not in done:
                done[key] = self._source(node.definition, node.base_schema, tables, sources)
            return attrs.evolve(node, definition=done[key])

        low = low.rebuilt(with_source)
        message = checked.message
        if sources:
            message = encode_plan(low, encoding=profile.encoding, omitted_fields=profile.omitted_fields)
        functions = list(map(_bound_function, bound_calls([each.input for each in low.roots])))
        return Encoded(to_bytes(message), sources, to_arrow(schema), functions)

    def _source(
        self, table: NamedTable, declared: NamedStruct, tables: Mapping[Names, pa.Table], sources: dict[str, Any]
    ) -> NamedTable:
        """Return the table that a read reads: itself, or one that this execution adds to `sources`."""
        names, what = table.names, f"table {quote(['.'.join(table.names)])}"
        name = f"__substrait_dsl_{uuid.uuid4().hex}"
        if names in tables:
            sources[name] = fit_columns(tables[names], declared, what)
            return attrs.evolve(table, names=(name,))
        found = self._ask_engine(lambda: self._consumer.columns(names), f"cannot look up {what}")
        if found is None:
            raise self._not_there(names, tables)
        positions = check_columns(found, declared, what)
        wanted = to_arrow(declared)
        if self._consumer.is_as_declared(names, found, positions, wanted):
            return table
        sources[name] = self._ask_engine(lambda: self._consumer.with_types(names, wanted), f"cannot read {what}")
        return attrs.evolve(table, names=(name,))

    def _not_there(self, names: Names, tables: Mapping[Names, pa.Table]) -> ExecutionError:
        known = [name for name in self._consumer.tables(names[:-1]) if not name.startswith("__substrait_dsl_")]
        pass_rows = f"give its rows, for this execution alone: tables={{{table_key(names)}: frame}}"
        hint = suggestion(names[-1], known) or pass_rows
        title = quote([".".join(names)])
        error = ExecutionError(f"there is no table {title}; there are {quote(known)}{tables_clause(tables)}", hint=hint)
        error.table = names
        return error

    def _ask_engine(self, ask: Callable[[], T], what: str = "fails") -> T:
        """Ask the engine; what it says in an error of its own is an `ExecutionError`."""
        try:
            return ask()
        except BaseException as error:
            words = self._consumer.words_of(error)
            if words is None:
                raise
            raise self._error(what, words) from error

    def _error(self, what: str, words: str) -> ExecutionError:
        error = ExecutionError(f"{self._consumer.title} {what}: {shorten(words)}")
        name_steps(error, words, self._trees)
        return error

    def require_success(self, error: BaseException | None, *, is_all: bool = False) -> None:
        words = None if error is None else self._consumer.words_of(error)
        if words is not None:
            raise self._error("fails", words) from error

    def watching(self, *, progress: bool, is_all: bool) -> AbstractContextManager[object]:
        if progress:
            raise UnsupportedError(f"progress is for sessions of Spark: {self._consumer.title} does not report it")
        return nullcontext()

    def arrow(self) -> pa.Table:
        return self._table(None)

    def _table(self, limit: int | None) -> pa.Table:
        result = self._results[0]
        if result.table is not None:
            columns, count = result.table.columns, result.table.num_rows
        else:
            columns, count = self._ask_engine(lambda: self._consumer.collect(result.frame, limit))
        return exact_table(columns, count, self._schemas[0])

    def rows(self) -> list[ResultRow]:
        return python_rows(self.arrow(), self._schemas[0])

    def show(self, n: int, truncate: bool | int, vertical: bool) -> None:
        print(format_rows(self._table(n + 1), self._schemas[0], n, truncate, vertical))

    def explain(self, text: str, mode: object) -> str:
        title = self._consumer.title
        if mode is not None:
            raise InvalidArgumentError(f"mode selects a form of Spark's plan, and this is a session of {title}")
        parts = [text]
        for number, encoded in enumerate(self._encoded):
            heading = f"on {title}" if len(self._encoded) == 1 else f"root {number} on {title}"
            lines = self._ask_engine(partial(self._consumer.explain, encoded)).strip()
            parts.append(f"--- {heading}\n{lines}")
        return "\n\n".join(parts)


def _bound_function(call: ScalarFunction) -> BoundFunction:
    """Return the function that is bound to what a lowered plan calls."""
    found = bound_by(call.function)
    assert found is not None
    assert callable(found.body)
    values = [argument for argument in call.arguments if isinstance(argument, Expression)]
    result = type_to_arrow(call.type)
    body = over_arrays(found.body, found.takes, result, not call.type.nullable, found.title)
    arguments = [type_to_arrow(value.type) for value in values]
    return BoundFunction(call.function.name, body, arguments, result, found.is_deterministic)


def _with_names_of_one_part(
    plan: AlgebraPlan, tables: Mapping[Names, pa.Table]
) -> tuple[AlgebraPlan, Mapping[Names, pa.Table]]:
    """Return a plan whose given tables have names of one part, in the same words.

    An engine need not know any others.
    """
    joined = {names: (".".join(names),) for names in tables if len(names) > 1}
    if not joined:
        return plan, tables
    others = {access.names for access in plan.accesses.reads if len(access.names) == 1}
    joined = {names: one for names, one in joined.items() if one not in others}

    def rename_node(node: Node) -> Node:
        if isinstance(node, Read) and isinstance(node.definition, NamedTable) and node.definition.names in joined:
            return attrs.evolve(node, definition=attrs.evolve(node.definition, names=joined[node.definition.names]))
        return node

    return plan.rebuilt(rename_node), {joined.get(names, names): table for names, table in tables.items()}
