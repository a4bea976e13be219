"""TensorBoard shows the run of docs/tensorboard.md; the picture in that page is made here.

TB_PYTHON, or else TF_PYTHON, names a Python that has TensorBoard. With DRAW=1 the picture in docs/ is written anew.
"""

import gzip
import importlib.util
import io
import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

import tapeflow as tf

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "tensorboard.png"
PYTHON = os.environ.get("TB_PYTHON", os.environ.get("TF_PYTHON"))


def beside(name):
    """A module of this folder, which is no package."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


web, pages = beside("browser"), beside("test_pages")

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(PYTHON is None, reason="neither TB_PYTHON nor TF_PYTHON names a Python"),
    pytest.mark.skipif(
        not (web.CHROME and web.DRIVER), reason="there is no Chromium with its chromedriver"
    ),
]

# The text of a page, that inside of its elements' own trees too.
TEXT = """
function text(node) {
  if (node.nodeType == Node.TEXT_NODE) return node.data;
  if (["SCRIPT", "STYLE"].includes(node.tagName)) return "";
  return [...(node.shadowRoot ? node.shadowRoot.childNodes : []), ...node.childNodes].map(text).join(" ");
}
"""


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """What the program of the page writes."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "page.py").write_text("\n".join(pages.program("docs/tensorboard.md")))
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    subprocess.run(
        [sys.executable, "page.py"], cwd=folder, check=True, env={**os.environ, "PYTHONPATH": path}
    )
    return folder / "logs"


@pytest.fixture(scope="module")
def board(logs):
    """The address of a TensorBoard on that folder."""
    command = [
        PYTHON,
        "-m",
        "tensorboard.main",
        "--logdir",
        str(logs),
        "--host",
        "127.0.0.1",
        "--port",
        "0",
    ]
    with web.served(command, r"http://\S+:(\d+)/", PYTHONPATH="") as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(scope="module")
def browser():
    with web.browser(1200, 1110) as window:
        yield window


@pytest.fixture
def shows(board, browser):
    """Opens a tab of TensorBoard, and waits until all these words are on it."""

    def shows(tab, *words):
        browser.open("about:blank")
        browser.open(f"{board}/#{tab}")
        browser.wait(
            f"{TEXT} const all = text(document.body); return {list(words)}.every(x => all.includes(x))"
        )

    return shows


def last(folder, tag):
    """The step and the value of the last scalar with this tag."""
    (path,) = folder.glob("events*")
    found = [
        (event.step, float(tf.make_ndarray(value.tensor)))
        for event in tf.compat.v1.train.summary_iterator(str(path))
        for value in event.summary.value
        if value.tag == tag
    ]
    return found[-1]


def test_scalars_and_the_picture(shows, browser, logs):
    shows("timeseries", "evaluation", "accuracy", "loss", "training", "testing", "Smoothed")
    browser.run("document.querySelector('[aria-label=\"Close side pane\"]').click()")
    for run in ["training", "testing"]:
        for place, tag in enumerate(["evaluation/accuracy", "evaluation/loss"]):
            step, value = last(logs / run, tag)
            row = browser.wait(
                f"const table = document.querySelectorAll('scalar-card-data-table')[{place}];"
                "const rows = table ? [...table.querySelectorAll('tb-data-table-content-row')] : [];"
                f"const row = rows.find(each => each.innerText.includes('{run}'));"
                f"return row && row.innerText.includes('{step}') && row.innerText"
            )
            assert float(row.split()[2]) == pytest.approx(value, abs=6e-5)
    browser.wait("return document.querySelectorAll('histogram-card svg path').length >= 10")
    image = pytest.importorskip("PIL.Image")
    with image.open(io.BytesIO(browser.picture())) as picture:
        colours = picture.convert("RGB").getcolors(1 << 24)
        assert len(colours) > 100
        if os.environ.get("DRAW"):
            picture.convert("RGB").quantize(128).save(PICTURE, optimize=True)


def test_images(shows):
    shows("images", "samples", "sample: 1 of 12", "training")


def test_histograms(shows):
    shows("histograms", "hidden/kernel:0", "output/bias:0", "training")


def test_graph(shows):
    shows(
        "graphs&run=training",
        "train_step",
        "hidden",
        "output",
        "SparseSoftmaxCrossEntropyWithLogits",
    )


def test_the_profile(board):
    """The plugin for profiles reads ours, where it is installed."""

    def asked(path):
        with urllib.request.urlopen(f"{board}/data/plugin/profile/{path}", timeout=120) as answer:
            found = answer.read()
        return json.loads(gzip.decompress(found) if found.startswith(b"\x1f\x8b") else found)

    with urllib.request.urlopen(f"{board}/data/plugins_listing", timeout=120) as answer:
        if "profile" not in json.load(answer):
            pytest.skip("TensorBoard has no plugin for profiles")
    (run,) = asked("runs")
    (host,) = asked(f"hosts?run={run}&tag=trace_viewer@")
    events = asked(f"data?run={run}&tag=trace_viewer@&host={host['hostname']}")["traceEvents"]
    names = [event["name"] for event in events if event["ph"] == "X"]
    assert names.count("train") == 3
    assert names.count("train_step") == 3


def test_the_picture_is_small():
    with pytest.importorskip("PIL.Image").open(PICTURE) as picture:
        assert picture.width <= 1280
    assert PICTURE.stat().st_size < 150_000
