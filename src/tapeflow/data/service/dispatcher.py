"""The process that knows which datasets and workers there are, and who reads what."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any, NamedTuple

from tapeflow.core.errors import InvalidArgumentError, NotFoundError
from tapeflow.data.service.policies import ShardingPolicy


class Job(NamedTuple):
    """What somebody wants to read.

    Attributes:
      dataset: the number of the dataset.
      policy: a `ShardingPolicy`.
      name: what those that read together call it; "" for a reader alone.
      consumers: how many take turns; 0 where each takes what comes.
    """

    dataset: str
    policy: int
    name: str
    consumers: int


class Task(NamedTuple):
    """What a worker makes for those that read a pass together.

    Attributes:
      number: of the pass, for which workers keep where they are.
      dataset: the number of the dataset.
      policy: a `ShardingPolicy`.
      shard: which part of the dataset it is, of the static policies.
      shards: of how many.
      consumers: how many take turns; 0 where each takes what comes.
    """

    number: int
    dataset: str
    policy: int
    shard: int
    shards: int
    consumers: int


class Dispatcher:
    """Datasets, workers and passes.

    Args:
      addresses: of the workers that static policies count on; empty for none.
    """

    def __init__(self, addresses: list[str]):
        self._addresses = addresses
        self._datasets: dict[str, bytes] = {}
        self._workers: dict[str, tuple[Any, str]] = {}
        self._passes: dict[tuple[str, int], tuple[int, Job]] = {}
        self._of_number: dict[int, tuple[Job, list[str]]] = {}
        self._claimed: Counter[tuple[int, int, int]] = Counter()
        self._numbers = itertools.count(1)
        self._identities = itertools.count(1000)

    def register(self, message: bytes, wanted: str | None) -> str:
        """Keep a dataset; returns its number, which equal datasets share.

        Args:
          message: what `shipping.to_bytes` gives.
          wanted: the number that it gets; None for any.
        """
        before = message if wanted is None else self._datasets.get(wanted, message)
        if before.partition(b"\n")[0] != message.partition(b"\n")[0]:
            raise InvalidArgumentError(
                None, None, f"Failed to register dataset with ID {wanted}: there is one with other elements."
            )
        known = next((key for key, each in self._datasets.items() if each == message), None)
        found = wanted or known or str(next(self._identities))
        self._datasets.setdefault(found, message)
        return found

    def dataset(self, number: str) -> bytes:
        """The dataset of a number."""
        if number not in self._datasets:
            raise NotFoundError(None, None, f"Dataset id {number} not found. It must be registered before.")
        return self._datasets[number]

    def add_worker(self, address: str, actor: Any, node: str) -> None:
        """Take a worker, in the place of one that had the same address."""
        self._workers[address] = actor, node

    def remove_worker(self, address: str) -> None:
        """Give no further passes to a worker."""
        self._workers.pop(address, None)

    def join(self, job: Job, repetition: int) -> int:
        """The number of a pass: those that read a job together share their passes, in the order of `repetition`."""
        self.dataset(job.dataset)
        if _is_static(job.policy) and not self._addresses:
            raise InvalidArgumentError(
                None, None, f"Sharding policy {ShardingPolicy(job.policy).name} needs the addresses of all workers: "
                "set `worker_addresses` in the DispatcherConfig."
            )  # fmt: skip
        key = job.name, repetition
        if job.name and key in self._passes:
            number, known = self._passes[key]
            if known != job:
                raise InvalidArgumentError(
                    None, None, f"Tried to create job with name {job.name}, but found an existing job with different "
                    f"parameters: {known}, instead of {job}"
                )  # fmt: skip
            return number
        number = next(self._numbers)
        if job.name:
            self._passes[key] = number, job
        self._of_number[number] = job, list(self._workers)
        return number

    def tasks(self, number: int) -> list[tuple[str, Any, str, Task]]:
        """The workers of a pass: address, actor, node and task of each. Where readers take turns, they stay."""
        if number not in self._of_number:
            raise NotFoundError(None, None, f"Pass {number} is over")
        job, first = self._of_number[number]
        found = []
        for address, (actor, node) in self._workers.items():
            if job.consumers and first and address not in first:
                continue
            static = _is_static(job.policy)
            shard = self._shard(address) if static else 0
            task = Task(number, job.dataset, job.policy, shard, len(self._addresses) if static else 1, job.consumers)
            found.append((address, actor, node, task))
        if job.consumers and not first:
            first.extend(self._workers)
        return found

    def _shard(self, address: str) -> int:
        """The place of a worker among the addresses: with its port, else as one of its host in their order."""
        if address in self._addresses:
            return self._addresses.index(address)
        host = address.partition(":")[0]
        same = [a for a in self._workers if a.partition(":")[0] == host and a not in self._addresses]
        open_ones = [
            i for i, a in enumerate(self._addresses)
            if a.partition(":")[0] == host and a.partition(":")[2] in ("", "%port%", "0")
        ]  # fmt: skip
        place = same.index(address)
        if place >= len(open_ones):
            raise InvalidArgumentError(
                None, None, f"Worker {address} is none of the workers {self._addresses} of the DispatcherConfig"
            )
        return open_ones[place]

    def claim(self, number: int, source: int, epoch: int, count: int) -> int:
        """The first of `count` elements of a source that the caller, and nobody else, makes something of."""
        key = number, source, epoch
        first = self._claimed[key]
        self._claimed[key] += count
        return first

    def release(self, number: int) -> None:
        """Forget a pass that one reader alone had."""
        self._of_number.pop(number, None)
        for key in [key for key in self._claimed if key[0] == number]:
            del self._claimed[key]
        for actor, _ in self._workers.values():
            actor.forget.remote(number)


def _is_static(policy: int) -> bool:
    """Whether the part of each worker is known from the start."""
    return policy in (ShardingPolicy.FILE, ShardingPolicy.DATA, ShardingPolicy.FILE_OR_DATA)
