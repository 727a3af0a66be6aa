"""The function catalogue: extension files, overload choice and return types.

`standard_catalog` has all extensions of the specification; `Catalog.with_extension` adds a user's own YAML file;
`Catalog.resolve` finds the overload a call means and the type it has.
"""

from substrait_dsl.catalog.call_arguments import CallArgument, EnumValue, Open, Typed, TypeValue
from substrait_dsl.catalog.catalog import Catalog, Kinds, standard_catalog
from substrait_dsl.catalog.records import (
    KINDS,
    EnumArgument,
    Extension,
    Function,
    Kind,
    Option,
    Overload,
    TypeArgument,
    ValueArgument,
    Variadic,
)
from substrait_dsl.catalog.resolve import Resolution, derive, derive_intermediate

__all__ = [
    "KINDS",
    "CallArgument",
    "Catalog",
    "EnumArgument",
    "EnumValue",
    "Extension",
    "Function",
    "Kind",
    "Kinds",
    "Open",
    "Option",
    "Overload",
    "Resolution",
    "TypeArgument",
    "TypeValue",
    "Typed",
    "ValueArgument",
    "Variadic",
    "derive",
    "derive_intermediate",
    "standard_catalog",
]
