"""How long the page of a plan takes: to be written, to be opened in Chromium, and to answer clicks.

Run from the repository's root: ``python -m benchmarks.page [--steps 500] [--columns 20]``. It needs Chromium with its
driver. A click counts until the browser has drawn what it shows.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import substrait_dsl as sd
from tests.browser import chromium, every, open_page

DRAWN = "requestAnimationFrame(() => setTimeout(arguments[0]))"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--columns", type=int, default=20)
    options = parser.parse_args()
    plan = chain(options.steps, options.columns).to_plan()
    with TemporaryDirectory() as folder, chromium() as browser:

        def timed(what: str, act: Callable[[], object]) -> None:
            start = time.perf_counter()
            act()
            browser.execute_async_script(DRAWN)
            print(f"{what:<28} {(time.perf_counter() - start) * 1000:7.0f} ms")

        start = time.perf_counter()
        page = plan.to_html()
        print(f"{'written':<28} {(time.perf_counter() - start) * 1000:7.0f} ms, {len(page) / 1000:,.0f} kB")
        timed("opened", lambda: open_page(browser, page, Path(folder)))
        steps = every(browser, ".step")
        timed(f"a click on one of {len(steps)} steps", steps[3].click)
        columns = every(browser, "aside td .link")
        timed("a column followed", columns[1].click)
        timed("another step", steps[5].click)
        timed("all shown", every(browser, "header button")[2].click)


def chain(steps: int, columns: int) -> sd.Relation:
    """A relation of so many steps in turn, a quarter of which add a column each."""
    rel: sd.Relation = sd.read_named("t", {f"c{number}": "i64" for number in range(columns)})
    for step in range(1, steps):
        if step % 4 == 0:
            rel = rel.project(**{f"x{step}": sd.col("c1") + step})
        elif step % 4 == 1:
            rel = rel.filter(sd.col("c0") > step)
        else:
            rel = rel.sort("c1") if step % 4 == 2 else rel.fetch(10**6 - step)
    return rel


if __name__ == "__main__":
    main()
