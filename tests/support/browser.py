"""Chromium without a window, driven by the DevTools protocol through two pipes: no driver, no sockets."""

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import time

import pytest

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
# The protocol is spoken on descriptors 3 and 4, either of which may be one of those given.
BEGIN = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(each), fcntl.F_DUPFD, 10) for each in sys.argv[1:3]]
for end, place in zip(ends, (3, 4)):
    os.dup2(end, place)
os.execv(sys.argv[3], sys.argv[3:])
"""
NEEDED = "ROBAI_NEED_CHROMIUM"  # in the environment: that there is none is an error, not a reason to skip
PATIENCE = 60.0  # seconds for an answer, on a machine with much else to do


def installed():
    """Where Chromium is; skips the test if it is nowhere."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        assert not os.environ.get(NEEDED), f"there is no Chromium, and {NEEDED} is set"
        pytest.skip("there is no Chromium: apt-get install chromium")
    return found


class Browser:
    """One page at a time; `requests` are the addresses asked for, `complaints` what the console says."""

    def __init__(self, folder):
        asked, told = os.pipe(), os.pipe()
        command = [sys.executable, "-c", BEGIN, str(asked[0]), str(told[1]), installed(), *FLAGS]
        self.process = subprocess.Popen(
            [*command, f"--user-data-dir={folder}", "about:blank"],
            pass_fds=(asked[0], told[1]),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(asked[0])
        os.close(told[1])
        self._to, self._from, self._rest, self._count = asked[1], told[0], b"", 0
        self._session, self.requests, self.complaints, self._events = None, [], [], []
        try:
            self._begin()
        except BaseException:
            self.process.kill()
            self.process.wait()
            raise

    def _begin(self):
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")

    def close(self):
        self._session = None
        self._call("Browser.close")
        self.process.wait(PATIENCE)
        os.close(self._to)
        os.close(self._from)

    def _call(self, method, **parameters):
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._count:
                assert "error" not in answer, answer
                return answer["result"]

    def _next(self):
        deadline = time.monotonic() + PATIENCE
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._from], [], [], deadline - time.monotonic())
            assert ready, "Chromium does not answer"
            more = os.read(self._from, 2**16)
            assert more, "Chromium has ended"
            self._rest += more
        line, _, self._rest = self._rest.partition(b"\0")
        message = json.loads(line)
        self._note(message.get("method"), message.get("params"))
        return message

    def _note(self, event, details):
        self._events.append(event)
        if event == "Network.requestWillBeSent":
            self.requests.append(details["request"]["url"])
        elif event == "Runtime.exceptionThrown":
            self.complaints.append(details["exceptionDetails"])
        elif event == "Runtime.consoleAPICalled" and details["type"] in ("error", "warning"):
            self.complaints.append(details["args"])
        elif event == "Log.entryAdded" and details["entry"]["level"] in ("error", "warning"):
            self.complaints.append(details["entry"])

    def open(self, path, width=1280, height=900, dark=False, phone=False, script=True):
        """A page, as large as said, in the system's colours as said."""
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self._call("Emulation.setEmulatedMedia", features=scheme)
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=phone,
        )
        self._call("Emulation.setTouchEmulationEnabled", enabled=phone)
        self._call("Emulation.setScriptExecutionDisabled", value=not script)
        self.requests, self.complaints, self._events = [], [], []
        self._call("Page.navigate", url=path.as_uri())
        while "Page.loadEventFired" not in self._events:
            self._next()
        if script:
            self.wait()

    def wait(self):
        """Until what was asked for is on the screen."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def run(self, script):
        """The value of an expression in the page."""
        answer = self._call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def text(self):
        """What is on the page, with scripts or without."""
        tree = self._call("Accessibility.getFullAXTree")["nodes"]
        return "\n".join(str(node["name"].get("value", "")) for node in tree if "name" in node)

    def middle(self, selector):
        """Where the middle of an element is on the screen, after it was moved there."""
        found = self.run(
            f"(() => {{ const it = document.querySelector({json.dumps(selector)}); "
            "it.scrollIntoView({block: 'center', behavior: 'instant'}); "
            "const {left, top, width, height} = it.getBoundingClientRect(); "
            "return [left + width / 2, top + height / 2, width, height]; })()"
        )
        self.wait()
        return found

    def mouse(self, kind, x, y, clicks=0):
        button = "left" if clicks or (kind == "mouseMoved" and self._pressed) else "none"
        self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, clickCount=clicks)

    _pressed = False

    def hover(self, selector, right=0.0, down=0.0):
        """Put the pointer on an element, so far from its middle as parts of its size."""
        x, y, width, height = self.middle(selector)
        self.mouse("mouseMoved", x + right * width, y + down * height)
        self.wait()

    def click(self, selector):
        x, y, *_ = self.middle(selector)
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, 1)
        self.mouse("mouseReleased", x, y, 1)
        self.wait()

    def tap(self, selector):
        x, y, *_ = self.middle(selector)
        self._call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self._call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        self.wait()

    def drag(self, selector, start, end):
        """Along an element, from and to parts of its width from the middle."""
        x, y, width, _ = self.middle(selector)
        self.mouse("mouseMoved", x + start * width, y)
        self.mouse("mousePressed", x + start * width, y, 1)
        self._pressed = True
        for part in (0.25, 0.5, 0.75, 1.0):
            self.mouse("mouseMoved", x + (start + part * (end - start)) * width, y)
        self._pressed = False
        self.mouse("mouseReleased", x + end * width, y, 1)
        self.wait()

    def screenshot(self, path):
        """Of the whole page."""
        size = self._call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        data = self._call("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)[
            "data"
        ]
        path.write_bytes(base64.b64decode(data))
