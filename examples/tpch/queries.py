"""The 22 queries of TPC-H by name: ``QUERIES["q05"]().execute(spark)``."""

from __future__ import annotations

from collections.abc import Callable

from examples.tpch import q01_q11, q12_q22
from substrait_dsl import Relation

QUERIES: dict[str, Callable[[], Relation]] = {
    "q01": q01_q11.q01,
    "q02": q01_q11.q02,
    "q03": q01_q11.q03,
    "q04": q01_q11.q04,
    "q05": q01_q11.q05,
    "q06": q01_q11.q06,
    "q07": q01_q11.q07,
    "q08": q01_q11.q08,
    "q09": q01_q11.q09,
    "q10": q01_q11.q10,
    "q11": q01_q11.q11,
    "q12": q12_q22.q12,
    "q13": q12_q22.q13,
    "q14": q12_q22.q14,
    "q15": q12_q22.q15,
    "q16": q12_q22.q16,
    "q17": q12_q22.q17,
    "q18": q12_q22.q18,
    "q19": q12_q22.q19,
    "q20": q12_q22.q20,
    "q21": q12_q22.q21,
    "q22": q12_q22.q22,
}
