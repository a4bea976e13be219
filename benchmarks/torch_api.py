"""The cases in PyTorch."""

import inputs
import torch
from torch.nn import functional


def package():
    return "torch"


def tensor(array):
    return torch.from_numpy(array)


def cases():
    a, b = torch.tensor(1.5), torch.tensor(2.5)
    small = {"a": tensor(inputs.array(1, 10, 10)), "b": tensor(inputs.array(2, 10, 10))}
    million = {"torch": torch, "x": tensor(inputs.array(1, 1_000_000))}
    million["y"] = tensor(inputs.array(2, 1_000_000))
    return {
        "add_scalar": ("a + b", {"a": a, "b": b}),
        "add_10x10": ("a + b", small),
        "add_function": ("add(a, b)", {"add": torch.add, "a": a, "b": b}),
        "matmul_10x10": ("matmul(a, b)", {"matmul": torch.matmul, **small}),
        "tape_square": (
            "grad(w * w, w)",
            {"grad": torch.autograd.grad, "w": torch.tensor([[3.0]], requires_grad=True)},
        ),
        "mlp_step": ("step()", {"step": mlp_step()}),
        "add_1m": ("x + y", million),
        "tanh_1m": ("torch.tanh(x)", million),
        "matmul_1000": ("x @ x", {"x": tensor(inputs.array(3, 1000, 1000))}),
        "conv": ("step()", {"step": conv()}),
        "conv_grad": ("step()", {"step": conv_grad()}),
    }


def mlp_step():
    x, y, layers = inputs.mlp()
    x, y = tensor(x), tensor(y)
    modules = []
    for w, b in layers:
        linear = torch.nn.Linear(32, 32)
        linear.load_state_dict({"weight": tensor(w.T.copy()), "bias": tensor(b)})
        modules += [linear, torch.nn.Tanh()]
    model = torch.nn.Sequential(*modules)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step():
        optimizer.zero_grad()
        loss = functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def channels_last():
    x, k = inputs.conv()
    x = tensor(x).permute(0, 3, 1, 2)
    k = tensor(k).permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)
    return x, k


def conv():
    x, k = channels_last()
    return lambda: functional.conv2d(x, k, padding=1).permute(0, 2, 3, 1)


def conv_grad():
    x, k = channels_last()
    x.requires_grad_()
    k.requires_grad_()

    def step():
        loss = functional.conv2d(x, k, padding=1).square().mean()
        dx, dk = torch.autograd.grad(loss, [x, k])
        return dx.permute(0, 2, 3, 1), dk.permute(2, 3, 1, 0)

    return step
