"""Requirements on functions that are used otherwise than by a call: to compare, to move a bound, to run in phases.

The builder and the decoder of plans share these checks. Functions of extensions that the catalogue does not have are
never refused.
"""

from __future__ import annotations

from substrait_dsl.algebra.function_ids import PHASES, FunctionId, Phase
from substrait_dsl.algebra.types import INTEGER_RANGES, Boolean, Date, Decimal, Type, Unbound, UserDefined
from substrait_dsl.catalog.call_arguments import CallArgument, Typed
from substrait_dsl.catalog.catalog import Catalog
from substrait_dsl.catalog.records import Decomposable, Overload
from substrait_dsl.errors import FunctionNotFoundError, InvalidArgumentError, TypeMismatchError

PHASES_OF: dict[Decomposable, tuple[Phase, ...]] = {
    "NONE": ("initial_to_result",),
    "ONE": ("initial_to_result", "initial_to_intermediate", "intermediate_to_result"),
    "MANY": PHASES,
}
"""The phases in which a function can be called, by how often its intermediate values can be aggregated."""


def known_overload(catalog: Catalog, function: FunctionId) -> Overload | None:
    """Return the overload that a function is, None for one of somebody else."""
    if function.urn not in catalog.extensions:
        return None
    try:
        return catalog.overload(function.urn, function.key)
    except FunctionNotFoundError:
        return None


def require_phase(overload: Overload, phase: Phase) -> None:
    """Raise `InvalidArgumentError` for a phase in which a function cannot be called."""
    phases = PHASES_OF[overload.decomposable]
    if phase not in phases:
        raise InvalidArgumentError(
            f"{overload.key} cannot be called in the phase {phase}: its decomposability is {overload.decomposable}",
            hint=f"it can be called in {' and '.join(phases)}",
        )
    if phase != "initial_to_result" and overload.intermediate is None:
        raise InvalidArgumentError(
            f"{overload.key} cannot be called in the phase {phase}: it declares no intermediate type"
        )


def require_order(overload: Overload, result: Type) -> None:
    """Raise `TypeMismatchError` unless what a function gives says which of two values is first (spec decision 52)."""
    if type(result) not in INTEGER_RANGES:
        raise TypeMismatchError(f"a comparison function gives an integer, but {overload} gives {result}")


def require_match(overload: Overload, result: Type) -> None:
    """Raise `TypeMismatchError` unless what a function gives says whether two keys match."""
    if not isinstance(result, Boolean):
        raise TypeMismatchError(f"the comparison of a key gives a boolean, but {overload} gives {result}")


def distance_type(catalog: Catalog, key: Type, distance: CallArgument) -> Type:
    """Return the type of a distance that can be added to a sort key and taken from it: the offset of a range.

    Raises `TypeMismatchError` unless key and distance add up to the type of the key.
    """
    parts = (Typed(key), distance)
    try:
        sums = [catalog.resolve("scalar", name, parts) for name in ("add", "subtract")]
    except FunctionNotFoundError:
        sums = []
    if not sums or not all(_same(found.output_type, key) for found in sums):
        hint = "cast the sort key or the offset, or count rows: rows=(first, last)"
        if isinstance(key, Date):  # and days are a point in time
            hint = "give YearMonths, or cast the sort key to precision_timestamp<6> and give a timedelta"
        raise TypeMismatchError(
            f"a range over {key} cannot have an offset {'of type ' if isinstance(distance, Typed) else ''}{distance}: "
            f"key and offset do not add up to {key.as_required()}",
            hint=hint,
        )
    type_ = sums[0].argument_types[1]
    assert isinstance(type_, Type)  # the argument is a value
    return type_


def _same(result: Type, key: Type) -> bool:
    """Return whether a sum has the type of its key. Decimals grow when they are added: their scale must stay."""
    if isinstance(result, Decimal) and isinstance(key, Decimal):
        return bool(result.scale == key.scale)
    return result.matches(key)


def is_known(catalog: Catalog, type_: Type) -> bool:
    """Return whether the catalogue can tell which functions take a type.

    It is bound, and of no extension of somebody else.
    """
    if isinstance(type_, Unbound) or (isinstance(type_, UserDefined) and type_.urn not in catalog.extensions):
        return False
    return type_.variation is None or type_.variation.urn in catalog.extensions
