"""Chromium without a window, driven through its DevTools protocol."""

import base64
import json
import os
import shutil
import subprocess
from fcntl import F_DUPFD, fcntl
from pathlib import Path
from select import select

PROGRAM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
    None,
)
OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage")
# Windows of this width are phones.
PHONE = 500
# Only a hang takes this long.
TIMEOUT = 60


class Browser:
    """A browser with one page. It reads commands from file descriptor 3 and answers on
    file descriptor 4."""

    def __init__(self, path):
        self._downloads = path / "downloads"
        reads, self._commands = os.pipe()
        self._answers, writes = os.pipe()
        # Their own numbers could be 3 and 4.
        ends = [fcntl(end, F_DUPFD, 10) for end in (reads, writes)]
        command = [PROGRAM, *OPTIONS, f"--user-data-dir={path / 'profile'}"]
        script = f'exec "$@" 3<&{ends[0]} 4>&{ends[1]}'
        self._process = subprocess.Popen(
            ["bash", "-c", script, "bash", *command, "--remote-debugging-pipe"],
            pass_fds=ends,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for end in (reads, writes, *ends):
            os.close(end)
        self._buffer = b""
        self._number = 0
        self._events = []
        self._session = None
        self.send(
            "Browser.setDownloadBehavior",
            behavior="allow",
            downloadPath=str(self._downloads),
            eventsEnabled=True,
        )
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        attached = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        self.send("Page.enable")

    def close(self):
        self._process.kill()
        self._process.wait()
        os.close(self._commands)
        os.close(self._answers)

    def send(self, method, **params):
        """RETURNS the result of a command."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                return answer["result"]
            self._events.append(answer)

    def _receive(self):
        while b"\0" not in self._buffer:
            ready, _, _ = select([self._answers], [], [], TIMEOUT)
            assert ready, "Chromium does not answer"
            data = os.read(self._answers, 1 << 16)
            assert data, "Chromium has ended"
            self._buffer += data
        answer, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(answer)

    def wait_for(self, method, **params):
        """Wait for an event, and forget all earlier ones."""
        while True:
            event = self._events.pop(0) if self._events else self._receive()
            if (
                event.get("method") == method
                and params.items() <= event["params"].items()
            ):
                return

    def open(self, url, *, width=1200, height=800, dark=False):
        """Open a page in a window of this size."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < PHONE,
        )
        self.send("Emulation.setTouchEmulationEnabled", enabled=width < PHONE)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])
        # Another fragment alone would not load the page again.
        for each in ("about:blank", url):
            self._events.clear()
            self.send("Page.navigate", url=each)
            self.wait_for("Page.loadEventFired")

    def run(self, code):
        """RETURNS the value of a JavaScript expression, after waiting for it."""
        answer = self.send(
            "Runtime.evaluate", expression=code, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait_until(self, condition):
        """Wait until a JavaScript expression is true."""
        self.run(
            "new Promise((done) => { const check = () => "
            f"({condition}) ? done() : setTimeout(check, 20); check(); }})"
        )

    def texts(self, selector):
        """RETURNS the texts of all elements that are displayed."""
        return self.run(
            f"[...document.querySelectorAll({json.dumps(selector)})]"
            ".filter((element) => element.getClientRects().length)"
            ".map((element) => element.textContent)"
        )

    def middle(self, selector):
        """RETURNS the middle of the first displayed element, after scrolling to it."""
        return self.run(
            f"""(() => {{
              const shown = [...document.querySelectorAll({json.dumps(selector)})]
                .find((element) => element.getClientRects().length);
              shown.scrollIntoView({{ block: "center" }});
              const box = shown.getBoundingClientRect();
              return [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
            }})()"""
        )

    def point(self, x, y):
        """Move the mouse."""
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def hover(self, selector):
        """Move the mouse to an element."""
        self.point(*self.middle(selector))

    def click(self, selector):
        """Click an element."""
        x, y = self.middle(selector)
        self.point(x, y)
        button = {"x": x, "y": y, "button": "left", "clickCount": 1}
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, **button)

    def tap(self, selector):
        """Tap an element with a finger."""
        x, y = self.middle(selector)
        for kind, points in (("touchStart", [{"x": x, "y": y}]), ("touchEnd", [])):
            self.send("Input.dispatchTouchEvent", type=kind, touchPoints=points)

    def press(self, *keys):
        """Press keys, named as in JavaScript."""
        for key in keys:
            code = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key]}
            for kind in ("keyDown", "keyUp"):
                self.send("Input.dispatchKeyEvent", type=kind, **code)

    def download(self, selector, name):
        """RETURNS the content of the file that a button saves."""
        self._events.clear()
        self.click(selector)
        self.wait_for("Browser.downloadProgress", state="completed")
        path = self._downloads / name
        content = path.read_bytes()
        path.unlink()
        return content

    def screenshot(self, path):
        """Save a picture of the window as PNG."""
        answer = self.send("Page.captureScreenshot")
        Path(path).write_bytes(base64.b64decode(answer["data"]))


KEYS = {
    "Tab": 9,
    "Escape": 27,
    "End": 35,
    "Home": 36,
    "ArrowLeft": 37,
    "ArrowUp": 38,
    "ArrowRight": 39,
    "ArrowDown": 40,
}
