"""Names that the package does not have, and what reads like a column's type but is none."""

import substrait_dsl as sd
from substrait_dsl import Strng  # noqa: F401  # E: a misspelt type
from substrait_dsl import functions as f
from tests.typing.tables import Orders

orders = sd.read_nmaed("orders", Orders)  # E: a misspelt function


def flag(value: sd.Boolen) -> None: ...  # E: a misspelt type in an annotation


f.uper("x")  # E: a misspelt function of the catalogue
