"""Parts of other files in the pages, so that nothing is written twice: `<!-- section of README.md: TITLE -->`,
`<!-- paragraph of README.md: FIRST WORDS -->` and `<!-- missing names -->`."""

import re
import runpy
from pathlib import Path

ROOT = Path(__file__).parents[1]


def section(file, title):
    """The text below a heading `## title`."""
    text = (ROOT / file).read_text()
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    if found is None:
        raise ValueError(f"{file} has no section {title!r}")
    return found[1].strip()


def paragraph(file, words):
    """The paragraph that begins with some words."""
    for each in (ROOT / file).read_text().split("\n\n"):
        if each.startswith(words):
            return each
    raise ValueError(f"{file} has no paragraph that begins with {words!r}")


def missing_names():
    """The public names of TensorFlow that are not there, with reasons, as a table."""
    reasons = runpy.run_path(str(ROOT / "tests" / "api" / "absent.py"))["REASONS"]
    rows = [
        f"| {reason} | {', '.join(f'`{name}`' for name in names.split())} |"
        for reason, names in reasons.items()
    ]
    return "\n".join(["| because | not there |", "| --- | --- |", *rows])


def on_page_markdown(markdown, page, config, files):
    markdown = re.sub(r"<!-- section of (\S+): (.+?) -->", lambda m: section(m[1], m[2]), markdown)
    markdown = re.sub(
        r"<!-- paragraph of (\S+): (.+?) -->", lambda m: paragraph(m[1], m[2]), markdown
    )
    markdown = markdown.replace("](docs/", "](")  # links of README are relative to its own folder
    return markdown.replace("<!-- missing names -->", missing_names())
