"""Makes a notebook of each page that has programs, beside the page: its text, and its programs cell by cell."""

import json
import re

_PROGRAM = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?![a-z]+://)[^)]*\)")  # to another page, which a notebook is not beside


def notebook(markdown):
    """The notebook of a page, in version 4.5 of Jupyter's format; nothing in it was run."""
    cells = []
    for number, part in enumerate(_PROGRAM.split(markdown)):
        cell = {"id": f"cell-{len(cells)}", "metadata": {}}
        if number % 2:
            cell |= {"cell_type": "code", "source": part.strip(), "execution_count": None, "outputs": []}
        else:
            cell |= {"cell_type": "markdown", "source": _LINK.sub(r"\1", part.strip())}
        if cell["source"]:
            cells.append(cell)
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}, "cells": cells}


def on_files(files, config):
    from mkdocs.structure.files import File

    for page in list(files.documentation_pages()):
        text = page.content_string
        if _PROGRAM.search(text) and "<!-- " not in text:  # without parts of other files, which come later
            made = json.dumps(notebook(text), indent=1)
            files.append(File.generated(config, page.src_uri.removesuffix(".md") + ".ipynb", content=made))
    return files


def on_page_markdown(markdown, page, config, files):
    name = page.file.src_uri.removesuffix(".md") + ".ipynb"
    if files.get_file_from_path(name) is None:
        return markdown
    title, _, text = markdown.partition("\n")
    return f'{title}\n\n[As a notebook]({name.rpartition("/")[2]}){{ .notebook download="" }}\n{text}'
