# SPDX-License-Identifier: MIT
"""webdriver.py: headless Chromium by the WebDriver protocol, with the standard library only."""
import base64
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars"]


class Failed(Exception):
    """A command of the driver failed."""


def programs():
    """(chromium, chromedriver), or None where one is missing."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    return (browser, driver) if browser and driver else None


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Browser:
    def __init__(self, width=1280, height=800, dark=False):
        browser, driver = programs()
        self.folder = tempfile.TemporaryDirectory()
        port = free_port()
        self.base = f"http://127.0.0.1:{port}"
        self.driver = subprocess.Popen([driver, f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                       env={**os.environ, "HOME": self.folder.name})
        flags = FLAGS + [f"--user-data-dir={self.folder.name}/profile", f"--window-size={width},{height}"]
        if dark:
            flags.append("--blink-settings=preferredColorScheme=0")
        wanted = {"capabilities": {"alwaysMatch": {"goog:chromeOptions": {"binary": browser, "args": flags},
                                                   "goog:loggingPrefs": {"browser": "ALL"}}}}
        self.session = self.begin(wanted)
        self.path = f"/session/{self.session}"

    def begin(self, wanted):
        end = time.monotonic() + 60
        while True:
            try:
                return self.call("POST", "/session", wanted)["sessionId"]
            except (urllib.error.URLError, ConnectionError):
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)  # the driver is starting

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise Failed(json.load(error)["value"]["message"].split("\n")[0]) from None

    def post(self, path, **body):
        return self.call("POST", self.path + path, body)

    def go(self, url):
        self.post("/url", url="about:blank")  # another part behind # alone loads nothing
        self.post("/url", url=url)

    def run(self, script, *arguments):
        return self.post("/execute/sync", script=script, args=list(arguments))

    def later(self, script, *arguments):
        """Runs a script that ends by calling its last argument."""
        return self.post("/execute/async", script=script, args=list(arguments))

    def find(self, css):
        return self.post("/element", using="css selector", value=css)[ELEMENT]

    def find_all(self, css):
        return [e[ELEMENT] for e in self.post("/elements", using="css selector", value=css)]

    def find_text(self, css, text):
        """The first element whose text begins with `text`."""
        found = self.run("return [...document.querySelectorAll(arguments[0])].find(e => e.textContent.trim().startsWith(arguments[1]))",
                         css, text)
        if not found:
            raise Failed(f"no {css} with text {text!r}")
        return found[ELEMENT]

    def click(self, element):
        self.post(f"/element/{element}/click")

    def keys(self, element, text):
        self.post(f"/element/{element}/value", text=text)

    def press(self, text):
        """Keys to whatever has the focus."""
        actions = [{"type": kind, "value": c} for c in text for kind in ("keyDown", "keyUp")]
        self.post("/actions", actions=[{"type": "key", "id": "k", "actions": actions}])

    def text(self, css):
        return self.run("const e = document.querySelector(arguments[0]); return e ? e.textContent : null", css)

    def wait(self, what, condition, *arguments, seconds=60):
        """Waits until a script returns something true, and returns it."""
        end = time.monotonic() + seconds
        while True:
            value = self.run(f"return ({condition})", *arguments)
            if value:
                return value
            if time.monotonic() > end:
                raise Failed(f"not in {seconds} s: {what}; the page shows: " + (self.text("main") or "")[:300])
            time.sleep(0.02)

    def size(self, width, height):
        self.post("/window/rect", width=width, height=height)

    def emulate(self, width, height, dark=None):
        """The size of the page itself, also below what a window can have."""
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        if dark is not None:
            self.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def cdp(self, command, **parameters):
        return self.post("/goog/cdp/execute", cmd=command, params=parameters)

    def screenshot(self, file):
        with open(file, "wb") as out:
            out.write(base64.b64decode(self.call("GET", self.path + "/screenshot")))

    def log(self):
        """What the page wrote to its console since the last call, errors of loading included."""
        return self.post("/se/log", type="browser")

    def close(self):
        try:
            self.call("DELETE", self.path)
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.folder.cleanup()
