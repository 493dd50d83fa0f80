"""Runs `tarn view` in the background, and sends requests to its server."""
import http.client
import json
import os
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
        """Returns the reply to /api/QUESTION, also an error."""
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

    def processor_seconds(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            return sum(map(int, file.read().rsplit(")", 1)[1].split()[11:13])) / os.sysconf("SC_CLK_TCK")

    def end(self):
        """Ends `tarn view` as Ctrl-C does. Returns its exit status."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(60 * e2e.PATIENCE)


def status_of(address, path, method="GET", **headers):
    """Returns the HTTP status of a request with these headers."""
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(address).netloc, timeout=60 * e2e.PATIENCE)
    connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    return connection.getresponse().status
