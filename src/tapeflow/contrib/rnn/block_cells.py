"""Cells of 1.x that one op computes."""

from __future__ import annotations

from tapeflow.core.annotations import DTypeLike
from tapeflow.v1.rnn.cells import GRUCell, LSTMCell


class LSTMBlockCell(LSTMCell):
    """LSTMCell under the name of its fused kernel."""

    def __init__(
        self, num_units: int, forget_bias: float = 1.0, cell_clip=None, use_peephole: bool = False,
        dtype: DTypeLike | None = None, reuse=None, name: str = "lstm_cell",
    ):  # fmt: skip
        super().__init__(
            num_units, use_peepholes=use_peephole, cell_clip=cell_clip, forget_bias=forget_bias,
            reuse=reuse, name=name, dtype=dtype,
        )  # fmt: skip


class GRUBlockCellV2(GRUCell):
    """GRUCell under the name of its fused kernel."""

    def __init__(self, num_units=None, cell_size=None, reuse=None, name: str = "gru_cell"):
        super().__init__(num_units if cell_size is None else cell_size, reuse=reuse, name=name)


GRUBlockCell = GRUBlockCellV2
