"""The page on which one draws digits: the exported network in node, and the page in a browser without a window."""

import contextlib
import functools
import json
import math
import os
import re
import shutil
import subprocess
import sys
import threading
import urllib.parse
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

import tapeflow as tf

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "examples" / "web_digits"
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [
    pytest.mark.js, pytest.mark.slow,
    pytest.mark.skipif("TFJS_PACKAGE" not in os.environ, reason="TFJS_PACKAGE names no folder of @tensorflow/tfjs"),
]  # fmt: skip
RING = [[140 + 60 * math.cos(t / 8), 140 + 90 * math.sin(t / 8)] for t in range(52)]
DRAWINGS = {
    "0": [RING], "1": [[[140, 40], [140, 240]]], "7": [[[70, 60], [210, 60], [120, 240]]], "": [],
    "4": [[[100, 40], [70, 150], [210, 150]], [[180, 40], [170, 250]]],
}  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the page with a network that was trained for it."""
    folder = tmp_path_factory.mktemp("site")
    for file in PAGE.iterdir():
        if file.suffix in (".html", ".js"):
            shutil.copy(file, folder)
    (folder / "node_modules").symlink_to(Path(os.environ["TFJS_PACKAGE"]).parents[1])
    done = subprocess.run(
        [sys.executable, PAGE / "export_digits.py", "--epochs", "4", "--folder", folder],
        capture_output=True, text=True, check=True, timeout=500,
    )  # fmt: skip
    assert float(re.search(r"test accuracy ([\d.]+)%", done.stdout)[1]) > 90
    return folder


@contextlib.contextmanager
def served(folder):
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/index.html"
        server.shutdown()


def test_the_network_reads_digits_in_node(site):
    (_, _), (images, labels) = tf.keras.datasets.mnist.load_data()
    x = images[:200, ..., None].astype(np.float32) / 255
    asked = [{"model": str(site / "model"), "inputs": {
        "image": {"shape": x.shape, "dtype": "float32", "values": x.ravel().tolist()}}}]  # fmt: skip
    command = ["node", str(ROOT / "tests" / "export" / "run_model.js"), os.environ["TFJS_PACKAGE"]]
    done = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True, check=True, timeout=300)
    (found,) = json.loads(done.stdout.splitlines()[-1])[0].values()
    scores = np.reshape(found["values"], found["shape"])
    assert scores.shape == (200, 10)
    assert (scores.argmax(1) == labels[:200]).mean() > 0.9


def test_drawings_are_brought_to_the_middle():
    script = """
        const {normalized} = require(process.argv[1]);
        const pixels = new Uint8Array(100 * 80);
        for (let y = 10; y < 50; y++) for (let x = 60; x < 72; x++) pixels[y * 100 + x] = 255;
        const empty = normalized(new Uint8Array(100 * 80), 100, 80);
        console.log(JSON.stringify([Array.from(normalized(pixels, 100, 80)), empty]));
    """
    done = subprocess.run(
        ["node", "-e", script, str(PAGE / "digits.js")], capture_output=True, text=True, check=True, timeout=60
    )
    image, empty = json.loads(done.stdout)
    expected = np.zeros((28, 28))
    expected[4:24, 11:17] = 1  # 40 by 12 pixels, fitted into 20 by 6
    np.testing.assert_array_equal(np.reshape(image, (28, 28)), expected)
    assert empty is None


@pytest.mark.skipif(BROWSER is None, reason="no Chromium")
def test_what_is_drawn_is_read(site, tmp_path):
    guesses = {}
    with served(site) as address:
        for digit, strokes in DRAWINGS.items():
            url = f"{address}#{urllib.parse.quote(json.dumps(strokes))}"
            command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}"]
            done = subprocess.run(
                [*command, "--virtual-time-budget=30000", "--dump-dom", url], capture_output=True, text=True,
                check=True, timeout=120,
            )  # fmt: skip
            guesses[digit] = re.search('<output id="guess">(.*?)</output>', done.stdout)[1]
            assert done.stdout.count('<div title="') == (10 if strokes else 0)
    assert guesses == {digit: digit for digit in DRAWINGS}
