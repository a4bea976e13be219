"""What notebooks show of objects: small pieces of HTML, in which every text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tapeflow.core.display.printing import plain_text

_MAX_ROWS = 20
_MAX_COLUMNS = 12
_LONGEST = 80  # characters of an element in a table


def escape(text: str) -> str:
    """The text, as it stands in HTML."""
    import html  # which most programs do without

    return html.escape(text)


def caption(text: str) -> str:
    """A line above what is shown."""
    return f"<div><code>{escape(text)}</code></div>"


def table(rows: Iterable[Sequence[Any]], titles: Sequence[str] = ()) -> str:
    """A table of texts, below its titles if there are any."""
    head = f"<thead>{_row(titles, 'th')}</thead>" if titles else ""
    return f"<table>{head}<tbody>{''.join(_row(row, 'td') for row in rows)}</tbody></table>"


def array(facts: str, value: Any) -> str:
    """Facts about an array; with rank 1 or 2, a table of its first elements; otherwise what `print` shows of it.

    Args:
      facts: the line above it.
      value: a NumPy array or scalar.
    """
    if getattr(value, "ndim", 0) not in (1, 2) or value.size == 0:
        return f"{caption(facts)}<pre>{escape(plain_text(value))}</pre>"
    matrix = value if value.ndim == 2 else value[None, :]
    left_out = matrix.shape[1] - _MAX_COLUMNS
    rows = []
    for row in matrix[:_MAX_ROWS]:
        rows.append([_cut(str(element)) for element in row[:_MAX_COLUMNS]] + (["…"] if left_out > 0 else []))
    below = []
    if matrix.shape[0] > _MAX_ROWS:
        below.append(f"{matrix.shape[0] - _MAX_ROWS:,} more rows")
    if left_out > 0:
        below.append(f"{left_out:,} more {'elements' if value.ndim == 1 else 'columns'}")
    return caption(facts) + table(rows) + (f"<div>{escape(', '.join(below))}</div>" if below else "")


def _row(cells: Sequence[Any], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
