"""Runs `tarn view` in the background, and sends requests to its server."""
import http.client
import json
import signal
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

import end_to_end as e2e


class View:
    def __init__(self, *words, stderr=None):
        self.process = subprocess.Popen([e2e.TARN, "view", "--open", "no", *words], stdout=subprocess.PIPE, stderr=stderr, text=True)
        self.address = self.process.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(20 * e2e.PATIENCE)

    def text(self, question):
        try:
            with urllib.request.urlopen(f"{self.address}api/{question}", timeout=60 * e2e.PATIENCE) as reply:
                return reply.read()
        except urllib.error.HTTPError as error:
            return error.read()

    def ask(self, question, **parameters):
        """Returns the JSON of /api/QUESTION, also of an error."""
        return json.loads(self.text(question + ("?" + urllib.parse.urlencode(parameters) if parameters else "")))

    def wait(self, condition, seconds):
        """Returns the first reply of /api/changes that meets CONDITION, or the last one. Asks again and again."""
        until = time.monotonic() + seconds * e2e.PATIENCE
        now = self.ask("changes")
        while not condition(now) and time.monotonic() < until:
            time.sleep(0.01)
            now = self.ask("changes")
        return now

    def expect(self, text, condition, seconds=60):
        """Checks that the condition is met in time. Returns the reply."""
        now = self.wait(condition, seconds)
        e2e.check(condition(now), text, now)
        return now

    def processor_seconds(self):
        return e2e.guest.processor_seconds(self.process.pid)

    def end(self):
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(60 * e2e.PATIENCE)


def status_of(address, path, method="GET", **headers):
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(address).netloc, timeout=60 * e2e.PATIENCE)
    connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    return connection.getresponse().status
