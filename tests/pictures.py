"""The pictures of the docs that a browser draws: ``python -m tests.pictures`` makes them again in ``docs/images``."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import substrait_dsl as sd
from substrait_dsl import functions as f
from substrait_dsl.markup import page
from tests.browser import chromium, every, one, open_page

if TYPE_CHECKING:
    from selenium.webdriver.remote.webdriver import WebDriver

IMAGES = Path(__file__).parent.parent / "docs" / "images"
SIZES = {"page.png": (1150, 640), "notebook.png": (600, 660)}

ORDERS = sd.read_named("orders", {"id": "i64", "customer": "i64", "price": "fp64?"})
CUSTOMERS = sd.read_named("customers", {"key": "i64", "name": "string"})
BEST = (
    ORDERS.filter(lambda o: o.price > 5.0)
    .join(CUSTOMERS, on=lambda o, c: o.customer == c.key)
    .group_by("name")
    .agg(orders=f.count(), total=lambda o: f.sum(o.price))
    .sort(sd.desc("total"))
    .fetch(10)
)


def draw_page(browser: WebDriver, folder: Path) -> None:
    """Draw the page of a plan, with a column that is followed."""
    open_page(browser, BEST.to_html(title="best customers"), folder)
    [step] = [each for each in every(browser, ".step") if each.text.startswith("aggregate")]
    step.click()
    one(browser, "aside td .link", "total").click()


def draw_cell(browser: WebDriver, folder: Path) -> None:
    """Draw what a cell of a notebook shows of a relation, dark."""
    open_page(browser, page("best customers", BEST._repr_html_()), folder, is_dark=True)
    [columns] = [each for each in every(browser, ".sd-columns > summary") if each.text == "3 columns; unordered"][:1]
    columns.click()


PICTURES = {"page.png": draw_page, "notebook.png": draw_cell}


def main() -> None:
    """Draw all pictures."""
    with TemporaryDirectory() as folder, chromium() as browser:
        for name, draw in PICTURES.items():
            browser.set_window_size(*SIZES[name])
            draw(browser, Path(folder))
            browser.save_screenshot(str(IMAGES / name))


if __name__ == "__main__":
    main()
