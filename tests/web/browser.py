"""A headless browser, driven over a pipe by the DevTools protocol."""

import base64
import contextlib
import fcntl
import functools
import http.server
import json
import os
import select
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

START = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
]
PATIENCE = 60.0  # seconds


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None: ...


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a folder's files on this machine."""
    handler = functools.partial(Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def pipe() -> list[int]:
    """A pipe whose descriptors don't collide with those that the browser reserves."""
    low = os.pipe()
    high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in low]
    for end in low:
        os.close(end)
    return high


class Browser:
    """One page. Its exceptions and error messages are collected in `complaints`, the addresses that it asks for in `requests`."""

    def __init__(self, program: str, flags: list[str]) -> None:
        (their_in, self.out), (self.into, their_out) = pipe(), pipe()
        # the browser reads commands from descriptor 3 and writes to 4
        shell = ["bash", "-c", f'exec "$@" 3<&{their_in} 4>&{their_out}', "bash"]
        self.process = subprocess.Popen(
            [*shell, program, *START, *flags],
            pass_fds=[their_in, their_out],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(their_in)
        os.close(their_out)
        self.unread, self.number, self.session = b"", 0, {}
        self.complaints: list[str] = []
        self.requests: list[str] = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = {
            "sessionId": self.send("Target.attachToTarget", targetId=target, flatten=True)[
                "sessionId"
            ]
        }
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(timeout=PATIENCE)
        os.close(self.out)
        os.close(self.into)

    def message(self) -> dict[str, Any]:
        """The next message from the browser."""
        while b"\0" not in self.unread:
            if not select.select([self.into], [], [], PATIENCE)[0]:
                raise TimeoutError("the browser is silent")
            part = os.read(self.into, 1 << 20)
            if not part:
                raise ConnectionError(f"the browser ended with status {self.process.wait()}")
            self.unread += part
        text, self.unread = self.unread.split(b"\0", 1)
        return json.loads(text)

    def send(self, method: str, **parameters: object) -> dict[str, Any]:
        """Sends a command and returns its result."""
        self.number += 1
        command = {"id": self.number, "method": method, "params": parameters} | self.session
        os.write(self.out, json.dumps(command).encode() + b"\0")
        while (answer := self.message()).get("id") != self.number:
            if answer.get("method") == "Runtime.exceptionThrown":
                details = answer["params"]["exceptionDetails"]
                self.complaints.append(
                    details.get("exception", {}).get("description", details["text"])
                )
            if answer.get("method") == "Network.requestWillBeSent":
                self.requests.append(answer["params"]["request"]["url"])
            if (
                answer.get("method") == "Log.entryAdded"
                and answer["params"]["entry"]["level"] == "error"
            ):
                self.complaints.append(answer["params"]["entry"]["text"])
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression; a promise is awaited."""
        result = self.send(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in result:
            raise RuntimeError(
                result["exceptionDetails"].get("exception", {}).get("description", script)
            )
        return result["result"].get("value")

    def wait(self, condition: str) -> None:
        """Waits until a JavaScript expression is true."""
        end = time.monotonic() + PATIENCE
        while not self.run(condition):
            if time.monotonic() > end:
                raise TimeoutError(f"{condition} is not true; {self.complaints}")
            time.sleep(0.02)

    def open(self, url: str) -> None:
        self.send("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def resize(self, width: int, height: int) -> None:
        """A window of this size; narrow ones are a phone's."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 500,
        )

    def mouse(self, kind: str, x: float, y: float) -> None:
        self.send(
            "Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1
        )

    def draw(self, stroke: list[tuple[float, float]]) -> None:
        """Drags the mouse along the points."""
        self.mouse("mousePressed", *stroke[0])
        for point in stroke[1:]:
            self.mouse("mouseMoved", *point)
        self.mouse("mouseReleased", *stroke[-1])

    def picture(self, path: Path) -> None:
        path.write_bytes(
            base64.b64decode(
                self.send("Page.captureScreenshot", captureBeyondViewport=True)["data"]
            )
        )
