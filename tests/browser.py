"""A headless Chromium for tests, driven through chromedriver's WebDriver protocol."""

import base64
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
"""The key of an element in WebDriver's answers (W3C)."""
_PATIENCE = 300
"""Seconds after which something has hung: many times what it takes on a slow machine with much to do."""

needs_chromium = pytest.mark.skipif(
    shutil.which("chromium") is None or shutil.which("chromedriver") is None,
    reason="no chromium with chromedriver on PATH (Debian: chromium, chromium-driver)",
)


class Browser:
    """One window."""

    def __init__(self, session: str) -> None:
        self._session = session

    def open(self, page: Path, ready: str) -> None:
        """Open a file and wait until the JavaScript expression `ready` is true."""
        _post(f"{self._session}/url", {"url": page.as_uri()})
        self.wait(ready)

    def wait(self, condition: str) -> None:
        """Wait until a JavaScript expression is true."""
        until = time.monotonic() + _PATIENCE
        while not self.run(f"return Boolean({condition})"):
            assert time.monotonic() < until, f"{condition} did not come true: {self.errors()}"
            time.sleep(0.05)

    def run(self, script: str, *arguments: object) -> Any:
        """What a JavaScript function body returns."""
        return _post(f"{self._session}/execute/sync", {"script": script, "args": list(arguments)})

    def prefer(self, scheme: str) -> None:
        """Prefer a colour scheme, `light` or `dark`."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self._devtools("Emulation.setEmulatedMedia", {"features": features})

    def offline(self) -> None:
        """Cut the network off."""
        self._devtools("Network.enable", {})
        conditions = {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        self._devtools("Network.emulateNetworkConditions", conditions)

    def type(self, selector: str, keys: str) -> None:
        """Press keys on an element, which gets the focus first."""
        element = self._element(selector)
        self.run("arguments[0].focus()", {_ELEMENT: element})
        _post(f"{self._session}/element/{element}/value", {"text": keys})

    def choose_file(self, selector: str, path: Path) -> None:
        """Choose a file in a file input."""
        element = self._element(selector)
        _post(f"{self._session}/element/{element}/value", {"text": str(path)})

    def point(self, script: str) -> None:
        """Move the mouse to the middle of the element that a JavaScript function body returns."""
        move = {"type": "pointerMove", "duration": 0, "x": 0, "y": 0, "origin": self.run(script)}
        pointer = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": [move]}
        _post(f"{self._session}/actions", {"actions": [pointer]})

    def wheel(self, script: str, by: int, key: str = "") -> None:
        """Turn the wheel by so many pixels over the element that a JavaScript function body returns, a key held."""
        turn = {"type": "scroll", "x": 0, "y": 0, "deltaX": 0, "deltaY": by, "origin": self.run(script)}
        actions: list[dict[str, object]] = [{"type": "wheel", "id": "wheel", "actions": [{"type": "pause"}, turn]}]
        if key:
            held = [{"type": "keyDown", "value": key}, {"type": "pause"}, {"type": "keyUp", "value": key}]
            actions.append({"type": "key", "id": "keyboard", "actions": held})
        _post(f"{self._session}/actions", {"actions": actions})

    def screenshot(self, selector: str, to: Path) -> bytes:
        """A PNG of an element, which is also written to a file."""
        element = self._element(selector)
        png = base64.b64decode(_get(f"{self._session}/element/{element}/screenshot"))
        to.write_bytes(png)
        return png

    def errors(self) -> list[str]:
        """Errors of the page so far, and everything that it failed to load."""
        entries = _post(f"{self._session}/se/log", {"type": "browser"})
        return [entry["message"] for entry in entries if entry["level"] == "SEVERE"]

    def _element(self, selector: str) -> str:
        return _post(f"{self._session}/element", {"using": "css selector", "value": selector})[_ELEMENT]

    def _devtools(self, command: str, parameters: object) -> None:
        _post(f"{self._session}/goog/cdp/execute", {"cmd": command, "params": parameters})


@contextmanager
def browser(width: int = 1280, height: int = 900) -> Generator[Browser]:
    """A fresh window of a fresh profile."""
    with tempfile.TemporaryDirectory(prefix="syncopt-chromium-") as profile, _driver() as driver:
        arguments = [*_FLAGS, f"--user-data-dir={profile}", f"--window-size={width},{height}"]
        options = {"args": arguments, "binary": shutil.which("chromium")}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        session = _post(f"{driver}/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
        try:
            yield Browser(f"{driver}/session/{session}")
        finally:
            _ask("DELETE", f"{driver}/session/{session}", None)


@contextmanager
def _driver() -> Generator[str]:
    """A chromedriver on a free port that it chooses and prints."""
    with subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True) as driver:
        try:
            assert driver.stdout is not None
            port = next(line.rstrip(".\n").split()[-1] for line in driver.stdout if "started successfully" in line)
            yield f"http://127.0.0.1:{port}"
        finally:
            driver.terminate()


def _get(url: str) -> Any:
    return _ask("GET", url, None)


def _post(url: str, document: object) -> Any:
    return _ask("POST", url, document)


def _ask(method: str, url: str, document: object) -> Any:
    body = None if document is None else json.dumps(document).encode()
    request = Request(url, body, {"Content-Type": "application/json"}, method=method)
    with urlopen(request, timeout=_PATIENCE) as answer:
        return json.load(answer)["value"]
