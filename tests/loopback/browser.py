"""A headless Chromium for tests of the page: its DevTools protocol over a pipe, so no port and no library."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

CHROMIUM = shutil.which("chromium")
PATIENCE_S = 120


class Browser:
    """With one tab. `complaints`: all that it has written to the console, exceptions, and what it asked the network for."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="sluice-browser-", ignore_cleanup_errors=True)  # its children may still write
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        # The protocol has descriptors 3 and 4.
        script = f"exec 3<&{to_browser} 4>&{from_browser}; exec \"$@\""
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe", "--no-first-run",
                 "--disable-background-networking", "--disable-component-update", "--hide-scrollbars", f"--user-data-dir={self.folder.name}"]
        self._process = subprocess.Popen(["bash", "-c", script, "browser", CHROMIUM, *flags, "about:blank"], pass_fds=(to_browser, from_browser),
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser), os.close(from_browser)
        self._buffer, self._number, self._session, self._events = b"", 0, None, []
        self.complaints = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait(PATIENCE_S)
        os.close(self._write), os.close(self._read)
        self.folder.cleanup()

    def _receive(self, until):
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0, until - time.monotonic()))
            data = os.read(self._read, 1 << 20) if ready else b""
            if not data:
                raise TimeoutError("the browser does not answer")
            self._buffer += data
        message, self._buffer = self._buffer.split(b"\0", 1)
        message = json.loads(message)
        self._look(message)
        return message

    def _look(self, message):
        method, words = message.get("method"), message.get("params", {})
        if method == "Runtime.consoleAPICalled" and words["type"] in ("error", "warning", "assert"):
            self.complaints.append(f"console {words['type']}: {words['args']}")
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(f"exception: {words['exceptionDetails']}")
        elif method == "Log.entryAdded" and words["entry"]["level"] in ("error", "warning"):
            self.complaints.append(f"log: {words['entry']}")
        elif method == "Network.requestWillBeSent" and not words["request"]["url"].startswith(("file:", "about:", "data:")):
            self.complaints.append(f"network: {words['request']['url']}")

    def call(self, method, **words):
        self._number += 1
        number = self._number
        message = {"id": number, "method": method, "params": words}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + PATIENCE_S
        while True:
            answer = self._receive(until)
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def evaluate(self, expression):
        """The value of an expression in the page, through JSON."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def open(self, path, dark=False, width=1280, height=900):
        """`path`: of a file, or a whole URL."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Page.navigate", url=path if "://" in str(path) else f"file://{path}")
        until = time.monotonic() + PATIENCE_S
        while not self.evaluate("document.documentElement?.dataset.ready === 'true' || document.readyState === 'complete'"):
            if time.monotonic() > until:
                raise TimeoutError(f"{path} does not load")
            time.sleep(0.02)

    def press(self, key, code=None):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code or key, windowsVirtualKeyCode={"Tab": 9, "Enter": 13, " ": 32, "ArrowDown": 40}.get(key, 0),
                      **({"text": "\r"} if key == "Enter" and kind == "keyDown" else {}))

    def picture(self, path):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip={"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1})
        path.write_bytes(base64.b64decode(data["data"]))

    def print(self, path):
        path.write_bytes(base64.b64decode(self.call("Page.printToPDF", printBackground=False, preferCSSPageSize=True)["data"]))


def opened(case, page, **words):
    """A tab that shows the page and is ready, until the test case has ended."""
    tab = Browser()
    case.addCleanup(tab.__exit__)
    tab.open(page, **words)
    case.assertEqual(tab.evaluate("document.documentElement.dataset.ready"), "true", tab.complaints)
    return tab
