"""Training, data and checkpoints in PyTorch.

The steps of the dense networks are compiled by `torch.compile` where a row is not eager; those of the LSTM, which it
leaves as it is, and of the ResNet, which it takes minutes for, are eager in both.
"""

import torch
import training_inputs as inputs
from torch import nn
from torch.nn import functional as F


def package():
    return "torch"


def cases():
    found = {}
    for key, wrap in (("", torch.compile), ("_eager", lambda f: f)):
        for case, make in {"mlp": mlp, "cnn": cnn, "block": block}.items():
            found[case + key] = step_of(wrap, *make())
        found["language" + key] = language()
        found["resnet" + key] = step_of(lambda f: f, *resnet())
        found["adam" + key] = adam_of_hundred()
        found["table" + key] = table()
    return {**found, "shuffle": shuffle(), **checkpoint()}


def step_of(wrap, model, optimizer, loss_of, x, y):
    """Forward, backward and update, of one batch; the loss."""
    forward = wrap(lambda x, y: loss_of(model(x), y))

    def step(x, y):
        optimizer.zero_grad()
        loss = forward(x, y)
        loss.backward()
        optimizer.step()
        return loss

    return "step(x, y)", {"step": step, "x": x, "y": y}


def adam(parameters):
    return torch.optim.Adam(parameters, inputs.LEARNING_RATE, eps=1e-7, fused=True)


def set_to(parameter, value):
    with torch.no_grad():
        parameter.copy_(torch.from_numpy(value))


def linear(matrix, bias):
    layer = nn.Linear(*matrix.shape)
    set_to(layer.weight, matrix.T)
    set_to(layer.bias, bias)
    return layer


def conv(kernel, **options):
    height, _, n_in, n_out = kernel.shape
    layer = nn.Conv2d(n_in, n_out, height, **options)
    set_to(layer.weight, kernel.transpose(3, 2, 0, 1))
    nn.init.zeros_(layer.bias)
    return layer


def digits(*shape):
    x, y = inputs.digits(*shape)
    return torch.from_numpy(x), torch.from_numpy(y).long()


def mlp():
    w1, b1, w2, b2 = inputs.mlp()
    model = nn.Sequential(linear(w1, b1), nn.ReLU(), linear(w2, b2))
    return model, adam(model.parameters()), F.cross_entropy, *digits(128, 784)


def cnn():
    k1, _, k2, _, w1, b1, w2, b2 = inputs.cnn()
    channels_first = w1.reshape(12, 12, 64, 128).transpose(2, 0, 1, 3)
    w1 = channels_first.reshape(w1.shape)
    model = nn.Sequential(
        conv(k1), nn.ReLU(), conv(k2), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        linear(w1, b1), nn.ReLU(), linear(w2, b2),
    )  # fmt: skip
    x, y = digits(64, 28, 28, 1)
    return model, adam(model.parameters()), F.cross_entropy, x.permute(0, 3, 1, 2).contiguous(), y


def language():
    x, y, (embedding, kernel, recurrent, bias, w, b) = inputs.language()
    words = nn.Embedding.from_pretrained(torch.from_numpy(embedding), freeze=False)
    lstm = nn.LSTM(inputs.WIDTH, inputs.WIDTH, batch_first=True)
    set_to(lstm.weight_ih_l0, kernel.T)
    set_to(lstm.weight_hh_l0, recurrent.T)
    set_to(lstm.bias_ih_l0, bias)
    lstm.bias_hh_l0 = nn.Parameter(torch.zeros(len(bias)), requires_grad=False)
    output = linear(w, b)
    parameters = [p for part in (words, lstm, output) for p in part.parameters() if p.requires_grad]
    optimizer = torch.optim.SGD(parameters, 1.0)
    x, y = torch.from_numpy(x).long(), torch.from_numpy(y).long()

    def step():
        optimizer.zero_grad()
        logits = output(lstm(words(x))[0])
        loss = F.cross_entropy(logits.reshape(-1, inputs.WORDS), y.reshape(-1))
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, inputs.MOST_NORM)
        optimizer.step()
        return loss

    return "step()", {"step": step}


class Block(nn.Module):
    def __init__(self, weights, width):
        super().__init__()
        self.dense = nn.ModuleDict({name: linear(*pair) for name, pair in weights.items()})
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))

    def heads(self, name, x):
        return self.dense[name](x).unflatten(-1, (inputs.HEADS, -1)).transpose(1, 2)

    def forward(self, x):
        q, k, v = (self.heads(name, x) for name in "qkv")
        seen = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        x = self.norms[0](x + self.dense["o"](seen))
        inner = F.gelu(self.dense["up"](x), approximate="tanh")
        return self.norms[1](x + self.dense["down"](inner))


def block():
    x, y, weights = inputs.block()
    model = Block(weights, x.shape[-1])
    return model, adam(model.parameters()), F.mse_loss, torch.from_numpy(x), torch.from_numpy(y)


class Bottleneck(nn.Module):
    def __init__(self, name, n_in, width, stride):
        super().__init__()
        cut = n_in != 4 * width
        self.short = normed(f"{name}_0", 1, n_in, 4 * width, stride) if cut else nn.Identity()
        self.a = normed(f"{name}_1", 1, n_in, width, stride)
        self.b = normed(f"{name}_2", 3, width, width)
        self.c = normed(f"{name}_3", 1, width, 4 * width)

    def forward(self, x):
        return F.relu(self.short(x) + self.c(F.relu(self.b(F.relu(self.a(x))))))


def normed(name, size, n_in, n_out, stride=1):
    kernel = inputs.kernel(f"{name}_conv", size, size, n_in, n_out)
    norm = nn.BatchNorm2d(n_out, eps=1.001e-5, momentum=0.01)
    return nn.Sequential(conv(kernel, stride=stride, padding=size // 2), norm)


def resnet():
    """ResNet-50 as Keras has it: strides in a block's first convolution, biases."""
    layers = [normed("conv1", 7, 3, 64, 2), nn.ReLU(), nn.ZeroPad2d(1), nn.MaxPool2d(3, 2)]
    n_in = 64
    for stack, (blocks, width) in enumerate([(3, 64), (4, 128), (6, 256), (3, 512)]):
        for i in range(blocks):
            stride = 2 if stack and not i else 1
            layers.append(Bottleneck(f"conv{stack + 2}_block{i + 1}", n_in, width, stride))
            n_in = 4 * width
    last = linear(inputs.kernel("predictions", n_in, 1000), inputs.np.zeros(1000, "f4"))
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), last)
    model = model.to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), inputs.LEARNING_RATE / 10, momentum=0.9)
    x, y = inputs.images()
    x = torch.from_numpy(x).permute(0, 3, 1, 2)
    return model, optimizer, F.cross_entropy, x, torch.from_numpy(y).long()


def adam_of_hundred():
    parameters = []
    for value, gradient in zip(*inputs.hundred()):
        parameters.append(nn.Parameter(torch.from_numpy(value)))
        parameters[-1].grad = torch.from_numpy(gradient)
    optimizer = adam(parameters)

    def step():
        optimizer.step()
        return parameters[-1]

    return "step()", {"step": step}


def table():
    values, rows, factors = map(torch.from_numpy, inputs.table())
    words = nn.Embedding.from_pretrained(values, freeze=False, sparse=True)
    optimizer, rows = torch.optim.SGD(words.parameters(), 0.1), rows.long()

    def step():
        optimizer.zero_grad()
        loss = (words(rows) * factors).sum()
        loss.backward()
        optimizer.step()
        return loss

    return "step()", {"step": step}


def shuffle():
    dataset = torch.utils.data.TensorDataset(torch.from_numpy(inputs.examples()))
    loader = torch.utils.data.DataLoader(dataset, batch_size=32, shuffle=True)

    def epoch(of_batch=len):
        return sum(of_batch(batch) for (batch,) in loader)

    return "epoch()", {"epoch": epoch}, "epoch(lambda batch: batch.numpy().sum(dtype='f8'))"


def checkpoint():
    parameters = {key: nn.Parameter(torch.from_numpy(v)) for key, v in inputs.gigabyte().items()}
    model = nn.ParameterDict(parameters)
    prefix = inputs.folder() / "torch.pt"

    def save():
        torch.save(model.state_dict(), prefix)
        inputs.to_disk(prefix)
        return model["v7"][0]

    def restore():
        model.load_state_dict(torch.load(prefix))
        return model["v7"][0]

    return inputs.checkpoint_cases(prefix, save, restore)
