"""Chromium, driven by selenium, for tests of pages, and for the pictures in the docs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.remote.webelement import WebElement

NAMES = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--hide-scrollbars"),
)
INSTALL = "apt-get install -y chromium chromium-driver"


def _program(*names: str) -> str:
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        raise FileNotFoundError(f"the tests of pages need {names[0]}: {INSTALL}")
    return found


@contextmanager
def chromium(width: int = 1400, height: int = 900) -> Iterator[WebDriver]:
    """Start Chromium; FileNotFoundError says how to install it where it is not."""
    options = webdriver.ChromeOptions()
    options.binary_location = _program(*NAMES)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with TemporaryDirectory() as folder:
        for option in (*OPTIONS, f"--window-size={width},{height}", f"--user-data-dir={folder}"):
            options.add_argument(option)
        driver = webdriver.Chrome(options=options, service=Service(_program("chromedriver")))
        try:
            yield driver
        finally:
            driver.quit()


def open_page(driver: WebDriver, page: str, folder: Path, *, is_dark: bool = False) -> None:
    """Show a page, from a file, in a light or in a dark window."""
    file = folder / "page.html"
    file.write_text(page, encoding="utf-8")
    feature = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    driver.get_log("browser")  # type: ignore[attr-defined]  # what others logged is theirs
    driver.get_log("performance")  # type: ignore[attr-defined]
    driver.get(file.as_uri())


def complaints(driver: WebDriver) -> list[Any]:
    """What the browser says of the page: errors of scripts, and what the policy refused."""
    found: list[Any] = driver.get_log("browser")  # type: ignore[attr-defined]
    return found


def requests(driver: WebDriver) -> set[str]:
    """The addresses that the page asked for, its own too."""
    messages = [json.loads(each["message"])["message"] for each in driver.get_log("performance")]  # type: ignore[attr-defined]
    return {each["params"]["request"]["url"] for each in messages if each["method"] == "Network.requestWillBeSent"}


def every(driver: WebDriver, selector: str) -> list[WebElement]:
    """The elements that a selector of CSS finds."""
    return driver.find_elements(By.CSS_SELECTOR, selector)


def one(driver: WebDriver, selector: str, text: str) -> WebElement:
    """The only element that a selector of CSS finds with this text."""
    [found] = [each for each in every(driver, selector) if each.text == text]
    return found
