"""Updates by optimizers in PyTorch."""

import inputs
import torch


def package(mode=None):
    return "torch"


def cases(mode="fused"):
    found = {}
    for size, (start, gradient) in inputs.many().items():
        for key, make in DENSE.items():
            variables = [
                torch.from_numpy(start.copy()).requires_grad_() for _ in range(inputs.MANY)
            ]
            for v in variables:
                v.grad = torch.from_numpy(gradient)
            try:
                optimizer = make(
                    variables, {"fused": True} if mode == "fused" else {"foreach": True}
                )
            except (RuntimeError, TypeError):
                continue  # not every optimizer is fused
            found[f"{key}_{size}"] = (
                "step()\nlast",
                {"step": optimizer.step, "last": variables[-1]},
            )
    table, rows = inputs.rows()
    for key, make in SPARSE.items():
        layer = torch.nn.Embedding.from_pretrained(
            torch.from_numpy(table.copy()), freeze=False, sparse=True
        )
        optimizer = make(layer.parameters())
        found[key] = ("step()", {"step": train(layer, optimizer, torch.from_numpy(rows))})
    return found


def train(layer, optimizer, rows):
    def step():
        optimizer.zero_grad()
        loss = (layer(rows) ** 2).sum()
        loss.backward()
        optimizer.step()
        return loss

    return step


DENSE = {
    "sgd": lambda p, how: torch.optim.SGD(p, 1e-3, **how),
    "momentum": lambda p, how: torch.optim.SGD(p, 1e-3, 0.9, **how),
    "adam": lambda p, how: torch.optim.Adam(p, 1e-3, eps=1e-7, **how),
    "rmsprop": lambda p, how: torch.optim.RMSprop(p, 1e-3, alpha=0.9, eps=1e-7, **how),
}
SPARSE = {
    "sparse_sgd": lambda p: torch.optim.SGD(p, 1e-3),
    "sparse_adagrad": lambda p: torch.optim.Adagrad(
        p, 1e-3, initial_accumulator_value=0.1, eps=1e-7
    ),
    "sparse_adam": lambda p: torch.optim.SparseAdam(p, 1e-3, eps=1e-7),
}
