"""What follows from what follows."""

import pipelines


def keys() -> None:
    pipelines.cheap.filter(lambda r: r.key > 5)


def days() -> None:
    pipelines.Report.rows.select("day")
