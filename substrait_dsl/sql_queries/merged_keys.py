"""Joins with USING and NATURAL, as joins with ON: DataFusion has no Substrait for them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from substrait_dsl.errors import UnsupportedError
from substrait_dsl.sql_queries.text_edits import Token, apply, tokenize

if TYPE_CHECKING:
    from sqlglot import exp

Columns = Sequence[str] | None
"""The names of columns; None where they are not known."""

HINT = "write the join with ON"

_SEMI = ("SEMI", "ANTI")


def write_on(query: str, tables: Mapping[str, Sequence[str]]) -> str:
    """Return a query in which joins with USING and NATURAL have ON, and their keys the name of a table.

    The key of an outer join is that of the side that has all rows, of a full join the first that is not NULL.

    Args:
        query: the text of a query.
        tables: the columns of each table, by its name in small letters.

    Raises:
        UnsupportedError: the columns of what is joined are not known.
    """
    if re.search(r"\b(using|natural)\b", query, re.IGNORECASE) is None:
        return query
    tokens = tokenize(query)  # it says what to install
    import sqlglot
    from sqlglot import exp

    try:
        root = sqlglot.parse_one(query, read="duckdb")
    except sqlglot.errors.SqlglotError:
        return query  # DataFusion says what is wrong
    rewriting = _Rewriting(tokens, tables)
    for select in root.find_all(exp.Select):
        if any(_has_merged_keys(join) for join in select.args.get("joins") or ()):
            rewriting.rewrite(select)
    if not rewriting.edits:
        return query
    for column in root.find_all(exp.Column):
        rewriting.qualify(column)
    return apply(query, rewriting.edits)


def _has_merged_keys(join: exp.Join) -> bool:
    return bool(join.args.get("using")) or join.method == "NATURAL"


def _name(identifier: Any) -> str:
    """Return a name as DataFusion has it: in small letters without quotes."""
    name: str = identifier.name
    return name if identifier.args.get("quoted") else name.lower()


def _quoted(*names: str) -> str:
    return ".".join('"' + name.replace('"', '""') + '"' for name in names)


@attrs.define
class _Sources:
    """What a SELECT reads, and the keys that its joins merge."""

    columns: dict[str, Columns] = attrs.field(factory=dict)
    """The columns of each table, by its name in the query; those of semi and anti joins are none."""
    merged: dict[str, str] = attrs.field(factory=dict)
    """The expression of each merged key."""
    owners: dict[str, str] = attrs.field(factory=dict)
    """The table at whose place a star has each merged key."""
    hidden: set[tuple[str, str]] = attrs.field(factory=set)
    """The keys that a star does not put out again: tables and columns."""
    ambiguous: set[str] = attrs.field(factory=set)
    """The merged keys that another table has, too."""

    def offers(self, name: str) -> bool | None:
        """Whether a name without a table may mean a column; None where that is not known."""
        if any(columns is not None and name in columns for columns in self.columns.values()):
            return True
        return None if None in self.columns.values() else False

    def shown(self) -> Iterator[tuple[str, str]] | None:
        """Yield what a star puts out: names with their expressions; None where it is not known."""
        if any(columns is None or "" in columns for columns in self.columns.values()):
            return None
        return (
            (name, self.merged[name] if self.owners.get(name) == table else _quoted(table, name))
            for table, columns in self.columns.items()
            for name in columns or ()
            if (table, name) not in self.hidden
        )


@attrs.define
class _Rewriting:
    tokens: Sequence[Token]
    tables: Mapping[str, Sequence[str]]
    edits: list[tuple[int, int, str]] = attrs.field(factory=list)
    _sources: dict[int, _Sources] = attrs.field(factory=dict)

    def rewrite(self, select: exp.Select) -> None:
        """Write ON for USING and NATURAL in the joins of a SELECT, and its star as columns."""
        from sqlglot import exp

        sources = self.sources_of(select, writes=True)
        for item in select.expressions:
            if isinstance(item, exp.Star):
                if item.args.get("except_") or item.args.get("replace") or item.args.get("rename"):
                    raise UnsupportedError("a star with EXCLUDE or REPLACE over a join with USING", hint=HINT)
                columns = sources.shown()
                if columns is None:
                    raise UnsupportedError("a star over a join with USING of columns without a name", hint=HINT)
                shown = [
                    f"{value} as {_quoted(name)}" if value.startswith("coalesce(") else value for name, value in columns
                ]
                self.edits.append((item.meta["start"], item.meta["end"] + 1, ", ".join(shown)))

    def qualify(self, column: exp.Column) -> None:
        """Write the expression of a merged key for a name without a table that means it."""
        from sqlglot import exp

        if column.table or not isinstance(column.this, exp.Identifier):
            return
        name = _name(column.this)
        node: Any = column
        while node is not None:
            if isinstance(node, exp.Order) and isinstance(node.parent, exp.SetOperation):
                return
            if isinstance(node, exp.Select):
                sources = self.sources_of(node)
                offered = sources.offers(name)
                if name in sources.ambiguous:
                    raise UnsupportedError(
                        f'"{name}" is a column of several tables, beside a join with USING', hint=HINT
                    )
                if name in sources.merged:
                    self._write_key(column, node, sources.merged[name], name)
                if offered:
                    return
                if offered is None and any(name in each.merged for each in self._sources.values()):
                    raise UnsupportedError(
                        f'the columns of a table beside a join that merges "{name}" are not known', hint=HINT
                    )
            node = node.parent

    def _write_key(self, column: exp.Column, select: exp.Select, value: str, name: str) -> None:
        """Replace a name by a merged key; in an item of the SELECT alone it stays the name of the column."""
        from sqlglot import exp

        meta = column.this.meta
        if column.parent is select and column.arg_key == "expressions":
            value += f" as {_quoted(name)}"
        is_key_of_order = isinstance(column.parent, exp.Ordered) and column.parent.parent is select.args.get("order")
        if is_key_of_order and name in map(_output_name, select.expressions):
            return  # a column that is put out
        self.edits.append((meta["start"], meta["end"] + 1, value))

    def sources_of(self, select: exp.Select, *, writes: bool = False) -> _Sources:
        """Return what a SELECT reads; the joins are written anew if told so."""
        known = self._sources.get(id(select))
        if known is not None and not writes:
            return known
        sources = self._sources[id(select)] = _Sources()
        first = select.args.get("from_")
        left: list[str] = []
        if first is not None:
            left = [self._add(sources, first.this)]
        for lateral in select.args.get("laterals") or ():
            self._add(sources, lateral)
        for join in select.args.get("joins") or ():
            is_comma = not (join.kind or join.side or join.method or join.args.get("on") or join.args.get("using"))
            left = [] if is_comma else left
            table = self._add(sources, join.this)
            if _has_merged_keys(join):
                self._merge(sources, join, left, table, writes=writes)
            if join.kind in _SEMI:
                sources.columns[table] = ()
            left.append(table)
        for name in sources.merged:
            tables = [table for table, columns in sources.columns.items() if name in (columns or ())]
            if sum((table, name) not in sources.hidden for table in tables) > 1:
                sources.ambiguous.add(name)
        return sources

    def _add(self, sources: _Sources, node: Any) -> str:
        """Add a table, and return its name in the query."""
        alias = node.args.get("alias")
        named = alias.this if alias is not None and alias.this is not None else node.this
        name = (
            _name(named) if named is not None and type(named).__name__ == "Identifier" else f" {len(sources.columns)}"
        )
        sources.columns[name] = self._columns_of(node)
        return name

    def _merge(self, sources: _Sources, join: exp.Join, left: Sequence[str], right: str, *, writes: bool) -> None:
        """Merge the keys of a join."""
        right_columns = sources.columns[right]
        left_columns = [sources.columns[table] for table in left]
        if (
            right.startswith(" ")
            or right_columns is None
            or None in left_columns
            or (join.side == "RIGHT" and join.kind in _SEMI)
        ):
            raise UnsupportedError("the columns of a join with USING or NATURAL are not known", hint=HINT)
        if join.method == "NATURAL":
            keys = [*dict.fromkeys(name for columns in left_columns for name in columns or () if name in right_columns)]
        else:
            keys = [_name(key) for key in join.args["using"]]
        if not keys:
            raise UnsupportedError("a NATURAL join of tables without a common column", hint="write CROSS JOIN")
        conditions = []
        for key in keys:
            tables = [table for table in left if key in (sources.columns[table] or ())]
            found = [table for table in tables if (table, key) not in sources.hidden]
            if len(found) > 1:
                raise UnsupportedError(f'"{key}" is a column of several tables before a join by it', hint=HINT)
            if not found or key not in right_columns:
                return  # DataFusion says that there is no such column
            left_key, other = sources.merged.get(key, _quoted(found[0], key)), _quoted(right, key)
            conditions.append(f"{left_key} = {other}")
            values = {"RIGHT": other, "FULL": f"coalesce({left_key}, {other})"}
            sources.merged[key] = values.get(join.side, left_key)
            sources.owners[key] = found[0]
            sources.hidden.add((right, key))
        if writes:
            self._write_condition(join, f"on ({' and '.join(conditions)})")

    def _write_condition(self, join: exp.Join, condition: str) -> None:
        """Write a condition for USING, or for NATURAL."""
        if join.method != "NATURAL":
            keys = [key.meta for key in join.args["using"]]
            start = max(
                token.start for token in self.tokens if token.text == "USING" and token.start < keys[0]["start"]
            )
            end = min(token.end for token in self.tokens if token.text == ")" and token.start > keys[-1]["end"])
            self.edits.append((start, end, condition))
            return
        places = [node.meta for node in join.this.walk() if "start" in node.meta]
        start = min(place["start"] for place in places)
        natural = max(token.start for token in self.tokens if token.text == "NATURAL" and token.start < start)
        alias = join.this.args.get("alias")
        end = max(place["end"] for place in places) + 1
        if alias is not None and alias.columns:
            end = min(token.end for token in self.tokens if token.text == ")" and token.start >= end)
        self.edits += [(natural, natural + len("natural"), ""), (end, end, f" {condition} ")]

    # --- columns

    def _columns_of(self, node: Any) -> Columns:
        """Return the columns of what stands behind FROM or JOIN."""
        from sqlglot import exp

        alias = node.args.get("alias")
        named = [_name(column) for column in alias.columns] if alias is not None else []
        columns: Columns = None
        if isinstance(node, exp.Table) and not node.args.get("joins") and isinstance(node.this, exp.Identifier):
            columns = self._columns_of_table(node)
        elif isinstance(node, exp.Subquery) and isinstance(node.this, exp.Query) and not node.args.get("joins"):
            columns = self._columns_of_query(node.this)
        elif isinstance(node, exp.Values):
            columns = [f"column{number}" for number, _ in enumerate(node.expressions[0].expressions, 1)]
        if columns is None:
            return None
        return [*named, *columns[len(named) :]]

    def _columns_of_table(self, node: exp.Table) -> Columns:
        """Return the columns of a table, or of a query behind WITH."""
        from sqlglot import exp

        name, inner = _name(node.this), node
        for above in _ancestors(node.parent) if not node.db else ():
            queries: list[Any] = []
            if isinstance(above, exp.With):  # what stands before it
                queries = above.expressions[: [each is inner for each in above.expressions].index(True)]
                if above.args.get("recursive") and _name(inner.args["alias"].this) == name:
                    return None
            elif (clause := above.args.get("with_")) is not None and clause is not inner:
                queries = clause.expressions
            for cte in reversed(queries):
                if _name(cte.args["alias"].this) == name:
                    return self._columns_of_cte(cte)
            inner = above
        return self.tables.get(name)

    def _columns_of_cte(self, cte: Any) -> Columns:
        named = [_name(column) for column in cte.args["alias"].columns]
        columns = self._columns_of_query(cte.this)
        return None if columns is None else [*named, *columns[len(named) :]]

    def _columns_of_query(self, query: Any) -> Columns:
        """Return the names of the columns that a query puts out; "" for a column that no name means."""
        from sqlglot import exp

        while isinstance(query, exp.SetOperation | exp.Subquery):
            query = query.this
        if not isinstance(query, exp.Select):
            return None
        names: list[str] = []
        for item in query.expressions:
            is_star = isinstance(item, exp.Star)
            if is_star or (isinstance(item, exp.Column) and isinstance(item.this, exp.Star)):
                sources = self.sources_of(query)
                star = item if is_star else item.this
                if star.args.get("except_") or star.args.get("replace") or star.args.get("rename"):
                    return None
                shown = sources.shown() if is_star else sources.columns.get(_name(item.args["table"]))
                if shown is None:
                    return None
                names += [each if isinstance(each, str) else each[0] for each in shown]
            else:
                names.append(_output_name(item))
        return names


def _ancestors(node: Any) -> Iterator[Any]:
    while node is not None:
        yield node
        node = node.parent


def _output_name(item: Any) -> str:
    """Return the name of a column that a SELECT puts out; "" if it has none of its own."""
    alias = item.args.get("alias")
    if alias is not None:
        return _name(alias)
    return _name(item.this) if type(item).__name__ == "Column" and type(item.this).__name__ == "Identifier" else ""
