"""A served book and a headless browser to look at it with."""

import base64
import http.client
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote, urlsplit

FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--disable-dev-shm-usage", "--no-proxy-server", "--hide-scrollbars"]
TALLEST_SHOT = 12000     # pixels


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, int]]:
    """Serves a folder on a free port of the loopback interface."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield "127.0.0.1", server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def what_is_missing() -> str:
    """Why there can be no browser here; empty when there can."""
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "python3-selenium is not installed"
    if not browser_path():
        return "chromium is not installed"
    return "" if shutil.which("chromedriver") else "chromedriver is not installed"


def browser_path() -> str | None:
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


@contextmanager
def browser() -> Iterator[Any]:
    """A headless Chromium with a profile of its own, which is gone afterwards."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    with TemporaryDirectory(prefix="book-browser-", ignore_cleanup_errors=True) as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = browser_path() or ""
        for flag in [*FLAGS, f"--user-data-dir={profile}"]:
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        driver.set_page_load_timeout(30)
        driver.set_script_timeout(30)
        try:
            yield driver
        finally:
            driver.quit()


def set_size(driver: Any, width: int, height: int) -> None:
    """A window cannot be made as narrow as a telephone; an emulated screen can."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def screenshot(driver: Any, path: Path, width: int, height: int) -> None:
    """The whole page, not only what the window shows."""
    clip = {"x": 0, "y": 0, "width": width, "height": min(height, TALLEST_SHOT), "scale": 1}
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True})
    path.write_bytes(base64.b64decode(shot["data"]))


class Ids(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids |= {value for name, value in attrs
                     if value and (name == "id" or (tag, name) == ("a", "name"))}


class Links:
    """Asks the server for each address once."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port
        self.known: dict[str, tuple[int, set[str]]] = {}

    def fetch(self, path: str) -> tuple[int, set[str]]:
        if path not in self.known:
            connection = http.client.HTTPConnection(self.host, self.port, timeout=10)
            try:
                connection.request("GET", path)
                response = connection.getresponse()
                body, parser = response.read(), Ids()
                if (response.getheader("Content-Type") or "").startswith("text/html"):
                    parser.feed(body.decode("utf-8", "replace"))
                self.known[path] = (response.status, parser.ids)
            finally:
                connection.close()
        return self.known[path]

    def problem(self, address: str) -> str:
        """What is wrong with a link; empty when it leads somewhere or out of the book."""
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https"):
            return "" if parts.scheme in ("mailto", "javascript") else f"strange link {address}"
        if (parts.hostname, parts.port) != (self.host, self.port):
            return ""
        status, ids = self.fetch(parts.path or "/")
        if status != 200:
            return f"broken link {parts.path} ({status})"
        if parts.fragment and unquote(parts.fragment) not in ids:
            return f"broken link {parts.path}: no #{parts.fragment} there"
        return ""
