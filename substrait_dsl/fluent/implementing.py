"""`implement`: what an engine runs for a function that an extension of the user's declares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from substrait_dsl.catalog import Function, Overload, standard_catalog
from substrait_dsl.catalog.implementations import (
    DISTINCT,
    FILTER,
    TAKES,
    Engine,
    Implementation,
    Takes,
    bind,
    fault_in,
    placeholders,
)
from substrait_dsl.errors import (
    InvalidArgumentError,
    UnsupportedError,
    error_context,
    quote,
    require,
    require_choice,
    suggestion,
)
from substrait_dsl.fluent.namespace import CatalogFunction


def implement(
    function: CatalogFunction,
    engine: Engine,
    implementation: str | Callable[..., Any],
    *,
    takes: Takes | None = None,
    signature: str | None = None,
) -> Implementation:
    """Bind what an engine runs for a function of an extension of your own.

    It is bound in this process, from now until `Implementation.remove`, to what is executed: no plan holds it, and a
    plan that calls a function which is not bound is refused by name. Bound again, the last one counts.

    A function that the extension declares ``deterministic: false`` is called once for each row. Where an engine might
    call it more often, as in the condition of a join, it is refused by name. An aggregate function that depends on the
    order of rows is declared ``ordered: true``: then a shared relation has the same rows wherever it is used.

    Args:
        function: the function, of a `Functions` whose catalogue has the extension; scalar or aggregate.
        engine: ``"spark"``, for all that takes Spark's SQL, or, for scalar functions, ``"datafusion"``.
        implementation: on Spark, SQL text with the arguments by name or position, ``"sha2({x}, 256)"``; braces that
            are none are doubled. In that of an aggregate function ``{filter}`` stands for the filter or the window of
            a call, ``{distinct}`` for DISTINCT, ``"exp(avg({distinct}ln({x})){filter})"``; a call that has one which
            the text has no place for is refused. Or a function, of what `takes` says.
        takes: ``"columns"``: it is called with a Column for each argument, and returns one (Spark in this process; the
            default there). ``"values"``: with the values of a row. ``"arrays"``: with an Arrow array for each argument,
            all of one length, and returns one (the default on DataFusion). ``"series"``: with pandas Series. One for an
            aggregate function is called for each group, also for one without rows: with a list of values, an Arrow
            array or a Series for each argument, and returns one value.
        signature: one overload alone, such as ``"add:i64_i64"``; by default all.

    Returns:
        An `Implementation`, whose ``remove()`` unbinds it; ``with sd.implement(...):`` does so at its end.

    Raises:
        InvalidArgumentError: `function` is none of an extension of your own, or of several, or its calls are those of a
            function of the specification; SQL text names an argument that the function does not have, or is not one
            expression, or one that aggregates rows where the function does not, or the other way round;
            `implementation` is neither text nor a function.
        InvalidChoiceError: `engine`, `takes` or `signature` is no such word.
        UnsupportedError: for a window function, an aggregate function on DataFusion, and SQL text for DataFusion.

    When a plan is executed, a result of another type than the extension declares is an `UnsupportedError` (of text and
    Columns) or an `ExecutionError` (of what a Python function returns), and so is a NULL in a required result.

    Specification: https://substrait.io/extensions/.

    Example:
        >>> catalog = sd.standard_catalog().with_extension('''
        ... urn: extension:com.acme:json
        ... scalar_functions:
        ...   - name: get_json
        ...     impls: [{args: [{name: text, value: string}, {name: path, value: string}], return: string}]
        ... ''')
        >>> my = sd.Functions(catalog)
        >>> bound = sd.implement(my.get_json, "spark", "get_json_object({text}, {path})")
        >>> bound
        <implementation of get_json of extension:com.acme:json on spark>
        >>> bound.remove()
    """
    with error_context(verb="implement"):
        own = _own(function)
        require_choice("engine", engine, tuple(TAKES), "implementation-engine")
        _require_kind(own, engine)
        overloads = _chosen(own, signature)
        _require_called(function, own, overloads)
        is_text = isinstance(implementation, str)
        arguments: Sequence[str] = ()
        if isinstance(implementation, str):
            _require_text(engine, takes)
            clauses = (DISTINCT, FILTER) if own.kind == "aggregate" else ()
            arguments = _require_placeholders(implementation, own, overloads, clauses)
        elif not callable(implementation):
            raise InvalidArgumentError("an implementation is SQL text or a function", got=implementation)
        elif takes is not None:
            require_choice("takes", takes, TAKES[engine])
        if not is_text and takes != "columns" and (engine, takes) != ("spark", None):
            _require_arguments(overloads)
        found = Implementation(
            own.urn,
            signature or own.name,
            engine,
            "sql" if is_text else takes or TAKES[engine][0],
            implementation,
            tuple(arguments),
            all(overload.deterministic for overload in overloads),
            any(overload.ordered for overload in overloads),
        )
        bind(found)
        return found


def _own(function: object) -> Function:
    """Return the declaration of a function in an extension of the user's."""
    require(
        function,
        CatalogFunction,
        "a function to implement is one of sd.Functions(catalog)",
        "my.get_json, not my.get_json(x)",
    )
    assert isinstance(function, CatalogFunction)
    own = [each for each in function._declared if each.urn not in standard_catalog().extensions]
    if not own:
        raise InvalidArgumentError(
            f"{function.name} is a function of the specification, which says what it is",
            hint="an extension of your own declares a function of another name: sd.standard_catalog().with_extension",
        )
    if len(own) > 1:
        urns = quote(each.urn for each in own)
        raise InvalidArgumentError(
            f"{urns} have a function {function.name}", hint=f'sd.Functions(catalog, "{own[0].urn}") has one of them'
        )
    return own[0]


def _require_kind(function: Function, engine: str) -> None:
    """Raise `UnsupportedError` for a window function, and for an aggregate function on another engine than Spark."""
    if function.kind not in ("scalar", "aggregate"):
        raise UnsupportedError(
            f"{function.name} is a {function.kind} function, and only scalar and aggregate ones can be implemented",
            hint="an aggregate function is one over windows, too: my.total(x).over(...)",
        )
    if function.kind == "aggregate" and engine != "spark":
        raise UnsupportedError(
            f"{function.name} is an aggregate function, and {engine} runs only scalar ones of yours",
            hint=f'sd.implement(my.{function.name}, "spark", ...)',
        )


def _chosen(function: Function, signature: object) -> Sequence[Overload]:
    """Return the overloads of a signature, or all of them."""
    if signature is None:
        return function.overloads
    keys = [overload.key for overload in function.overloads]
    require_choice("signature", signature, keys)
    return [overload for overload in function.overloads if overload.key == signature]


def _require_called(function: CatalogFunction, own: Function, overloads: Sequence[Overload]) -> None:
    """Raise `InvalidArgumentError` for an overload whose calls are those of another extension's, which comes first."""
    earlier = function._declared[: function._declared.index(own)]
    keys = {overload.key: other.urn for other in reversed(earlier) for overload in other.overloads}
    for overload in overloads:
        if overload.key in keys:
            raise InvalidArgumentError(
                f"a call of this {function.name} with such arguments is one of {overload.key} of {keys[overload.key]}, "
                f"and not of {own.urn}",
                hint=f'sd.Functions(catalog, "{own.urn}") has those of one extension alone',
            )


def _require_text(engine: str, takes: object) -> None:
    """Raise for SQL text where a function is wanted."""
    if engine != "spark":
        raise UnsupportedError(
            f"{engine} runs functions, and no SQL text", hint="a function over Arrow arrays, of pyarrow.compute"
        )
    if takes is not None:
        raise InvalidArgumentError(f"takes={takes!r} says what a function takes, and this is SQL text")


def _require_arguments(overloads: Sequence[Overload]) -> None:
    """Raise for a function without arguments: a Python function would not know how many rows there are."""
    for overload in overloads:
        if not overload.arguments:
            raise UnsupportedError(
                f"{overload.key} has no arguments, so a Python function does not know for how many rows it is called",
                hint="declare an argument, or give SQL text",
            )


def _require_placeholders(
    text: str, function: Function, overloads: Sequence[Overload], clauses: Sequence[str]
) -> Sequence[str]:
    """Return the names of the arguments of overloads.

    Raises for a placeholder that is none of them, and no clause, and for text that is not one operand.
    """
    names = [[argument.name or str(number) for number, argument in enumerate(each.arguments)] for each in overloads]
    try:
        found = [name for name in placeholders(text) if name not in clauses]
    except ValueError as error:
        raise InvalidArgumentError(
            f"the SQL text of {function.name} has arguments in braces: {error}", got=text, hint=_BRACES
        ) from None
    if fault := fault_in(text, aggregates=function.kind == "aggregate"):
        raise InvalidArgumentError(
            f"the SQL text of {function.name} is to be one expression of the engine's SQL: {fault}",
            got=text,
            hint=_BRACES if "quotes" in fault else None,
        )
    for overload, known in zip(overloads, names, strict=True):
        if overload.variadic is not None:
            raise UnsupportedError(
                f"{overload.key} takes any number of arguments, which SQL text has no places for",
                hint="a function of Columns takes them: lambda *columns: ...",
            )
        positions = list(map(str, range(len(known))))
        for name in found:
            if name not in known and name not in positions:
                raise InvalidArgumentError(
                    f"{overload.key} has no argument {{{name}}}; it has {quote(known)}",
                    hint=_OF_OVERLOADS
                    if any(name in each for each in names)
                    else suggestion(name, known) or _suggest_argument(known),
                )
    if any(each != names[0] for each in names) and not all(name.isdigit() for name in found):
        raise InvalidArgumentError(
            "the overloads call their arguments otherwise",
            hint=_OF_OVERLOADS,
        )
    return names[0]


def _suggest_argument(known: Sequence[str]) -> str:
    """Return the hint for braces around what is no argument: a name of one goes there, or they are text."""
    return f"write {', '.join(f'{{{each}}}' for each in known)}; {_BRACES}" if known else _BRACES


_BRACES = "double braces that are text: {{2}}"
_OF_OVERLOADS = "write the positions of arguments, {0}, or implement one overload alone: signature=..."
