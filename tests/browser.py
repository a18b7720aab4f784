"""A headless Chromium spoken to through two pipes: enough to press keys and to read a page."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def executable() -> str | None:
    """The browser, if there is one."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page. Events that arrive while an answer is awaited are kept in ``events``."""

    def __init__(self, profile: Path) -> None:
        command_out, self._write = os.pipe()
        self._read, answer_in = os.pipe()
        # The browser reads commands on descriptor 3 and answers on 4.
        moves = f'exec 3<&{command_out} 4>&{answer_in}; exec "$0" "$@"'
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--disable-extensions",
                   f"--user-data-dir={profile}", "--window-size=1400,900", "about:blank"]  # fmt: skip
        self._process = subprocess.Popen(
            ["bash", "-c", moves, str(executable()), *options],
            pass_fds=(command_out, answer_in),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(command_out)
        os.close(answer_in)
        self._numbers = itertools.count(1)
        self._rest = b""
        self.events: list[dict[str, Any]] = []
        target = next(info for info in self.call("Target.getTargets")["targetInfos"] if info["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.page(f"{domain}.enable")

    def call(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == number:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result
            self.events.append(answer)

    def page(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self.call(method, self._session, **parameters)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            part = os.read(self._read, 1 << 16)
            assert part, "the browser has gone"
            self._rest += part
        text, _, self._rest = self._rest.partition(b"\0")
        answer: dict[str, Any] = json.loads(text)
        return answer

    def open(self, address: str) -> None:
        self.events.clear()
        self.page("Page.navigate", url=address)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next())

    def value(self, expression: str) -> Any:
        return self.page("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def press(self, key: str) -> None:
        for kind in ("keyDown", "keyUp"):
            self.page("Input.dispatchKeyEvent", type=kind, key=key)

    def complaints(self) -> list[str]:
        """What the page's console and log said."""
        self.value("0")
        said = [event for event in self.events if event.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown",
                                                                            "Runtime.consoleAPICalled")]  # fmt: skip
        return [json.dumps(event["params"]) for event in said]

    def requests(self) -> list[str]:
        sent = [event for event in self.events if event.get("method") == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]

    def close(self) -> None:
        self.call("Browser.close")
        self._process.wait(30)
        os.close(self._read)
        os.close(self._write)
