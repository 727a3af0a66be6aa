"""Profiles: what an engine of some version takes, and how it does what it does otherwise.

A profile is a dialect file of the specification. What such a file has no words for stands under its ``metadata``:

    engine, version     what the engine is called, as in ``to_bytes(engine="datafusion")``
    function_rules      by the name of a function the rule that writes a call of it another way
                        (`substrait_dsl.engines.function_rules`)
    options             by the name of an option the values that say what the engine does anyway; for one function
                        (``abs.overflow``) or those of one extension (``arithmetic_decimal.overflow``) other ones
    casts               by the keyword of a type the keywords of those that the engine casts it to as Spark does
    cast_types          the keywords of all types that it casts to; all types, where the key is not there
    literals            the keywords of the types that it reads constants of; `LITERALS`, where the key is not there
    forms               which forms of relations and expressions it takes, by the words of `FORMS`; where the key is
                        there, `substrait_dsl.engines.lowering.forms` brings plans to these
    encoding            how its plans are written: ``spec``, which is the default, or ``legacy``
    omitted_fields      the removed fields that its plans lack in the legacy encoding, such as
                        ``ReadRel.VirtualTable.values``, because the engine refuses them beside today's
    shapes              by the code of a rule of shape (`substrait_dsl.engines.rules`) what the engine does to a plan
                        that is not lowered: a severity (`substrait_dsl.engines.report`), or ``right``

Specification: ``dialect_schema.yaml`` beside the extension files.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Literal, cast

import attrs

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.capabilities import Capabilities, Words
from substrait_dsl.algebra.function_ids import FunctionId
from substrait_dsl.algebra.settings import ENCODINGS, LEGACY_FIELDS, Encoding
from substrait_dsl.algebra.types import LENGTH_TYPES, PRECISION_TYPES, SIMPLE_TYPES, Type
from substrait_dsl.catalog.dialects import read_dialect
from substrait_dsl.catalog.entries import Entry, read_yaml
from substrait_dsl.engines.function_rules import FUNCTION_RULES
from substrait_dsl.engines.profile_files import (
    file_hint,
    has_ending,
    profile_text,
    require_known_functions,
    require_known_options,
    require_no_url,
)
from substrait_dsl.engines.report import SEVERITIES, Severity
from substrait_dsl.engines.rules import CODES
from substrait_dsl.errors import CatalogError, InvalidChoiceError, quote, require, suggestion

Shape = Severity | Literal["right"]
SHAPES: tuple[str, ...] = (*SEVERITIES, "right")
"""What an engine may do to a plan that is not lowered."""

_KEYS = (
    "engine",
    "version",
    "description",
    "function_rules",
    "options",
    "casts",
    "encoding",
    "omitted_fields",
    "shapes",
    "forms",
    "cast_types",
    "literals",
)

LITERALS = (
    "boolean", "i8", "i16", "i32", "i64", "fp32", "fp64", "string", "binary", "date", "decimal", "precision_timestamp",
)  # fmt: skip
"""The keywords of the types whose literals an engine reads, if its profile does not list them."""

FORMS = (
    "names_of_one_part",
    "rows_of_bare_literals",
    "nulls_by_cast",
    "small_integers_by_cast",
    "sums_by_cast",
    "measures_of_all_rows",
    "joins_by_one_key",
    "semi_joins_by_equality",
    "types_by_union",
    "unchecked_casts",
    "nans_beside_nulls",
    "timestamps_by_cast",
    "signed_zeros",
    "known_conditions",
    "sorts_above_projections",
    "fetches_of_ordered_rows",
    "exponents_in_texts",
    "named_columns_alike",
    "casts_by_wider_decimals",
    "grouping_of_no_keys",
    "texts_of_latin_1",
    "floats_of_digits",
    "counts_of_32_bits",
    "separate_aggregates",
    "values_by_functions",
)
"""The words of `Profile.forms`."""


@attrs.frozen
class Profile:
    """The capabilities of an engine, and how it deviates from the specification."""

    engine: str
    version: str
    dialect: Capabilities
    """The types, relations, expressions and functions that the engine has."""
    function_rules: Mapping[str, str]
    """By the name of a function the rule that rewrites its calls."""
    options: Mapping[str, tuple[str, ...]]
    """By the name of an option the values that the engine implements anyway."""
    casts: Mapping[str, tuple[str, ...]]
    """By the keyword of a type the other types that it may be cast to."""
    encoding: Encoding = "spec"
    """How its plans are written."""
    omitted_fields: tuple[str, ...] = ()
    """The removed fields that its plans lack in the legacy encoding."""
    shapes: Mapping[str, Shape] = attrs.field(factory=dict)
    """By the code of a rule of shape what the engine does to a plan that is not lowered."""
    cast_types: tuple[str, ...] | None = None
    """The keywords of all types that the engine casts to; None for all."""
    literals: tuple[str, ...] = LITERALS
    """The keywords of the types whose literals the engine reads."""
    forms: frozenset[str] | None = None
    """Which forms the engine takes; None if it takes all that lowering makes."""
    argument: str = ""
    """The name of the engine, or the path of its file, as calls pass it."""
    functions: frozenset[tuple[str, str, str]] = attrs.field(init=False)
    """The engine's functions: function type, URN of the extension, name with signature."""
    function_keys: frozenset[str] = attrs.field(init=False)
    """The names with signatures of the functions."""

    def __attrs_post_init__(self) -> None:
        listed = self.dialect.functions or {}
        functions = frozenset(
            (function_type, each.urn, f"{each.name}:{signature}")
            for function_type, some in listed.items()
            for each in some
            for signature in each.signatures or ()
        )
        object.__setattr__(self, "functions", functions)
        object.__setattr__(self, "argument", self.argument or self.name)
        object.__setattr__(self, "function_keys", frozenset(key for _, _, key in functions))

    def has_form(self, form: str) -> bool:
        """Whether a word is among the forms."""
        return self.forms is not None and form in self.forms

    def urn_of(self, key: str) -> str:
        """Return the URN of a scalar function that the engine has of its own: ``date_part:str_any``."""
        found = [
            urn for function_type, urn, name in self.functions if function_type == "scalar function" and name == key
        ]
        if not found:
            raise CatalogError(f"the profile {self.name} has no scalar function {key}, which one of its rules writes")
        return found[0]

    def casts_to(self, type_: Type) -> bool:
        """Whether the engine casts to a type."""
        return self.cast_types is None or type_.keyword in self.cast_types

    def takes(self, category: Literal["relations", "expressions"], word: str, form: str | None = None) -> bool:
        """Whether the engine has a relation or an expression, in a form: ``takes("relations", "JOIN", "LEFT")``."""
        words: Words = getattr(self.dialect, category)
        if words is None or words == "all":
            return True
        forms = words.get(word, frozenset())
        return word in words and (form is None or forms is None or form in forms)

    @property
    def name(self) -> str:
        """The engine with its version: ``datafusion-55``."""
        return f"{self.engine}-{self.version}"

    def values_of(self, option: str, function: FunctionId) -> tuple[str, ...]:
        """Return the values of an option of a function that the engine implements anyway."""
        extension = function.urn.rpartition("functions_")[2]
        names = (f"{extension}.{option}", f"{function.name}.{option}", option)
        return next((self.options[name] for name in names if name in self.options), ())

    def __str__(self) -> str:
        return self.dialect.name


def read_profile(text: str, source: str) -> Profile:
    """Read a profile.

    Args:
        text: the YAML text.
        source: what to call it in messages: a file name.

    Raises:
        CatalogError: for whatever breaks the rules of profiles, naming the place.
    """
    dialect = read_dialect(text, source)
    metadata = Entry.of(read_yaml(text, source), source).entry("metadata")
    if "engine" not in metadata.values:
        raise CatalogError(f'{metadata.where}: the key "engine" is missing', hint=PLAIN_DIALECT)
    metadata.require_only(*_KEYS)
    options = metadata.entry("options")
    cast_types = _keywords(metadata, "cast_types") if "cast_types" in metadata.values else None
    forms = _forms(metadata)
    encoding: Encoding = metadata.choice("encoding", ENCODINGS, "spec")
    return Profile(
        metadata.require_text("engine"),
        metadata.require_text("version"),
        dialect,
        _function_rules(metadata),
        {option: options.words(option, may_be_empty=True) for option in options.values},
        _casts(metadata.entry("casts"), cast_types, forms),
        encoding,
        _omitted_fields(metadata, encoding),
        _shapes(metadata),
        cast_types,
        _keywords(metadata, "literals") if "literals" in metadata.values else LITERALS,
        forms,
    )


def _function_rules(metadata: Entry) -> Mapping[str, str]:
    """Read the rules of functions. Raises `CatalogError` for an unknown rule, or one for other functions."""
    rules = metadata.mapping("function_rules")
    for function, rule in rules.items():
        where = f"{metadata.where}, function_rules, {function}"
        if rule not in FUNCTION_RULES:
            raise CatalogError(f'{where}: there is no rule "{rule}"', hint=suggestion(rule, FUNCTION_RULES))
        if function not in FUNCTION_RULES[rule]:
            raise CatalogError(f"{where}: the rule {rule} is for {quote(FUNCTION_RULES[rule])}")
    return rules


_TYPES: tuple[type[Type], ...] = (
    *SIMPLE_TYPES, *PRECISION_TYPES, *LENGTH_TYPES, t.Decimal, t.Struct, t.List, t.Map, t.Func,
)  # fmt: skip
KEYWORDS = tuple(class_.keyword for class_ in _TYPES)
"""The keywords of types."""


PLAIN_DIALECT = "a dialect that names no engine is compared by check; plans are lowered to profiles"


def _keywords(entry: Entry, key: str) -> tuple[str, ...]:
    return tuple(_keyword(word, entry) for word in entry.words(key, may_be_empty=True))


def _casts(
    entry: Entry, cast_types: tuple[str, ...] | None, forms: frozenset[str] | None
) -> Mapping[str, tuple[str, ...]]:
    """Read the casts. Raises `CatalogError` for a target that is not among the cast types."""
    by_functions = (t.PrecisionTimestamp.keyword,) if "values_by_functions" in (forms or ()) else ()
    casts = {_keyword(keyword, entry): _keywords(entry, keyword) for keyword in entry.values}
    for source, targets in casts.items():
        for target in targets:
            if cast_types is not None and target not in (*cast_types, *by_functions):
                raise CatalogError(f"{entry.where}, {source}: {target} is not among the cast_types")
    return casts


def _omitted_fields(metadata: Entry, encoding: Encoding) -> tuple[str, ...]:
    """Read the removed fields that are not written. Raises `CatalogError` for unknown fields."""
    if "omitted_fields" not in metadata.values:
        return ()
    fields = metadata.words("omitted_fields", may_be_empty=True)
    for field in fields:
        if field not in LEGACY_FIELDS:
            raise CatalogError(
                f'{metadata.where}, omitted_fields: the legacy encoding has no field "{field}"; expected '
                f"{quote(LEGACY_FIELDS, limit=20)}",
                hint=suggestion(field, LEGACY_FIELDS),
            )
    if fields and encoding != "legacy":
        raise CatalogError(f"{metadata.where}: only the legacy encoding has omitted_fields, and this is {encoding}")
    return fields


def _keyword(word: str, entry: Entry) -> str:
    """Return the keyword of a type. Raises `CatalogError` for another word."""
    if word not in KEYWORDS:
        raise CatalogError(f'{entry.where}: there is no type "{word}"', hint=suggestion(word, KEYWORDS))
    return word


def _shapes(metadata: Entry) -> Mapping[str, Shape]:
    """Read the severities of rules of shape. Raises `CatalogError` for an unknown rule or severity."""
    shapes = metadata.mapping("shapes")
    for code, word in shapes.items():
        for what, written, known in (("rule of shape", code, CODES), ("severity", word, SHAPES)):
            if written not in known:
                raise CatalogError(
                    f'{metadata.where}, shapes: there is no {what} "{written}"', hint=suggestion(written, known)
                )
    return cast("Mapping[str, Shape]", shapes)


def _forms(metadata: Entry) -> frozenset[str] | None:
    if "forms" not in metadata.values:
        return None
    words = metadata.words("forms", may_be_empty=True)
    for word in words:
        if word not in FORMS:
            raise CatalogError(f'{metadata.where}: there is no form "{word}"', hint=suggestion(word, FORMS))
    return frozenset(words)


def load_profile(engine: str | Path, others: tuple[str, ...] = ()) -> Profile:
    """Return the profile of an engine.

    Args:
        engine: the name of an engine, which means its newest version that there is a profile of (``datafusion``); a
            name with a version (``datafusion-55``); or the path of a profile, whose name ends in ``.yaml``.
        others: the names of engines without a profile, which may have been meant, too.

    Raises:
        InvalidChoiceError: there is no such engine, with the nearest one.
        CatalogError: the file cannot be read, or is no profile.
    """
    require(engine, (str, Path), "an engine is a name such as datafusion, or the path of a profile")
    require_no_url(engine)
    if isinstance(engine, Path) or has_ending(engine):
        return _profile_of_file(Path(engine))
    known = shipped_profiles()
    if engine not in known:
        error = InvalidChoiceError.of_word("engine", engine, (*known, *others))
        error.hint = file_hint(engine) or error.hint
        raise error
    return known[engine]


def _profile_of_file(path: Path) -> Profile:
    """Read the profile of a user's file; its words are checked against the specification."""
    profile = read_profile(profile_text(path), path.name)
    require_known_functions(profile.functions, path.name)
    require_known_options(profile.options, f"{path.name}, metadata, options")
    return attrs.evolve(profile, argument=str(path))


def is_profile(path: Path) -> bool:
    """Whether a file is a profile, and not a dialect file without an engine; raises as `load_profile`."""
    if not has_ending(path.name):
        return False
    metadata = Entry.of(read_yaml(profile_text(path), path.name), path.name).values.get("metadata")
    return isinstance(metadata, Mapping) and "engine" in metadata


@cache
def shipped_profiles() -> Mapping[str, Profile]:
    """Return the profiles of the library, by the names of engines, and by those with a version."""
    folder = files("substrait_dsl.engines") / "profiles"
    found: dict[str, Profile] = {}
    for file in sorted((each for each in folder.iterdir() if each.name.endswith(".yaml")), key=lambda each: each.name):
        profile = read_profile(file.read_text(encoding="utf-8"), file.name)
        found[profile.engine] = found[profile.name] = profile
    return found
