"""The cases of functions in PyTorch.

The call and the chain go through `torch.compile`. The rest is eager: there compiled code is slower
(the step of the small network, the cell), or takes minutes to compile (the unrolled loops).
"""

import inputs
import torch
from torch_api import mlp_step, tensor


def package():
    return "torch"


def cases():
    small = {"a": tensor(inputs.array(1, 10, 10)), "b": tensor(inputs.array(2, 10, 10))}
    chain = torch.compile(lambda x: (torch.tanh(x * 2 + 1) * torch.exp(-x * x)).sum())
    return {
        "op": ("a + b", small),
        "call": ("f(a, b)", {"f": torch.compile(lambda a, b: a + b), **small}),
        "range_sum": ("f(1000)", {"f": range_sum}),
        "mlp_step": ("step()", {"step": mlp_step()}),
        "lstm_1": ("step(xs)", lstm(1)),
        "lstm_32": ("step(xs)", lstm(32)),
        "chain": ("f(x)", {"f": chain, "x": tensor(inputs.array(1, 1_000_000))}),
    }


def range_sum(n):
    x = torch.tensor(0, dtype=torch.int32)
    for i in torch.arange(n, dtype=torch.int32):
        x = x + i
    return x


def lstm(batch):
    """The loss and its gradients of a cell unrolled over all steps."""
    xs, w, b = (tensor(a) for a in inputs.lstm(batch))
    w.requires_grad_()
    b.requires_grad_()

    def step(xs):
        h = c = torch.zeros(batch, inputs.LSTM_SIZE)
        for x in xs.unbind():
            i, j, f, o = torch.chunk(torch.cat([x, h], 1) @ w + b, 4, 1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(j)
            h = torch.sigmoid(o) * torch.tanh(c)
        loss = h.square().mean()
        return [loss, *torch.autograd.grad(loss, [w, b])]

    return {"step": step, "xs": xs}
