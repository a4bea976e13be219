"""The programs in the pages of documentation run, and print what the pages say they print.

The blocks of a page are one program. What it prints stands in comments: behind a `print(...)` or on
the lines after it, and behind other lines as `# prints ...`.
"""

import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md"))
PAGES = ["README.md", *DOCS]


def program(page):
    """The Python blocks, each on the lines that it has in the page, so that errors point there."""
    lines, inside = [], False
    for line in (ROOT / page).read_text().splitlines():
        if line.startswith("```"):
            inside = line == "```python"
            line = ""
        lines.append(line if inside else "")
    return lines


def promised(lines):
    """What the comments say that the program prints, line by line."""
    found, follows = [], False
    for line in lines:
        code, _, comment = line.partition("  # ")
        printing = code.lstrip().startswith("print(")
        if line.startswith("# ") and follows:
            found.append(line[2:])
        elif comment.startswith("prints "):
            found.append(comment[7:])
        elif comment and printing:
            found.append(comment.lstrip())
            follows = True
        else:
            follows = printing
    return found


@pytest.mark.parametrize(
    "page", [page for page in PAGES if "```python" in (ROOT / page).read_text()]
)
def test_prints_what_it_says(page, tmp_path):
    lines = program(page)
    file = tmp_path / f"{Path(page).stem.replace('-', '_')}.py"
    file.write_text("\n".join(lines))
    assert printed(tmp_path, str(file)) == promised(lines)


def printed(folder, *arguments):
    """The lines that Python prints, run in a folder."""
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True, text=True, check=False, timeout=120, cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


# A cell has no file, but its lines can be read, as in Jupyter.
CELLS = """
import json, linecache, sys
scope = {"__name__": "__main__"}
for cell in json.load(open(sys.argv[1]))["cells"]:
    if cell["cell_type"] == "code":
        source, name = cell["source"], f"<{cell['id']}>"
        linecache.cache[name] = len(source), None, source.splitlines(True), name
        exec(compile(source, name, "exec"), scope)
"""


@pytest.mark.parametrize("page", [page for page in DOCS if page.startswith("docs/guide/")])
def test_a_notebook_prints_what_its_page_says(page, tmp_path):
    made = runpy.run_path(str(ROOT / "docs" / "notebooks.py"))["notebook"]((ROOT / page).read_text())
    (tmp_path / "page.ipynb").write_text(json.dumps(made))
    assert printed(tmp_path, "-c", CELLS, "page.ipynb") == promised(program(page))


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_files(page):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", (ROOT / page).read_text()):
        if "://" not in target and "drawn/" not in target:
            assert (ROOT / page).parent.joinpath(target).exists(), target
