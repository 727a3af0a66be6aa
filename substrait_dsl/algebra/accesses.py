"""The tables, files and other objects that a plan reads, writes and defines: one `Access` for each, under its own name.

A service that runs plans of others asks this before it runs one. All parts of a plan count: subqueries, lateral joins,
shared relations, definitions of views, and trees that are evaluated for their effect alone.
"""

from __future__ import annotations

import re
import typing
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Literal, assert_never

import attrs

from substrait_dsl.algebra.common import Common
from substrait_dsl.algebra.extensions import AnyMessage
from substrait_dsl.algebra.node import Node, Rel, walk
from substrait_dsl.algebra.relations import (
    Aggregate,
    Cross,
    Ddl,
    Emit,
    Exchange,
    Expand,
    ExtensionFormat,
    ExtensionLeaf,
    ExtensionMulti,
    ExtensionObject,
    ExtensionSingle,
    ExtensionTable,
    Fetch,
    FilesTarget,
    Filter,
    HashJoin,
    IcebergTable,
    Join,
    LateralJoin,
    LocalFiles,
    MergeJoin,
    MergingCapture,
    NamedObject,
    NamedTable,
    NestedLoopJoin,
    Project,
    Read,
    Set,
    SimpleCapture,
    Sort,
    TopN,
    Unnest,
    Update,
    VirtualTable,
    VirtualTarget,
    Window,
    Write,
    as_union,
)
from substrait_dsl.algebra.validators import several
from substrait_dsl.errors import InvalidArgumentError, NotAllowedError, require_choice

AccessOperation = Literal[
    "read", "insert", "delete", "update", "ctas", "create", "create_or_replace", "alter", "drop", "drop_if_exist", "any"
]
AccessObject = Literal["table", "view", "virtual_table", "files", "iceberg_table", "uri", "extension"]
ACCESS_OPERATIONS: tuple[AccessOperation, ...] = typing.get_args(AccessOperation)
ACCESS_OBJECTS: tuple[AccessObject, ...] = typing.get_args(AccessObject)

_READS = frozenset({"read", "any"})
_WRITES = frozenset({"insert", "delete", "update", "ctas", "any"})
_DEFINITIONS = frozenset({"ctas", "create", "create_or_replace", "alter", "drop", "drop_if_exist", "any"})


@attrs.frozen
class Access:
    """One thing outside of a plan, and what the plan does with it.

    Args:
        operation: ``"read"``, a write operation (``"insert"``, ``"delete"``, ``"update"``, ``"ctas"``), a data
            definition (``"create"``, ``"create_or_replace"``, ``"alter"``, ``"drop"``, ``"drop_if_exist"``), or
            ``"any"``: what only those know who know a message of an extension. A write with the create mode
            ``"replace_if_exists"`` has a ``"drop_if_exist"``, too.
        object: ``"table"``, which may be a view if it is read; ``"view"``, if it is defined; ``"virtual_table"``, a
            table in memory that is written; ``"files"``; ``"iceberg_table"``, by its metadata file; ``"uri"``, to which
            an exchange sends rows; ``"extension"``.
        names: the parts of a name, as the plan writes them; of files the one URI or pattern, of an extension the URL of
            the type of its message.

    Raises:
        InvalidChoiceError: another operation or object.
        InvalidArgumentError: no names, or one that is no text.

    Example:
        >>> print(sd.Access("read", "table", ("shop", "orders")))
        read table shop.orders
    """

    operation: AccessOperation = attrs.field()
    object: AccessObject = attrs.field()
    names: tuple[str, ...] = attrs.field(validator=several("a tuple of texts", str))

    def __attrs_post_init__(self) -> None:
        require_choice("operation of an access", self.operation, ACCESS_OPERATIONS)
        require_choice("object of an access", self.object, ACCESS_OBJECTS)
        if not self.names:
            raise InvalidArgumentError("an access has the name of what is accessed")

    def __str__(self) -> str:
        return f"{self.operation} {self.object} {format_names(self.names)}"


def format_names(names: Iterable[str]) -> str:
    """Return the parts of a name on one line, with dots between them."""
    return ".".join(map(_format_name_part, names))


def _format_name_part(name: str) -> str:
    """Return a part of a name on one line.

    In quotes, with escapes, unless it is letters, digits and underscores alone.
    """
    if _PLAIN.fullmatch(name):
        return name
    signs = (c if c.isprintable() and c not in '\\"' else c.encode("unicode_escape", "surrogatepass") for c in name)
    return '"' + "".join(c if isinstance(c, str) else c.decode() for c in signs).replace('"', '\\"') + '"'


_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@attrs.frozen
class Accesses:
    """All that a plan reads, writes and defines outside of itself, each thing once, in the order of the plan.

    It is a collection of these: `len`, `in` and a loop take those in `all`.

    Example:
        >>> [access.operation for access in orders.to_plan().accesses()]
        ['read']
    """

    all: tuple[Access, ...] = attrs.field(validator=several("a tuple of accesses", Access))

    def __iter__(self) -> Iterator[Access]:
        return iter(self.all)

    def __len__(self) -> int:
        return len(self.all)

    def __contains__(self, access: object) -> bool:
        return access in self.all

    @property
    def reads(self) -> tuple[Access, ...]:
        """The objects that are read; an update and a delete read their target, too."""
        return self._select(_READS)

    @property
    def writes(self) -> tuple[Access, ...]:
        """The objects that gain or lose rows."""
        return self._select(_WRITES)

    @property
    def definitions(self) -> tuple[Access, ...]:
        """The objects that are created, altered or dropped; a ``ctas`` is a write, too."""
        return self._select(_DEFINITIONS)

    def _select(self, operations: frozenset[str]) -> tuple[Access, ...]:
        return tuple(access for access in self.all if access.operation in operations)

    def __str__(self) -> str:
        return "\n".join(map(str, self.all)) or "nothing outside of the plan"


Allowed = Callable[[Access], bool] | Iterable[Access] | Accesses
"""The accesses that a plan may have: a predicate, or all of them."""


def accesses_of(nodes: Iterable[Node], enhancement: AnyMessage | None = None) -> Accesses:
    """Find what the relations in and below some nodes access, and what an enhancement of the plan may."""
    found: dict[Access, None] = {} if enhancement is None else {_extension(enhancement, "any"): None}
    for node in nodes:
        for each in walk(node):
            if isinstance(each, Rel):
                found.update(dict.fromkeys(_accesses(each)))
    return Accesses(tuple(found))


def require_allowed(accesses: Accesses, allowed: Allowed) -> None:
    """Raise if something is accessed that is not allowed.

    Args:
        accesses: what is accessed.
        allowed: a predicate, or all accesses that there may be.

    Raises:
        NotAllowedError: an access is not allowed; names each that is not.
        InvalidArgumentError: `allowed` is neither, or the predicate gives neither True nor False.
    """
    predicate = _predicate(allowed)
    refused = tuple(access for access in accesses.all if not predicate(access))
    if refused:
        shown = [str(access) for access in refused[:_MAX_SHOWN]]
        if len(refused) > _MAX_SHOWN:
            shown.append(f"and {len(refused) - _MAX_SHOWN:,} more")
        raise NotAllowedError(f"the plan has accesses that are not allowed: {'; '.join(shown)}", refused)


_MAX_SHOWN = 6


def _predicate(allow: Any) -> Callable[[Access], bool]:
    """Return what a caller allows as a predicate. Raises `InvalidArgumentError`."""
    if callable(allow):
        return partial(_answer, allow)
    found = allow.all if isinstance(allow, Accesses) else allow
    if isinstance(found, Iterable) and not isinstance(found, str | bytes):
        known = tuple(found)
        if all(isinstance(each, Access) for each in known):
            return frozenset(known).__contains__
    raise InvalidArgumentError(
        "allow is a function of an sd.Access, sd.Accesses or a collection of sd.Access", got=allow
    )


def _answer(predicate: Callable[[Access], object], access: Access) -> bool:
    answer = predicate(access)
    if type(answer) is not bool:
        raise InvalidArgumentError(f"allow says True or False of an access, not {answer!r}")
    return answer


def _accesses(rel: Rel) -> Iterator[Access]:
    """Yield the accesses of one relation, without those of its inputs."""
    common = rel.common or Common()
    definition = rel.definition if isinstance(rel, Read) else None
    target = rel.target if isinstance(rel, Write | Ddl) else rel.table if isinstance(rel, Update) else None
    own = [each.extension for each in (definition, target) if isinstance(each, NamedTable | LocalFiles | NamedObject)]
    for extension in (common.extension, common.own_extension, *own):
        if extension is not None and extension.enhancement is not None:
            yield _extension(extension.enhancement, "any")
    match as_union(rel):
        case Read(definition=definition):
            yield from _reads(definition)
        case Write(target=target, op=op, output=output, create_mode=create_mode):
            access = _make_write_access(target, op)
            yield access
            if create_mode == "replace_if_exists":  # what was there is gone
                yield attrs.evolve(access, operation="drop_if_exist")
            if output == "modified_records" and op in ("delete", "update"):
                yield attrs.evolve(access, operation="read")
        case Update(table=table):
            yield Access("update", "table", table.names)
            yield Access("read", "table", table.names)
        case Ddl(target=target, object=target_object, op=operation):
            match target:
                case NamedObject(names=names):
                    yield Access(operation, target_object, names)
                case ExtensionObject(detail=detail):
                    yield _extension(detail, operation)
        case Exchange(targets=targets):
            for each in targets:
                if isinstance(each.destination, AnyMessage):
                    yield _extension(each.destination, "insert")
                else:
                    yield Access("insert", "uri", (each.destination,))
        case ExtensionLeaf(detail=detail) | ExtensionSingle(detail=detail) | ExtensionMulti(detail=detail):
            yield _extension(detail, "any")
        case (
            Aggregate() | Cross() | Emit() | Expand() | Fetch() | Filter() | HashJoin() | Join() | LateralJoin()
            | MergeJoin() | MergingCapture() | NestedLoopJoin() | Project() | Set() | SimpleCapture() | Sort() | TopN()
            | Unnest() | Window()
        ):  # fmt: skip
            pass
        case never:
            assert_never(never)


def _reads(definition: NamedTable | VirtualTable | LocalFiles | IcebergTable | ExtensionTable) -> Iterator[Access]:
    match definition:
        case NamedTable(names=names):
            yield Access("read", "table", names)
        case VirtualTable():
            pass
        case LocalFiles(items=items):
            for item in items:
                yield Access("read", "files", (item.uri,))
                if isinstance(item.format, ExtensionFormat):
                    yield _extension(item.format.detail, "read")
        case IcebergTable(metadata_uri=uri):
            yield Access("read", "iceberg_table", (uri,))
        case ExtensionTable(detail=detail):
            yield _extension(detail, "read")
        case never:
            assert_never(never)


def _make_write_access(
    target: NamedObject | ExtensionObject | VirtualTarget | FilesTarget, operation: AccessOperation
) -> Access:
    match target:
        case NamedObject(names=names):
            return Access(operation, "table", names)
        case VirtualTarget(name=name):
            return Access(operation, "virtual_table", (name,))
        case FilesTarget(uri=uri):
            return Access(operation, "files", (uri,))
        case ExtensionObject(detail=detail):
            return _extension(detail, operation)
        case never:
            assert_never(never)


def _extension(detail: AnyMessage, operation: AccessOperation) -> Access:
    return Access(operation, "extension", (detail.type_url or "(no type)",))
