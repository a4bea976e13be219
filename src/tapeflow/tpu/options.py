"""`tf.tpu.XLAOptions`."""

from __future__ import annotations

from typing import NamedTuple


class XLAOptions(NamedTuple):
    """How XLA compiles for TPUs.

    Attributes:
      use_spmd_for_xla_partitioning: whether one program runs on all parts of a tensor.
      enable_xla_dynamic_padder: whether inputs of varying shapes are padded by the compiler.
      use_shardy_partitioner: whether Shardy parts tensors.
    """

    use_spmd_for_xla_partitioning: bool = True
    enable_xla_dynamic_padder: bool = True
    use_shardy_partitioner: bool = False
