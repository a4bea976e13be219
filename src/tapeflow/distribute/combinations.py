"""Strategies for tests, by name, with what each one needs; tests run for those that the machine can run."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tapeflow.core import config
from tapeflow.distribute.current import _default_strategy
from tapeflow.distribute.strategies import (
    CentralStorageStrategy,
    MirroredStrategy,
    MultiWorkerMirroredStrategy,
    OneDeviceStrategy,
    ParameterServerStrategy,
)


class NamedDistribution:
    """A strategy that is made when a test asks for it, with a name for the test.

    Attributes:
      required_gpus: how many GPUs it needs.
      required_physical_gpus: how many of them may not be virtual.
      required_tpu: whether it needs a TPU.
      use_cloud_tpu: whether that is one of the cloud.
      has_chief: whether it needs a process that is the chief.
      num_workers: how many processes that are workers it needs.
      num_ps: how many parameter servers it needs.
      share_gpu: whether the workers share GPUs.
      no_xla: whether its tests are left out where everything is compiled.
    """

    def __init__(
        self,
        name: str,
        distribution_fn: Callable[[], Any],
        required_gpus: int | None = None,
        required_physical_gpus: int = 0,
        required_tpu: bool = False,
        use_cloud_tpu: bool = False,
        has_chief: bool = False,
        num_workers: int = 1,
        num_ps: int = 0,
        share_gpu: bool = True,
        pool_runner_fn: Callable[[], Any] | None = None,
        no_xla: bool = False,
    ):
        self._name, self._make = name, distribution_fn
        self.required_gpus, self.required_physical_gpus = required_gpus, required_physical_gpus
        self.required_tpu, self.use_cloud_tpu = required_tpu, use_cloud_tpu
        self.has_chief, self.num_workers, self.num_ps = has_chief, num_workers, num_ps
        self.share_gpu, self.no_xla = share_gpu, no_xla
        self._pool_runner_fn = pool_runner_fn

    @property
    def runner(self) -> Any:
        """What runs the test in several processes; None: one process."""
        return None if self._pool_runner_fn is None else self._pool_runner_fn()

    @property
    def strategy(self) -> Any:
        """The strategy."""
        return self._make()

    def missing(self) -> str | None:
        """What the machine lacks for it; None for nothing."""
        if self.required_tpu:
            return "a TPU"
        needed = max(self.required_gpus or 0, self.required_physical_gpus)
        if len(config.list_logical_devices("GPU")) < needed:
            return f"{needed} GPUs"
        if self.has_chief or self.num_workers > 1 or self.num_ps:
            return "a cluster of several processes"
        return None

    def __repr__(self) -> str:
        return self._name


def _mirrored(*devices: str) -> Callable[[], Any]:
    return functools.partial(MirroredStrategy, list(devices))


def _one(device: str) -> Callable[[], Any]:
    return functools.partial(OneDeviceStrategy, device)


def _tpu() -> Any:
    raise ValueError("There is no TPU strategy: TPUs are programmed through JAX")


default_strategy = NamedDistribution("Default", _default_strategy)
one_device_strategy = NamedDistribution("OneDeviceCPU", _one("/cpu:0"))
one_device_strategy_gpu = NamedDistribution("OneDeviceGPU", _one("/gpu:0"), 1)
mirrored_strategy_with_one_cpu = NamedDistribution("Mirrored1CPU", _mirrored("/cpu:0"))
mirrored_strategy_with_one_gpu = NamedDistribution("Mirrored1GPU", _mirrored("/gpu:0"), 1)
mirrored_strategy_with_gpu_and_cpu = NamedDistribution("MirroredCPUAndGPU", _mirrored("/gpu:0", "/cpu:0"), 1)
mirrored_strategy_with_two_cpus = NamedDistribution("Mirrored2CPUs", _mirrored("/cpu:0", "/cpu:1"), 0)
mirrored_strategy_with_cpu_1_and_2 = NamedDistribution("Mirrored2CPU", _mirrored("/cpu:1", "/cpu:2"))
mirrored_strategy_with_two_gpus = NamedDistribution("Mirrored2GPUs", _mirrored("/gpu:0", "/gpu:1"), 2)
mirrored_strategy_with_two_gpus_no_merge_call = NamedDistribution(
    "Mirrored2GPUsNoMergeCall", _mirrored("/gpu:0", "/gpu:1"), required_physical_gpus=2
)
central_storage_strategy_with_two_gpus = NamedDistribution(
    "CentralStorage2GPUs", functools.partial(CentralStorageStrategy, ["/gpu:0", "/gpu:1"]), 2
)
central_storage_strategy_with_gpu_and_cpu = NamedDistribution(
    "CentralStorageCPUAndGPU", functools.partial(CentralStorageStrategy, ["/gpu:0", "/cpu:0"]), 1
)
multi_worker_mirrored_2x1_cpu = NamedDistribution(
    "MultiWorkerMirrored2x1CPU", MultiWorkerMirroredStrategy, has_chief=True, no_xla=True
)
multi_worker_mirrored_2x1_gpu = NamedDistribution(
    "MultiWorkerMirrored2x1GPU", MultiWorkerMirroredStrategy, 1, has_chief=True
)
multi_worker_mirrored_2x1_gpu_noshare = NamedDistribution(
    "MultiWorkerMirrored2x1GPUNoShare", MultiWorkerMirroredStrategy, 1, has_chief=True, share_gpu=False
)
multi_worker_mirrored_2x2_gpu = NamedDistribution(
    "MultiWorkerMirrored2x2GPU", MultiWorkerMirroredStrategy, 2, has_chief=True
)
multi_worker_mirrored_2x2_gpu_no_merge_call = NamedDistribution(
    "MultiWorkerMirrored2x2GPUNoMergeCall", MultiWorkerMirroredStrategy, required_physical_gpus=2, has_chief=True
)
parameter_server_strategy_1worker_2ps_cpu = NamedDistribution(
    "ParameterServer1Worker2PSCPU", ParameterServerStrategy, has_chief=True, num_ps=2
)
parameter_server_strategy_1worker_2ps_1gpu = NamedDistribution(
    "ParameterServer1Worker2PS1GPU", ParameterServerStrategy, 1, has_chief=True, num_ps=2
)
parameter_server_strategy_3worker_2ps_cpu = NamedDistribution(
    "ParameterServer3Worker2PSCPU", ParameterServerStrategy, has_chief=True, num_workers=3, num_ps=2
)
parameter_server_strategy_3worker_2ps_1gpu = NamedDistribution(
    "ParameterServer3Worker2PS1GPU", ParameterServerStrategy, 1, has_chief=True, num_workers=3, num_ps=2
)
tpu_strategy = NamedDistribution("TPU", _tpu, required_tpu=True)
tpu_strategy_one_core = NamedDistribution("TPUOneCore", _tpu, required_tpu=True)
tpu_strategy_packed_var = NamedDistribution("TPUPackedVar", _tpu, required_tpu=True)
cloud_tpu_strategy = NamedDistribution("CloudTPU", _tpu, required_tpu=True, use_cloud_tpu=True)

__all__ = [name for name, value in list(globals().items()) if isinstance(value, NamedDistribution)]
