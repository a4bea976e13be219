"""`tf.train.ClusterSpec`: the jobs of a cluster, with the addresses of their tasks."""

from __future__ import annotations

from collections.abc import Mapping

from tapeflow import protos
from tapeflow.core.public import public_methods


def _text(value):
    if not isinstance(value, (str, bytes)):
        raise TypeError(f"Expected binary or unicode string, got {value!r}")
    return value.decode() if isinstance(value, bytes) else value


@public_methods
class ClusterSpec:
    """The jobs of a cluster, with the addresses of their tasks.

    Args:
      cluster: a dict from jobs to lists of addresses, or dicts of addresses by number (also as text, as in JSON); a
        ClusterDef; a ClusterSpec.

    Raises TypeError for anything else, ValueError for texts that are no numbers.
    """

    def __init__(self, cluster):
        self.tasks_by_job: dict[str, dict[int, str]] = {}
        if isinstance(cluster, ClusterSpec):
            self.tasks_by_job = {job: dict(tasks) for job, tasks in cluster.tasks_by_job.items()}
        elif isinstance(cluster, Mapping):
            for job, tasks in cluster.items():
                if not isinstance(tasks, (list, tuple, dict)):
                    raise TypeError(
                        f"The tasks for job {job!r} must be a list or a dictionary from integers to strings."
                    )
                pairs = tasks.items() if isinstance(tasks, dict) else enumerate(tasks)
                self.tasks_by_job[_text(job)] = {int(i): _text(address) for i, address in pairs}
        elif isinstance(cluster, protos.ClusterDef):
            for job in cluster.job:
                self.tasks_by_job[job.name] = {int(i): address for i, address in job.tasks.items()}
        else:
            raise TypeError("`cluster` must be a dictionary mapping one or more job names to lists of network "
                            "addresses, or a `ClusterDef` protocol buffer")  # fmt: skip

    def __bool__(self):
        return bool(self.tasks_by_job)

    def __eq__(self, other):
        return isinstance(other, ClusterSpec) and self.tasks_by_job == other.tasks_by_job

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self):
        return f"ClusterSpec({self.as_dict()!r})"

    def as_dict(self):
        """The jobs: a list of addresses where the tasks are numbered without gaps, else a dict."""
        return {
            job: [tasks[i] for i in range(len(tasks))] if sorted(tasks) == list(range(len(tasks))) else dict(tasks)
            for job, tasks in self.tasks_by_job.items()
        }  # fmt: skip

    def as_cluster_def(self):
        """The ClusterDef."""
        made = protos.ClusterDef()
        for job in sorted(self.tasks_by_job):
            one = made.job.add(name=job)
            for i, address in sorted(self.tasks_by_job[job].items()):
                one.tasks[i] = address
        return made

    @property
    def jobs(self):
        """The names of the jobs."""
        return list(self.tasks_by_job)

    def _job(self, name: str):
        if name not in self.tasks_by_job:
            raise ValueError(f"No such job in cluster: {name!r}")
        return self.tasks_by_job[name]

    def num_tasks(self, job_name: str):
        """How many tasks a job has. Raises ValueError for no such job."""
        return len(self._job(job_name))

    def task_indices(self, job_name: str):
        """The numbers of a job's tasks."""
        return sorted(self._job(job_name))

    def task_address(self, job_name: str, task_index: int):
        """The address of a task. Raises ValueError for no such job or task."""
        job = self._job(job_name)
        if task_index not in job:
            raise ValueError(f"No task with index {task_index!r} in job {job_name!r}")
        return job[task_index]

    def job_tasks(self, job_name: str):
        """The addresses of a job's tasks; None for numbers that are left out."""
        job = self._job(job_name)
        return [job.get(i) for i in range(max(job) + 1)] if job else []
