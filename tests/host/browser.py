#!/usr/bin/env python3
"""A headless Chromium for tests, driven by its DevTools protocol over a pair of pipes: no other package is needed.

`errors` has what a page throws or logs as an error, and failed requests. Times are seconds.
"""
import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
import guest  # noqa: E402

PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
FLAGS = ["--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
         "--no-first-run", "--disable-extensions", "--disable-background-networking", "--hide-scrollbars",
         "--force-device-scale-factor=1"]
# Timers that have not fired and replies that have not been read, except of questions about changes.
WATCH_WORK = """(() => {
    const timers = new Set(), later = window.setTimeout.bind(window), never = window.clearTimeout.bind(window);
    let asked = 0;
    const over = () => later(() => asked--, 0);  // behind what is done with the reply
    const count = (promise) => { asked++; promise.then(over, over); return promise; };
    window.setTimeout = (call, ...rest) => {
        const id = later((...values) => { timers.delete(id); call(...values); }, ...rest);
        timers.add(id);
        return id; };
    window.clearTimeout = (id) => { timers.delete(id); never(id); };
    const ask = window.fetch.bind(window);
    window.fetch = (what, ...rest) => String(what).includes("/changes") ? ask(what, ...rest) : count(ask(what, ...rest));
    for (const name of ["json", "text"]) {
        const read = Response.prototype[name];
        Response.prototype[name] = function () { return this.url.includes("/changes") ? read.call(this) : count(read.call(this)); };
    }
    window.isAtWork = () => timers.size + asked > 0;
})()"""
DRAWN = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
KEYS = {"Enter": 13, "Escape": 27, "Tab": 9, "Backspace": 8, "Delete": 46, "Home": 36, "End": 35, "PageUp": 33, "PageDown": 34,
        "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, " ": 32}
MODIFIERS = {"alt": 1, "ctrl": 2, "meta": 4, "shift": 8}


PAUSE_LEAST, PAUSE_MAX = 0.002, 0.05  # seconds between polls


class BrowserError(Exception):
    """The browser did not do what it was told, or not in time."""


class Browser:
    def __init__(self, width=1400, height=900, dark=False, seconds=30):
        program = next(filter(None, map(shutil.which, PROGRAMS)), None)
        if program is None:
            raise BrowserError("no Chromium found: run `make deps`")
        self.seconds, self.number, self.rest, self.events, self.errors = seconds, 0, b"", [], []
        self.profile = tempfile.TemporaryDirectory(prefix="tarn-browser-", ignore_cleanup_errors=True)
        self._start([program, *FLAGS, f"--user-data-dir={self.profile.name}", "about:blank"])
        try:
            self._attach(width, height, dark)
        except BaseException:
            self.close()
            raise

    def _start(self, command):
        """Chromium reads commands from its descriptor 3 and replies on 4."""
        from_us, self.write_end = os.pipe()
        self.read_end, to_us = os.pipe()
        copies = [os.dup(fd) if fd in (3, 4) else fd for fd in (from_us, to_us)]
        self.process = subprocess.Popen(  # a shell places them: pass_fds keeps numbers, of which dash takes but one digit
            ["bash", "-c", f'exec "$@" 3<&{copies[0]} 4>&{copies[1]}', "sh", *command], pass_fds=copies, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for fd in {from_us, to_us, *copies}:
            os.close(fd)

    def _attach(self, width, height, dark):
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH_WORK)
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.dark(dark)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.process.kill()
        self.process.wait()
        for fd in (self.write_end, self.read_end):
            os.close(fd)
        self.profile.cleanup()

    # ---- the protocol: JSON messages, each ended by a NUL

    def _receive(self, end):
        while b"\0" not in self.rest:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.read_end], [], [], left)[0]:
                raise BrowserError("the browser does not reply")
            data = os.read(self.read_end, 1 << 20)
            if not data:
                raise BrowserError("the browser has ended")
            self.rest += data
        line, self.rest = self.rest.split(b"\0", 1)
        return json.loads(line)

    def _note(self, message):
        method, told = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            thrown = told["exceptionDetails"]
            self.errors.append(thrown.get("exception", {}).get("description") or thrown["text"])
        elif method == "Runtime.consoleAPICalled" and told["type"] in ("error", "assert"):
            self.errors.append(" ".join(str(a.get("value", a.get("description"))) for a in told["args"]))
        elif method == "Log.entryAdded" and told["entry"]["level"] == "error":
            self.errors.append(told["entry"]["text"] + " " + told["entry"].get("url", ""))
        self.events.append(message)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.write_end, data):]
        end = self._end()
        while True:
            reply = self._receive(end)
            if reply.get("id") != self.number:
                self._note(reply)
            elif "error" in reply:
                raise BrowserError(f"{method}: {reply['error']['message']}")
            else:
                return reply["result"]

    def _end(self, seconds=None):
        """Of a wait that begins now: a busy host gets more time."""
        return time.monotonic() + (seconds or self.seconds) * guest.LENIENCE * guest.slowdown()

    # ---- what a user does and sees

    def open(self, url):
        self.events.clear()
        failed = self.call("Page.navigate", url=url).get("errorText")
        if failed:
            raise BrowserError(f"{url}: {failed}")
        end = self._end()
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self._note(self._receive(end))

    def value(self, expression):
        """Of a JavaScript expression; promises are waited for."""
        reply = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in reply:
            thrown = reply["exceptionDetails"]
            raise BrowserError(f"{expression}: {thrown.get('exception', {}).get('description') or thrown['text']}")
        return reply["result"].get("value")

    def wait(self, expression, seconds=None):
        """Until a JavaScript expression is true; its value."""
        end = self._end(seconds)
        pause = PAUSE_LEAST  # most waits are short
        while not (value := self.value(expression)):
            if time.monotonic() > end:
                raise BrowserError(f"waited in vain for: {expression}" + "".join(f"\n  page: {e}" for e in self.errors[-5:]))
            time.sleep(pause)
            pause = min(2 * pause, PAUSE_MAX)
        return value

    def settle(self):
        """Until the page has nothing more to do: all replies are there, timers have fired, all is drawn."""
        while True:
            self.wait("!window.isAtWork()")
            self.value(DRAWN)
            if not self.value("window.isAtWork()"):
                return

    def dark(self, is_dark):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}])

    def mouse(self, kind, x, y, button="none", count=0, modifiers=(), **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, clickCount=count,
                  buttons={"left": 1, "right": 2}.get(button, 0), modifiers=sum(MODIFIERS[m] for m in modifiers), **more)

    def click(self, x, y, modifiers=(), count=1):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, "left", count, modifiers)
        self.mouse("mouseReleased", x, y, "left", count, modifiers)

    def click_on(self, selector):
        self.wait(f"document.querySelector({json.dumps(selector)}) !== null")
        self.click(*self.value(f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
                               "e.scrollIntoView({block: 'nearest'}); const r = e.getBoundingClientRect();"
                               "return [r.x + r.width / 2, r.y + r.height / 2]; })()"))

    def drag(self, x0, y0, x1, y1, modifiers=(), steps=8):
        self.mouse("mouseMoved", x0, y0)
        self.mouse("mousePressed", x0, y0, "left", 1, modifiers)
        for i in range(1, steps + 1):
            self.mouse("mouseMoved", x0 + (x1 - x0) * i / steps, y0 + (y1 - y0) * i / steps, "left", 0, modifiers)
        self.mouse("mouseReleased", x1, y1, "left", 1, modifiers)

    def wheel(self, x, y, delta, modifiers=()):
        self.mouse("mouseWheel", x, y, modifiers=modifiers, deltaX=0, deltaY=delta)

    def key(self, key, modifiers=()):
        code = KEYS.get(key) or ord(key.upper())
        told = {"key": key, "windowsVirtualKeyCode": code, "modifiers": sum(MODIFIERS[m] for m in modifiers)}
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else None)
        self.call("Input.dispatchKeyEvent", type="keyDown", **told, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **told)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def screenshot(self, path):
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))


if __name__ == "__main__":  # tests/host/browser.py URL FILE.png: what is there to be seen
    with Browser() as browser:
        browser.open(sys.argv[1])
        browser.settle()
        browser.screenshot(sys.argv[2])
        print("\n".join(browser.errors))
