"""A query under construction: one SELECT that takes further steps as long as it says them exactly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.sql_output.dialects import Dialect
from substrait_dsl.sql_output.names import distinct_names, fold, identifier
from substrait_dsl.sql_output.orders import ordered
from substrait_dsl.sql_output.written import Written, connect

if TYPE_CHECKING:
    from sqlglot import exp

OrderKeys = tuple[tuple[Written, ex.SortKey], ...]


@attrs.frozen(eq=False)
class Select:
    """A SELECT whose parts may still change. Columns are qualified by the names of the tables that it reads."""

    source: exp.Expr | None
    """What stands behind FROM; None: nothing, for one row."""
    joins: tuple[exp.Join, ...]
    columns: tuple[Written, ...]
    names: tuple[str, ...]
    where: tuple[exp.Expr, ...] = ()
    group: exp.Group | None = None
    is_grouped: bool = False
    having: tuple[exp.Expr, ...] = ()
    order: OrderKeys = ()
    limit: int | None = None
    offset: int = 0
    is_distinct: bool = False
    laterals: tuple[exp.Lateral, ...] = ()
    """What makes rows of the elements of lists, behind the tables."""
    union: exp.Query | None = None
    """A set operation, which is a query of its own."""

    @property
    def is_cut(self) -> bool:
        """Whether only some of its rows are put out."""
        return self.limit is not None or self.offset > 0

    @property
    def is_closed(self) -> bool:
        """Whether no step can go into it but one that comes after all of its clauses."""
        return self.is_cut or self.is_distinct or self.union is not None

    @property
    def has_windows(self) -> bool:
        """Whether a column is a window function."""
        from sqlglot import exp

        trees = [*(column.tree for column in self.columns), *(key.tree for key, _ in self.order)]
        return any(isinstance(node, exp.Window) for tree in trees for node in tree.walk())

    @property
    def is_plain(self) -> bool:
        """Whether it is a table, or tables that are joined, of which conditions may choose rows."""
        return not (self.is_closed or self.is_grouped)

    @property
    def has_same_names(self) -> bool:
        """Whether two columns have names that are one to an engine."""
        return len({fold(name) for name in self.names}) < len(self.names)

    @property
    def takes_conditions(self) -> bool:
        """Whether a condition on its rows can become one of its clauses."""
        return not self.is_closed and not self.has_windows

    def filtered(self, condition: exp.Expr) -> Select:
        """Return the rows for which a condition is true."""
        if self.is_grouped:
            return attrs.evolve(self, having=(*self.having, condition))
        return attrs.evolve(self, where=(*self.where, condition))

    @property
    def unordered(self) -> Select:
        """The same rows in any order; which rows they are may depend on one."""
        return self if self.is_cut or not self.order else attrs.evolve(self, order=())

    @property
    def loses_its_row(self) -> bool:
        """Whether no column says any more that all rows are one group."""
        from sqlglot import exp

        if not self.is_grouped or self.group is not None:
            return False
        trees = [*(column.tree for column in self.columns), *self.having]
        return not any(isinstance(node, exp.AggFunc) for tree in trees for node in tree.walk())


def all_of(conditions: Sequence[exp.Expr]) -> exp.Expr:
    """Return conditions that AND connects."""
    from sqlglot import exp

    tree = conditions[0].copy()
    for condition in conditions[1:]:
        tree = connect(exp.And, tree, condition)
    return tree


def to_tree(
    select: Select, dialect: Dialect, names: Sequence[str] | None = None, *, keeps_names: bool = False
) -> exp.Query:
    """Return the tree of a query.

    Args:
        select: the query.
        dialect: the dialect.
        names: what its columns are called, if not by their own names, numbered where they repeat.
        keeps_names: whether columns keep names that repeat.
    """
    from sqlglot import exp

    if names is None:
        names = select.names if keeps_names else distinct_names(select.names)
    if select.union is not None:
        return select.union
    listed = [_aliased(column, name, dialect) for column, name in zip(select.columns, names, strict=True)]
    tree = exp.Select(expressions=listed or [exp.Literal.number(1)])
    if select.source is not None:
        tree.set("from_", exp.From(this=select.source.copy()))
    if select.joins:
        tree.set("joins", [join.copy() for join in select.joins])
    if select.laterals:
        tree.set("laterals", [each.copy() for each in select.laterals])
    if select.where:
        tree.set("where", exp.Where(this=all_of(select.where)))
    if select.group is not None:
        tree.set("group", select.group.copy())
    if select.having:
        tree.set("having", exp.Having(this=all_of(select.having)))
    if select.is_distinct:
        tree.set("distinct", exp.Distinct())
    keys = [_order_key(written, key, select, names, dialect) for written, key in select.order]
    keys = [key for key in keys if key is not None]
    if keys:
        tree.set("order", exp.Order(expressions=keys))
    if select.limit is not None:
        tree.set("limit", exp.Limit(expression=exp.Literal.number(select.limit)))
    if select.offset:
        tree.set("offset", exp.Offset(expression=exp.Literal.number(select.offset)))
    return _with_short_columns(tree, select, names)


def _aliased(column: Written, name: str, dialect: Dialect) -> exp.Expr:
    from sqlglot import exp

    tree = column.cast(dialect).copy()
    if isinstance(tree, exp.Column) and tree.name == name:
        return tree
    return exp.Alias(this=tree, alias=identifier(name))


def _order_key(
    written: Written, key: ex.SortKey, select: Select, names: Sequence[str], dialect: Dialect
) -> exp.Ordered | None:
    """Return a key of the order: by the name of the column that it is, if it is one; none of a constant."""
    from sqlglot import exp

    if not any(isinstance(node, exp.Column | exp.AggFunc) for node in written.tree.walk()):
        return None
    folded = [fold(name) for name in names]
    for column, name in zip(select.columns, names, strict=True):
        is_named = select.is_distinct or not isinstance(column.tree, exp.Column)  # distinct rows have nothing else
        if column.tree == written.tree and is_named and folded.count(fold(name)) == 1:
            return ordered(exp.Column(this=identifier(name)), key, dialect)
    return ordered(written.tree, key, dialect)


def _with_short_columns(tree: exp.Select, select: Select, names: Sequence[str]) -> exp.Select:
    """Leave out the names of tables where there is one alone, and no column that is put out has the name of another."""
    from sqlglot import exp

    if select.joins or select.source is None or any(True for _ in tree.find_all(exp.Subquery, exp.Exists)):
        return tree
    table = select.source.alias_or_name
    used = {fold(column.name) for column in tree.find_all(exp.Column) if column.table == table}
    if any(column.table not in ("", table) for column in tree.find_all(exp.Column)):
        return tree
    for column, name in zip(select.columns, names, strict=True):
        is_itself = isinstance(column.tree, exp.Column) and column.tree.name == name
        if fold(name) in used and not is_itself:
            return tree
    for node in tree.find_all(exp.Column):
        if node.table == table:
            node.set("table", None)
    return tree
