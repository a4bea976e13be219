"""A browser without a window, by the WebDriver protocol of chromedriver: pages are opened, asked and photographed."""

import base64
import contextlib
import json
import os
import re
import shutil
import subprocess
import time
import urllib.request

CHROME = next(filter(shutil.which, ["chromium", "chromium-browser", "google-chrome"]), None)
DRIVER = shutil.which("chromedriver")
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def port_of(lines, said):
    """The port that a server which has just started says that it listens on: the group of the pattern `said`."""
    for line in lines:
        if found := re.search(said, line):
            return found[1]
    raise RuntimeError("the server ended before it listened")


@contextlib.contextmanager
def served(command, said, **environment):
    """Runs a server for as long as the context lasts; gives its port."""
    server = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, **environment}
    )  # fmt: skip
    with server:
        try:
            yield port_of(server.stdout, said)
        finally:
            server.terminate()


class Browser:
    """One window."""

    def __init__(self, address, width, height):
        self._session = address
        options = {
            "binary": shutil.which(CHROME),
            "args": [*ARGUMENTS, f"--window-size={width},{height}"],
        }
        wanted = {"capabilities": {"alwaysMatch": {"goog:chromeOptions": options}}}
        self._session += "/session/" + self._ask("POST", "/session", wanted)["sessionId"]

    def _ask(self, method, path, what=None):
        body = None if what is None else json.dumps(what).encode()
        request = urllib.request.Request(self._session + path, body, method=method)
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)["value"]

    def open(self, url):
        self._ask("POST", "/url", {"url": url})

    def run(self, script):
        """What a piece of JavaScript returns."""
        return self._ask("POST", "/execute/sync", {"script": script, "args": []})

    def wait(self, script, seconds=60):
        """Waits until a piece of JavaScript returns something true, and gives that."""
        end = time.monotonic() + seconds
        while not (found := self.run(script)):
            if time.monotonic() > end:
                raise TimeoutError(
                    f"{script} on a page that says:\n{self.run('return document.body.innerText')}"
                )
            time.sleep(0.2)
        return found

    def picture(self):
        """The window as PNG."""
        return base64.b64decode(self._ask("GET", "/screenshot"))

    def close(self):
        self._ask("DELETE", "")


@contextlib.contextmanager
def browser(width=1200, height=760):
    with served([DRIVER, "--port=0"], r"successfully on port (\d+)") as port:
        window = Browser(f"http://127.0.0.1:{port}", width, height)
        try:
            yield window
        finally:
            window.close()
