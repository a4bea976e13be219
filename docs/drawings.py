"""Draws the pictures of how-it-works.md while the pages are built, from the function shown there."""

import runpy
import tempfile
from pathlib import Path

from mkdocs.structure.files import File

STAGES = {"before": "", "merged": "common subexpressions", "after": "fusion"}


def on_files(files, config):
    from tapeflow.graph import drawing

    page = Path(config["docs_dir"], "how-it-works.md").read_text()
    code = page.partition("```python\n")[2].partition("```")[0]
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "page.py")  # a file, for AutoGraph reads the source
        program.write_text(code)
        function = runpy.run_path(str(program))["f"]
    for name, after in STAGES.items():
        picture = drawing.draw(function, after=after)
        files.append(File.generated(config, f"drawn/{name}.svg", content=picture))
    return files
