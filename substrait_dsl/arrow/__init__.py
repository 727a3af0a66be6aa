"""Apache Arrow: schemas to and from it, and tables that it holds. pyarrow is loaded when it is first needed."""

from substrait_dsl.arrow.schemas import ArrowSchema, from_arrow, to_arrow, type_from_arrow, type_to_arrow

__all__ = ["ArrowSchema", "from_arrow", "to_arrow", "type_from_arrow", "type_to_arrow"]
