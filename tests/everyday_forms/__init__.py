"""The pipelines of ``examples/everyday`` as users of PySpark and of Polars would write them."""
