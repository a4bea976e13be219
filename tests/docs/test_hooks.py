"""What fills the pages while they are built: parts of other files, the reference, the drawings."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tapeflow.graph import passes

ROOT = Path(__file__).parents[2]


def hook(name):
    spec = importlib.util.spec_from_file_location(f"docs_{name}", ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


included, reference, drawings = hook("included"), hook("reference"), hook("drawings")
notebooks = hook("notebooks")


def test_sections_and_paragraphs_are_found():
    assert included.section("README.md", "Speed").count("| tapeflow |") == 1
    assert included.paragraph("README.md", "Not there yet:").startswith("Not there yet:")
    with pytest.raises(ValueError, match="has no section 'Nowhere'"):
        included.section("README.md", "Nowhere")


@pytest.mark.parametrize("page", ["index", "speed", "missing"])
def test_pages_name_what_there_is(page):
    text = included.on_page_markdown((ROOT / "docs" / f"{page}.md").read_text(), None, None, None)
    assert "<!--" not in text


def test_docstrings_become_html():
    doc = "First `x`.\n\nMore <b>.\n\nArgs:\n  x: a tensor,\n    or a list.\n  *rest: others.\n\n    code < 1\n"
    assert reference.html(doc) == (
        "<p>First <code>x</code>.</p><p>More &lt;b&gt;.</p><p><strong>Args</strong></p><ul>"
        "<li><code>x</code>: a tensor,\n  or a list.</li><li><code>*rest</code>: others.</li></ul>"
        "<pre><code>code &lt; 1</code></pre>"
    )


def test_what_returns_is_a_paragraph():
    doc = "First.\n\nReturns:\n  A tensor that goes\n  on: here.\n"
    assert reference.html(doc) == (
        "<p>First.</p><p><strong>Returns</strong></p><p>A tensor that goes\non: here.</p>"
    )


def test_signatures_are_short():
    def f(x: "int | None" = None, *, by=sorted) -> int: ...

    assert reference.signature(f) == "(x=None, *, by=sorted)"


def test_every_public_name_is_on_a_page():
    public = reference.public()
    assert len(public) > 4000
    assert {
        "tf.add",
        "tf.keras.layers.Dense",
        "tf.compat.v1.Session",
        "tf.contrib.eager.Network",
    } <= set(public)
    assert reference.homes()[id(public["tf.add"])] == "tf.math.add"
    page = reference.page("tf.math", reference.namespaces()["tf.math"])
    assert "### add {#tf.math.add}" in page
    assert "tf.math.add(x, y, name=None)" in page
    root = reference.page("tf", reference.namespaces()["tf"])
    assert "| `tf.add` | [tf.math.add](tf.math.md#tf.math.add) |" in root


def test_what_is_public_is_described():
    public = reference.public()
    described = [name for name, value in public.items() if reference.is_documented(value)]
    silent = [name for name in described if not (public[name].__doc__ or "").strip()]
    assert [name for name in silent if not hasattr(public[name], "DESCRIPTOR")] == []


def test_drawings():
    found = dict(drawings.pictures())
    words = {name: " ".join(ElementTree.fromstring(svg).itertext()) for name, svg in found.items()}
    assert "gives loss" in words["tape"]
    assert "AddN" in words["outer"]
    assert "If" in words["scale"]
    mentioned = " ".join(page.read_text() for page in (ROOT / "docs").rglob("*.md"))
    assert all(f"drawn/{name}.svg" in mentioned for name in found)


def test_the_table_of_passes_is_whole():
    text = (ROOT / "docs" / "internals" / "graph.md").read_text()
    listed = [
        line.split(" | ")[0].strip("| ") for line in text.splitlines() if line.startswith("| ")
    ]
    assert [name for name in listed if name in dict(passes.PASSES)] == list(dict(passes.PASSES))


@pytest.mark.slow
def test_the_site_builds(tmp_path):
    pytest.importorskip("mkdocs", reason="mkdocs-material is not installed")
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", tmp_path]
    subprocess.run(command, cwd=ROOT, check=True, env={**os.environ, "PYTHONPATH": path})
    assert (tmp_path / "reference" / "tf.nn" / "index.html").exists()


def test_cells_are_the_text_and_the_programs_of_a_page():
    page = "# Title\n\nSee [a page](a.md), [b](https://b).\n\n```python\nx = 1\n```\n\n```\nno\n```\n"
    made = notebooks.notebook(page)
    assert [(cell["cell_type"], cell["source"]) for cell in made["cells"]] == [
        ("markdown", "# Title\n\nSee a page, [b](https://b)."),
        ("code", "x = 1"),
        ("markdown", "```\nno\n```"),
    ]
    assert len({cell["id"] for cell in made["cells"]}) == 3
