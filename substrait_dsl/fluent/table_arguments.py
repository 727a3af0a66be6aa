"""The argument ``tables`` of the verbs that run a plan: frames that replace named tables in one execution."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from substrait_dsl.errors import InvalidArgumentError, UnsupportedError, nearest, quote
from substrait_dsl.texts import table_key

if TYPE_CHECKING:
    import pyarrow as pa

    from substrait_dsl.algebra.accesses import Access, Accesses

Names = tuple[str, ...]


Tables = Mapping[Any, Any]  # of any keys: no other type takes a dict whose keys are all tuples of two
"""Tables by the names that the plan reads, a text or a tuple of parts. `substrait_dsl.arrow.tables` says what they may
be."""


def is_table(value: object) -> bool:
    """Return whether something looks like a table, or like tables by their names."""
    return isinstance(value, Mapping) or hasattr(value, "__arrow_c_stream__")


def arrow_tables(tables: Tables | None, accesses: Accesses) -> dict[Names, pa.Table]:
    """Convert the frames that replace tables of a plan to Arrow tables.

    One dict may serve several plans: where it has every table that the plan reads, others are passed over. Where one
    lacks, which the session may have, a name that is not read may be that one misspelt.

    Raises:
        InvalidArgumentError: a name that the plan does not read where one lacks that it reads, or what is no table.
        UnsupportedError: the plan writes to a name, or defines it.
        ExecutionError: a file cannot be read.
    """
    if tables is None:
        return {}
    if not isinstance(tables, Mapping):
        raise InvalidArgumentError("tables is a dict of tables by their names", got=tables)
    found: dict[Names, pa.Table] = {}
    reads = [access.names for access in accesses.reads if access.object == "table"]
    has_all_reads = bool(reads) and {name_parts(name) for name in tables}.issuperset(reads)
    changes = (*accesses.writes, *accesses.definitions)
    changed = {
        _fold_case(access.names): access for access in changes if access.object in ("table", "view", "virtual_table")
    }
    for name, frame in tables.items():
        names = name_parts(name)
        if names in found:
            raise InvalidArgumentError(f"tables has {table_title(names)} twice")
        if (access := changed.get(_fold_case(names))) is not None:
            raise _is_changed(names, access)
        if names not in reads and has_all_reads:
            continue
        if names not in reads:
            raise _not_read(names, reads)
        from substrait_dsl.arrow.tables import table_of

        found[names] = table_of(frame, table_title(names))
    return found


def name_parts(name: object) -> Names:
    """Return the parts of the name of a table. Raises `InvalidArgumentError` for what is none."""
    if isinstance(name, str):
        return (name,)
    if isinstance(name, tuple) and name and all(isinstance(part, str) for part in name):
        return name
    raise InvalidArgumentError(f"tables has a name that is neither a str nor a tuple of str: {name!r}", names=[name])


def table_title(names: Names) -> str:
    """Return the name of a table for an error."""
    return f"table {quote(['.'.join(names)])}"


def _fold_case(names: Names) -> Names:
    """Return a name as engines compare it, which see no difference of case."""
    return tuple(part.lower() for part in names)


def _is_changed(names: Names, access: Access) -> UnsupportedError:
    return UnsupportedError(
        f"{table_title(names)} is given in tables, for this execution alone, and the plan changes it: {access}",
        hint="make it a table of the session, or write under another name",
    )


def _not_read(names: Names, reads: Iterable[Names]) -> InvalidArgumentError:
    written = {".".join(each): each for each in dict.fromkeys(reads)}
    name = ".".join(names)
    if name in written:
        hint: str | None = f"the key is {table_key(written[name])}"
    elif (near := nearest(name, written)) is not None:
        hint = f"did you mean {table_key(written[near])}?"
    else:
        hint = None if written else "a relation of rows, or of files, reads no table"
    return InvalidArgumentError(
        f"tables has {table_title(names)}, which the plan does not read; it reads {quote(written)}", hint=hint
    )


def tables_clause(tables: Iterable[tuple[str, ...]]) -> str:
    """Return the part of an error about a missing table that lists the names in ``tables=``; empty for none."""
    names = [".".join(each) for each in tables]
    return f"; tables gives {quote(names)}" if names else ""
