"""The page of a plan, and what notebooks show, as Chromium shows them: seen, clicked, and with a stranger's names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

import substrait_dsl as sd
from substrait_dsl import functions as f
from substrait_dsl.algebra.node import Rel
from substrait_dsl.fluent.base import wrap_relation
from substrait_dsl.markup import page
from substrait_dsl.render.row_table import MAX_COLUMNS, rows_html
from substrait_dsl.texts import printable
from tests.browser import complaints, every, one, open_page, requests
from tests.test_plan_page import CUSTOMERS, ORDERS, TOTALS, page_with
from tests.trees.relations import plans

if TYPE_CHECKING:
    from selenium.webdriver.remote.webdriver import WebDriver


def steps(browser: WebDriver, *, which: str = ".step") -> list[str]:
    """The verbs of the steps that a selector finds, in their order."""
    return [each.find_element("css selector", ".verb").text for each in every(browser, which)]


def click(browser: WebDriver, verb: str) -> None:
    """Click the only step with a verb."""
    [step] = [each for each in every(browser, ".step") if each.find_element("css selector", ".verb").text == verb]
    step.click()


def follow(browser: WebDriver, verb: str, column: str) -> None:
    """Click a step, and then one of its columns."""
    click(browser, verb)
    one(browser, "aside td .link", column).click()


def boxes(browser: WebDriver, selector: str) -> list[dict[str, float]]:
    """Where on the screen the elements are that a selector finds, as they are scaled."""
    script = "return [...document.querySelectorAll(arguments[0])].map(each => each.getBoundingClientRect().toJSON())"
    found: list[dict[str, float]] = browser.execute_script(script, selector)
    return found


def panel(browser: WebDriver) -> str:
    """What the panel says."""
    return every(browser, "aside")[0].text


def test_all_steps_are_there_and_nothing_is_loaded(browser: WebDriver, tmp_path: Path) -> None:
    open_page(browser, TOTALS.to_html(title="totals"), tmp_path)
    assert browser.title == "totals"
    assert steps(browser) == ["sort", "aggregate", "join", "filter", "read", "read"]
    assert len(every(browser, ".edge")) == 5
    assert [each.text for each in every(browser, ".side")] == ["left", "right"]
    assert "relation: 2 columns, 6 steps" in panel(browser)
    assert complaints(browser) == []
    assert requests(browser) == {(tmp_path / "page.html").as_uri()}


def test_a_click_shows_columns_order_and_message(browser: WebDriver, tmp_path: Path) -> None:
    open_page(browser, TOTALS.to_html(), tmp_path)
    click(browser, "sort")
    assert [[cell.text for cell in row.find_elements("css selector", "td")] for row in every(browser, "aside tr")] == [
        [],
        ["name", "string", "no", ""],
        ["total", "fp64?", "yes", ""],
    ]
    assert "ordered by total desc nulls last" in panel(browser)
    every(browser, "aside summary")[0].click()
    message = every(browser, "aside pre")[0].text
    assert message.startswith('{\n  "sort": {\n    "common": {\n      "direct": {}\n    },\n    "input": {')
    assert steps(browser, which=".step[aria-current='true']") == ["sort"]
    one(browser, "aside li .link", "2: aggregate by name -> total = sum(price)").click()
    assert steps(browser, which=".step[aria-current='true']") == ["aggregate"]
    assert "sum(price)" in panel(browser)


def test_a_column_is_followed_down_and_up(browser: WebDriver, tmp_path: Path) -> None:
    open_page(browser, TOTALS.to_html(), tmp_path)
    follow(browser, "aggregate", "total")
    assert steps(browser, which=".step.direct") == ["sort", "aggregate", "join", "filter", "read"]
    shown = [each.text.split("\n")[-1] for each in every(browser, ".step.direct")]
    assert shown == ["total", "total", "price", "price", "price"]
    assert len(every(browser, ".edge.direct")) == 4
    box = every(browser, ".box")[0].text.split("\n")
    assert box[box.index("comes from") + 1] == "orders.price"
    assert box[box.index("goes to") + 1 :][:2] == ["total of 1: sort", "rows of 1: sort (sort)"]
    every(browser, "body")[0].send_keys(Keys.ESCAPE)
    assert every(browser, ".direct, .indirect, .box") == []
    assert every(browser, ".step")[0].text.split("\n")[-1] == "2 columns"


@settings(max_examples=15, suppress_health_check=list(HealthCheck), deadline=None)
@given(plans())
def test_the_script_follows_columns_where_the_lineage_says(browser: WebDriver, tmp_path: Path, rel: Rel) -> None:
    relation = wrap_relation(rel)
    if rel.free_anchors or rel.flags.has_changes:
        return
    open_page(browser, relation.to_html(), tmp_path)
    every(browser, ".step")[0].click()
    for column in [*relation.lineage()][:3]:
        direct = {str(origin.source) for origin in column.direct}
        indirect = {str(origin.source) for origin in column.indirect} - direct
        position = relation.columns.index(column.name)
        if relation.columns.count(column.name) > 1:
            continue
        every(browser, "aside td .link")[position].click()
        shown = {each.text for each in every(browser, ".box h3:first-of-type + ul li")}
        assert shown == {printable(each) for each in direct} | {f"{printable(each)} (decides)" for each in indirect}
    assert complaints(browser) == []


def test_what_decides_is_seen_apart_from_what_is_copied(browser: WebDriver, tmp_path: Path) -> None:
    chosen = ORDERS.select(x=lambda o: sd.when(o.id > 3).then(o.price).otherwise(0.0))
    open_page(browser, chosen.filter(lambda r: r.x > 1.0).to_html(), tmp_path)
    click(browser, "read")
    one(browser, "aside td .link", "id").click()
    assert steps(browser, which=".step.direct") == ["project", "read"]  # the project has the column itself, too
    assert steps(browser, which=".step.indirect") == ["filter", "emit"]
    assert "rows of 1: filter (filter)" in panel(browser)
    one(browser, "aside td .link", "price").click()
    assert steps(browser, which=".step.direct") == ["filter", "emit", "project", "read"]
    click(browser, "filter")
    one(browser, "aside > .link", "follow what decides about the rows").click()
    box = every(browser, ".box")[0].text.split("\n")
    assert box[0] == "following the rows of 1: filter"
    start = box.index("comes from") + 1
    assert box[start : box.index("goes to")] == ["orders.id (decides)", "orders.price (decides)"]


def test_a_root_that_another_root_uses_is_where_a_column_goes(browser: WebDriver, tmp_path: Path) -> None:
    large = ORDERS.filter(lambda o: o.price > 5.0)
    open_page(browser, sd.Plan(large, large.select(x="id")).to_html(), tmp_path)
    follow(browser, "read", "price")
    box = every(browser, ".box")[0].text.split("\n")
    assert box[box.index("goes to") + 1 :] == [
        "price of 1: #1: filter",
        "rows of 1: #1: filter (filter)",
        "stop following (Escape)",
    ]
    one(browser, "aside td .link", "id").click()
    box = every(browser, ".box")[0].text.split("\n")
    assert sorted(box[box.index("goes to") + 1 : -1]) == ["id of 1: #1: filter", "x of 3: emit"]


def test_a_row_that_a_subquery_refers_to_has_a_line_while_it_is_followed(browser: WebDriver, tmp_path: Path) -> None:
    def name_of(order: Any) -> Any:
        return sd.scalar_subquery(CUSTOMERS.filter(lambda c: c.key == order.customer).select("name"))

    open_page(browser, ORDERS.select("id", name=name_of).to_html(), tmp_path)
    always = len(every(browser, ".edge"))
    assert every(browser, ".edge.outer") == []
    [orders] = [each for each in every(browser, ".step") if "orders" in each.text]
    orders.click()
    one(browser, "aside td .link", "customer").click()
    [line] = every(browser, ".edge.outer")
    drawn, read, filtered = (box_of(browser, *which) for which in ((".edge.outer",), (".step", 5), (".step", 3)))
    assert drawn["top"] == pytest.approx(read["bottom"], abs=4)
    assert drawn["bottom"] == pytest.approx(filtered["top"], abs=4)
    assert "indirect" in (line.get_attribute("class") or "")
    follow(browser, "project", "name")  # the same line, from the other end
    assert box_of(browser, ".edge.outer") == drawn
    assert len(every(browser, ".edge.outer")) == 1
    every(browser, "body")[0].send_keys(Keys.ESCAPE)
    assert len(every(browser, ".edge")) == always
    assert complaints(browser) == []


def test_a_chain_of_thousands_of_steps_is_clicked_and_searched(browser: WebDriver, tmp_path: Path) -> None:
    """All of them have the columns of the read at the bottom."""
    rel: sd.Relation[Any] = ORDERS
    for _ in range(5_000):
        rel = rel.filter(lambda o: o.price > 5.0)
    open_page(browser, rel.to_html(), tmp_path)
    every(browser, ".step")[0].click()
    one(browser, "aside td .link", "price").click()
    assert "comes from\norders.price\n" in panel(browser)
    every(browser, "header input")[0].send_keys("customer")
    assert every(browser, "header output")[0].text == "5,001 steps"
    assert complaints(browser) == []


def test_the_keyboard_reaches_everything(browser: WebDriver, tmp_path: Path) -> None:
    open_page(browser, TOTALS.to_html(), tmp_path)

    def press(*keys: str) -> str:
        ActionChains(browser).send_keys(*keys).perform()
        return str(browser.switch_to.active_element.text).split("\n")[0]

    for _ in range(6):  # over the head of the page
        if press(Keys.TAB) == "sort":
            break
    assert press(Keys.ARROW_DOWN) == "aggregate"
    assert press(Keys.ARROW_DOWN, Keys.ARROW_DOWN) == "filter"
    assert press(Keys.ARROW_RIGHT) == "read"
    assert press(Keys.ARROW_UP) == "join"
    assert steps(browser, which=".step[aria-current='true']") == ["join"]
    assert press(Keys.TAB) == "id"
    press(Keys.ENTER)
    assert "following id of 3: join" in panel(browser)
    assert "goes to" in panel(browser)
    press("/", "price", Keys.ENTER)
    assert every(browser, "header output")[0].text == "4 steps"
    assert steps(browser, which=".found") == ["aggregate", "join", "filter", "read"]


def box_of(browser: WebDriver, selector: str, which: int = 0) -> dict[str, float]:
    """Where an element is on the screen."""
    box = "return document.querySelectorAll(arguments[0])[arguments[1]].getBoundingClientRect().toJSON()"
    count = len(every(browser, selector))
    found: dict[str, float] = browser.execute_script(box, selector, which % count)
    return found


def test_pan_and_zoom(browser: WebDriver, tmp_path: Path) -> None:
    rel: sd.Relation[Any] = TOTALS
    for number in range(20):
        rel = rel.filter(sd.col("total") > float(number))
    open_page(browser, rel.to_html(), tmp_path)
    width = box_of(browser, ".step")["width"]
    one(browser, "header button", "+").click()
    assert box_of(browser, ".step")["width"] == pytest.approx(1.25 * width)
    every(browser, "body")[0].send_keys("-")
    assert box_of(browser, ".step")["width"] == pytest.approx(width)
    before = box_of(browser, ".step")["y"]
    beside = ActionChains(browser).move_to_element_with_offset(every(browser, "#viewport")[0], -300, 100)
    beside.click_and_hold().move_by_offset(0, -90).release().perform()
    assert box_of(browser, ".step")["y"] == pytest.approx(before - 90)
    assert box_of(browser, ".step", -1)["bottom"] > box_of(browser, "#viewport")["bottom"]
    one(browser, "header button", "fit").click()
    assert box_of(browser, ".step", -1)["bottom"] < box_of(browser, "#viewport")["bottom"]


def test_two_plans_stand_side_by_side(browser: WebDriver, tmp_path: Path) -> None:
    after = (
        ORDERS.filter(lambda o: o.price > 9.0)
        .join(CUSTOMERS, on=lambda o, c: o.customer == c.key)
        .group_by("name")
        .agg(total=lambda o: f.sum(o.price))
        .limit(3)
    )
    open_page(browser, TOTALS.to_html(compare=after), tmp_path)
    assert [each.text for each in every(browser, "#graph h2")] == ["before", "after"]
    assert steps(browser, which=".step.removed") == ["sort"]
    assert steps(browser, which=".step.added") == ["fetch"]
    assert steps(browser, which=".step.changed") == ["filter", "filter"]
    assert [each.text.strip() for each in every(browser, "aside .line.added")] == ["+ filter price > 9.0", "+ fetch 3"]
    every(browser, ".step.changed")[0].click()
    one(browser, "aside p .link", "filter price > 9.0").click()
    assert "filter price > 5.0" in panel(browser)
    assert complaints(browser) == []


@pytest.mark.parametrize("width", [1400, 1000])
def test_both_of_two_plans_are_seen_at_first(width: int, browser: WebDriver, tmp_path: Path) -> None:
    """Whatever their size; where they are so small that no text could be read, a step shows its verb alone."""
    wide: sd.Relation[Any] = ORDERS
    for number in range(6):
        other = sd.read_named(f"customers{number}", {"key": "i64"})
        wide = wide.join(other, on=lambda o, c: o.customer == c.key).select("id", "customer", "price")
    size = browser.get_window_size()
    browser.set_window_size(width, 900)
    try:
        for before, after in ((TOTALS, TOTALS.limit(3)), (wide, wide.limit(3))):
            open_page(browser, before.to_html(compare=after), tmp_path)
            [view] = boxes(browser, "#viewport")
            shown = boxes(browser, ".step, #graph h2")
            assert min(each["left"] for each in shown) >= view["left"]
            assert max(each["right"] for each in shown) <= view["right"]
            assert min(each["top"] for each in shown) >= view["top"]
            assert boxes(browser, ".step .verb")[0]["height"] >= 6
        assert [each.text.split("\n") for each in every(browser, ".step")][:2] == [["emit"], ["join"]]
        for _ in range(6):
            one(browser, "header button", "+").click()
        assert "3 columns" in every(browser, ".step")[0].text
    finally:
        browser.set_window_size(size["width"], size["height"])


def test_a_plan_and_what_it_became_lead_to_each_other(browser: WebDriver, tmp_path: Path) -> None:
    large = ORDERS.filter(lambda o: o.price > 5.0)
    open_page(browser, large.to_html(compare=large.limit(3)), tmp_path)
    assert steps(browser) == ["filter", "read", "fetch", "filter", "read"]
    for number, partner in {0: 3, 1: 4, 3: 0, 4: 1}.items():
        every(browser, ".step")[number].click()
        every(browser, "aside p .link")[0].click()
        assert every(browser, ".step")[partner].get_attribute("aria-current") == "true"
    assert complaints(browser) == []


@pytest.mark.parametrize(
    "name",
    [
        "</script><script>window.evil = 1</script>",
        "<img src=x onerror='window.evil = 1'>",
        "<!--<script>",
        "\u2028window.evil = 1\u2029",
        "</title><style>body { display: none }</style>",
        "__proto__",
        "javascript:window.evil = 1",
    ],
)
def test_a_strangers_name_is_seen_as_it_is(name: str, browser: WebDriver, tmp_path: Path) -> None:
    open_page(browser, page_with("x"), tmp_path)
    elements = [each.tag_name for each in every(browser, "*")]
    open_page(browser, page_with(name), tmp_path)
    assert [each.tag_name for each in every(browser, "*")] == elements
    click_on = every(browser, ".step")[0]
    assert "filter" in click_on.text
    click_on.click()
    written = name.encode("unicode_escape").decode() if not name.isprintable() else name
    assert written in every(browser, "aside table")[0].text
    every(browser, "aside td .link")[0].click()
    assert written in every(browser, ".box")[0].text
    assert browser.execute_script("return window.evil") is None
    assert complaints(browser) == []
    assert requests(browser) == {(tmp_path / "page.html").as_uri()}


def test_no_text_becomes_markup_even_by_a_fault_of_the_script(browser: WebDriver, tmp_path: Path) -> None:
    """The policy of the page forbids it: a script that tries gets an error."""
    open_page(browser, TOTALS.to_html(), tmp_path)
    tried = """
        try { document.body.innerHTML = "<b>x</b>"; } catch (error) { return error.name; }
        return "written";
    """
    assert browser.execute_script(tried) == "TypeError"


def brightness(browser: WebDriver, selector: str, property_: str) -> float:
    """How bright a colour of an element is, from 0 to 255."""
    value = every(browser, selector)[0].value_of_css_property(property_)
    return sum(channels(value)[:3]) / 3


def channels(value: str) -> list[float]:
    """The red, green and blue of a colour as Chromium writes it, from 0 to 255, and how much of it there is."""
    found = [float(each) for each in re.findall(r"[-\d.]+(?:e-?\d+)?", value)]
    if value.startswith("color(srgb"):
        found = [*(255 * each for each in found[:3]), *found[3:]]
    return found if len(found) == 4 else [*found, 1.0]


def contrast(browser: WebDriver, selector: str, ground: tuple[int, int, int]) -> float:
    """The contrast of a text with the ground, as WCAG 2.2 has it: from 1 to 21."""

    def luminance(colour: Iterable[float]) -> float:
        parts = [each / 255 for each in colour]
        linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    *text, share = channels(every(browser, selector)[0].value_of_css_property("color"))
    seen = luminance(share * each + (1 - share) * under for each, under in zip(text, ground, strict=True))
    darker, lighter = sorted((seen, luminance(ground)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("is_dark", [False, True])
def test_a_page_is_light_or_dark(is_dark: bool, browser: WebDriver, tmp_path: Path) -> None:
    open_page(browser, TOTALS.to_html(), tmp_path, is_dark=is_dark)
    for text, ground in (
        ("body", "body"),
        (".step", ".step"),
        (".step .dim", ".step"),
        ("aside .dim, aside h3", "body"),
    ):
        difference = brightness(browser, text, "color") - brightness(browser, ground, "background-color")
        assert (difference if is_dark else -difference) > 80


@pytest.mark.parametrize("is_dark", [False, True])
def test_what_a_notebook_shows_is_light_or_dark_and_folds(is_dark: bool, browser: WebDriver, tmp_path: Path) -> None:
    open_page(browser, page("totals", TOTALS._repr_html_()), tmp_path, is_dark=is_dark)
    assert (brightness(browser, "body", "color") > 128) is is_dark
    assert (brightness(browser, ".substrait-dsl b", "color") > 128) is is_dark
    [first] = [each for each in every(browser, ".sd-step > summary") if each.text.startswith("sort")]
    read = next(each for each in every(browser, ".sd-step > summary") if each.text.startswith("read orders"))
    assert read.is_displayed()
    first.click()
    assert not read.is_displayed()
    assert complaints(browser) == []


@pytest.mark.parametrize("is_dark", [False, True])
@pytest.mark.parametrize(
    ("colour", "ground"), [("#cccccc", (31, 31, 31)), ("#3b3b3b", (255, 255, 255)), ("#ffffff", (0, 0, 0))]
)
def test_what_a_notebook_shows_is_read_on_any_ground(
    is_dark: bool, colour: str, ground: tuple[int, int, int], browser: WebDriver, tmp_path: Path
) -> None:
    """The theme of VS Code need not be that of the window. Text has a contrast of 4.5 at least (WCAG 2.2, 1.4.3)."""
    plan = sd.Plan.from_json(TOTALS.to_plan().to_json())
    shown = f"<div style='color: {colour}; background: rgb{ground}'>{TOTALS._repr_html_()}{plan._repr_html_()}</div>"
    shown += "<div class='substrait-dsl'><div class='sd-assumed'>assumed</div></div>"
    open_page(browser, page("totals", shown), tmp_path, is_dark=is_dark)
    for selector in (
        "summary",
        ".sd-step b",
        ".sd-columns",
        ".sd-columns summary",
        "td",
        "th",
        ".sd-columns th",
        "i",
        ".sd-columns td",
    ):
        assert contrast(browser, f".substrait-dsl {selector}", ground) >= 4.5, selector
    assert contrast(browser, ".sd-assumed", (18, 18, 18) if is_dark else (255, 255, 255)) >= 4.5


def test_tables_of_a_notebook_scroll_and_do_not_break_words(browser: WebDriver, tmp_path: Path) -> None:
    names = [f"a_long_name_of_a_column_{number}" for number in range(MAX_COLUMNS)]
    rules = "<style>.lab.lab td, .lab.lab th { text-align: right; }</style>"
    for shown in (rows_html(names, [names]), sd.read_named("wide", dict.fromkeys(names, "i64")).schema._repr_html_()):
        open_page(browser, page("rows", f"{rules}<div class='lab'>{shown}</div>"), tmp_path)
        [box] = boxes(browser, ".substrait-dsl")
        [width] = [each.get_property("clientWidth") for each in every(browser, "body")]
        assert box["width"] <= float(str(width))
        assert max(each["height"] for each in boxes(browser, "th, td")) < 25  # one line
        assert every(browser, "td")[0].value_of_css_property("text-align") == "left"


def test_a_tree_without_its_style_sheet_is_a_tree(browser: WebDriver, tmp_path: Path) -> None:
    """JupyterLab leaves out the elements `style` of a notebook that it does not trust, and allows these attributes."""
    shown = re.sub("<style>.*?</style>", "", TOTALS._repr_html_(), flags=re.DOTALL)
    open_page(browser, page("totals", shown), tmp_path)
    lefts = [each["left"] for each in boxes(browser, ".sd-step")]
    assert [lefts.index(each) for each in lefts] == [
        0,
        1,
        2,
        3,
        4,
        3,
    ]  # the two inputs of the join, one of them filtered
