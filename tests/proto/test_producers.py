"""What is known of producers: it is applied to the plans of that producer, and to no others."""

from __future__ import annotations

import pytest

from substrait_dsl.proto.producers import ARROW, DATAFUSION, UNKNOWN, Producer, producer_of


@pytest.mark.parametrize(
    ("name", "producer"),
    [
        ("datafusion", DATAFUSION),
        ("Acero 26.0.1", ARROW),
        ("Acero", ARROW),
        ("", UNKNOWN),
        ("DataFusion", UNKNOWN),
        ("substrait-java", UNKNOWN),
    ],
)
def test_a_producer_is_known_by_how_its_name_begins(name: str, producer: Producer) -> None:
    assert producer_of(name, (0, 85, 0)) is producer
