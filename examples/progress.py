"""A progress bar: rich's in a terminal that has it, else a plain line now and then."""

import time

try:
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
except ImportError:
    Progress = None


class Bar:
    """Counts to `total` in a for loop; `say` puts words beside the bar.

    for step in (bar := Bar(100)):
        bar.say(f"loss {train(step):.3f}")
    """

    def __init__(self, total, words="training"):
        self.total, self.words, self.report = total, words, ""

    def say(self, report):
        self.report = report

    def __iter__(self):
        return self._plain() if Progress is None else self._drawn()

    def _drawn(self):
        columns = (
            TextColumn(self.words),
            BarColumn(bar_width=28),
            TextColumn("{task.percentage:>3.0f}%  {task.fields[report]}"),
            TimeElapsedColumn(),
        )
        with Progress(*columns) as progress:
            bar = progress.add_task("", total=self.total, report="")
            for step in range(self.total):
                yield step
                progress.update(bar, completed=step + 1, report=self.report)

    def _plain(self):
        shown = 0.0
        for step in range(self.total):
            yield step
            last = step + 1 == self.total
            if last or time.monotonic() - shown > 2:
                shown = time.monotonic()
                print(f"{self.words} {step + 1}/{self.total}  {self.report}", flush=True)
