"""The extensions that plans of earlier versions declare, by URIs, are declared by URNs today."""

from __future__ import annotations

import pytest

from substrait_dsl.algebra.findings import Finding
from substrait_dsl.proto.legacy import modern_plan
from substrait_dsl.proto.legacy_plan import urn_of
from tests.proto.old_plans import URIS, modern, old

ARITHMETIC = "extension:io.substrait:functions_arithmetic"


@pytest.mark.parametrize(
    ("uri", "urn"),
    [
        ("/functions_arithmetic.yaml", ARITHMETIC),
        ("functions_arithmetic.yaml", ARITHMETIC),
        ("https://github.com/substrait-io/substrait/blob/main/extensions/functions_arithmetic.yaml", ARITHMETIC),
        ("https://substrait.io/extensions/functions_arithmetic.yaml", ARITHMETIC),
        ("extension:com.example:mine", "extension:com.example:mine"),
        # what is not the specification's own keeps all that its address says
        ("https://example.com/functions_arithmetic.yaml", "extension:example.com:functions_arithmetic"),
        ("https://example.com/a/mine.yaml", "extension:example.com:a.mine"),
        ("https://example.com/b/mine.yaml", "extension:example.com:b.mine"),
        ("/mine.yaml", "extension:unknown:mine"),
        ("urn:arrow:functions", "extension:unknown:urn.arrow.functions"),
        ("", "extension:unknown:unknown"),
    ],
)
def test_urns_of_uris(uri: str, urn: str) -> None:
    assert urn_of(uri) == urn


def test_uris() -> None:
    findings: list[Finding] = []
    plan = modern(URIS, findings=findings)
    urns = {each.extension_urn_anchor: each.urn for each in plan.extension_urns}
    mine = "extension:example.com:mine"
    function, kind, variation = plan.extensions
    assert urns[function.extension_function.extension_urn_reference] == ARITHMETIC
    assert urns[kind.extension_type.extension_urn_reference] == mine
    assert urns[variation.extension_type_variation.extension_urn_reference] == mine
    assert sorted(urns.values()) == sorted((ARITHMETIC, mine))
    names = function.extension_function, kind.extension_type, variation.extension_type_variation
    assert [each.name for each in names] == ["add:i64_i64", "point", "odd"]
    assert [finding.path.startswith("extensions[") for finding in findings] == [True]
    assert "https://example.com/mine.yaml" in findings[0].message
    assert mine in findings[0].message


def test_a_uri_that_is_a_urn_already_is_nothing_to_tell() -> None:
    findings: list[Finding] = []
    mine = "extension:com.example:mine"
    plan = modern(
        f"extension_uris {{ uri: '{mine}' }} extensions {{ extension_type {{ name: 'point' }} }}", findings=findings
    )
    assert [each.urn for each in plan.extension_urns] == [mine]
    assert findings == []


UNDECLARED = 4294967295


@pytest.mark.parametrize(
    ("uris", "urns", "uri_reference", "urn_reference", "means"),
    [
        ({1: "https://example.com/mine.yaml"}, {1: ARITHMETIC}, 1, 1, ARITHMETIC),  # the newer one
        ({1: "/functions_arithmetic.yaml"}, {3: ARITHMETIC}, 1, 0, ARITHMETIC),
        ({0: "/functions_arithmetic.yaml"}, {}, 0, 0, ARITHMETIC),  # 0 is written as nothing
        ({}, {0: ARITHMETIC}, 0, 0, ARITHMETIC),
        ({}, {1: ARITHMETIC}, UNDECLARED, 0, None),
        ({1: "/functions_arithmetic.yaml"}, {}, 7, 0, None),
        ({}, {}, 0, 0, None),
    ],
)
def test_extensions_said_in_both_ways(
    uris: dict[int, str], urns: dict[int, str], uri_reference: int, urn_reference: int, means: str | None
) -> None:
    plan = old("")
    for anchor, uri in uris.items():
        plan.extension_uris.add(extension_uri_anchor=anchor, uri=uri)
    for anchor, urn in urns.items():
        plan.extension_urns.add(extension_urn_anchor=anchor, urn=urn)
    function = plan.extensions.add().extension_function
    function.extension_uri_reference, function.extension_urn_reference = uri_reference, urn_reference
    now = modern_plan(plan.SerializeToString())
    declared = {each.extension_urn_anchor: each.urn for each in now.extension_urns}
    assert len(declared) == len(now.extension_urns)
    assert declared.get(now.extensions[0].extension_function.extension_urn_reference) == means
