"""Batches made ahead by threads, as programs for Keras 2 ask for them."""

from __future__ import annotations

import queue
import random
import threading

from tapeflow.core.public import boundaries
from tapeflow.core.threads.workers import start_thread

_END = object()


class SequenceEnqueuer:
    """A thread that makes batches and puts them into a queue; `get()` gives them.

    Args:
      sequence: what gives the batches.
      use_multiprocessing: accepted as in Keras 2; a thread makes them.
    """

    def __init__(self, sequence, use_multiprocessing=False):
        self.sequence, self.use_multiprocessing = sequence, use_multiprocessing
        self.queue = None
        self._stop = threading.Event()
        self._threads = []

    def is_running(self):
        """Whether batches are being made."""
        return self.queue is not None and not self._stop.is_set()

    def start(self, workers: int = 1, max_queue_size=10):
        """Begins to make batches."""
        self._stop.clear()
        self.queue = queue.Queue(max_queue_size)
        self._threads = [start_thread(self._work, name="tapeflow-batches")]

    def _batches(self):
        yield from self.sequence

    def _work(self):
        try:
            for batch in self._batches():
                if not self._put(batch):
                    return
            self._put(_END)
        except Exception as error:
            self._put(error)

    def _put(self, item):
        while not self._stop.is_set():
            try:
                self.queue.put(item, timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def stop(self, timeout=None):
        """Ends the thread."""
        self._stop.set()
        for thread in self._threads:
            thread.join(timeout)

    def get(self):
        """Gives the batches in turn; an error of making them is raised here."""
        while self.is_running():
            item = self.queue.get()
            if item is _END:
                return
            if isinstance(item, Exception):
                self._stop.set()
                raise item
            if item is not None:
                yield item


class OrderedEnqueuer(SequenceEnqueuer):
    """The batches of a Sequence, in order or shuffled, again and again.

    Args:
      sequence: the `Sequence`.
      use_multiprocessing: accepted as in Keras 2; a thread makes them.
      shuffle: whether each pass has another order.
    """

    def __init__(self, sequence, use_multiprocessing: bool = False, shuffle: bool = False):
        super().__init__(sequence, use_multiprocessing)
        self.shuffle = shuffle

    def _batches(self):
        while not self._stop.is_set():
            order = list(range(len(self.sequence)))
            if self.shuffle:
                random.shuffle(order)
            for i in order:
                yield self.sequence[i]
            self.sequence.on_epoch_end()


class GeneratorEnqueuer(SequenceEnqueuer):
    """The batches of a generator.

    Args:
      sequence: the generator.
      use_multiprocessing: accepted as in Keras 2; a thread makes them.
    """


boundaries(globals())
