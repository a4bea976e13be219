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
        "lstm_layer_1": ("step(xs)", layer(torch.nn.LSTM, 1)),
        "lstm_layer_32": ("step(xs)", layer(torch.nn.LSTM, 32)),
        "gru_layer_1": ("step(xs)", layer(torch.nn.GRU, 1)),
        "gru_layer_32": ("step(xs)", layer(torch.nn.GRU, 32)),
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


def layer(kind, batch):
    """The sum of all outputs of a recurrent layer, and those of the gradients of its weights."""
    xs = tensor(inputs.lstm(batch)[0].transpose(1, 0, 2).copy())
    made = kind(inputs.LSTM_SIZE, inputs.LSTM_SIZE, batch_first=True)
    weights = list(made.parameters())
    for w in weights:
        torch.nn.init.constant_(
            w, inputs.LAYER_WEIGHT / (2 if kind is torch.nn.LSTM and w.dim() == 1 else 1)
        )

    def step(xs):
        loss = made(xs)[0].sum()
        kernel, recurrent, bias, _ = torch.autograd.grad(loss, weights)
        return [loss, kernel.sum(), recurrent.sum(), bias.sum()]

    return {"step": step, "xs": xs}
