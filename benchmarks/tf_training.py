"""Training, data and checkpoints in TensorFlow's API, for tapeflow and TensorFlow alike."""

import importlib
import os
import time

import training_inputs as inputs

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def package(name):
    return name


def cases(name):
    tf = importlib.import_module(name)
    found = {}
    for key, wrap in (("", tf.function), ("_eager", lambda f: f)):
        for case, make in {"mlp": mlp, "cnn": cnn, "language": language, "block": block}.items():
            found[case + key] = step_of(tf, wrap, *make(tf))
        found["resnet" + key] = step_of(tf, wrap, *resnet(tf))
        found["adam" + key] = adam_of_hundred(tf, wrap)
        found["table" + key] = table(tf, wrap)
    return {**found, "shuffle": shuffle(tf), **records(tf, name), **checkpoint(tf, name)}


def step_of(tf, wrap, model, optimizer, loss_of, x, y):
    """Forward, backward and update, of one batch; the loss."""
    variables = model.trainable_variables
    optimizer.build(variables)

    @wrap
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x, training=True))
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    return "step(x, y)", {"step": step, "x": tf.constant(x), "y": tf.constant(y)}


def adam(tf):
    return tf.keras.optimizers.Adam(inputs.LEARNING_RATE, epsilon=1e-7)


def cross_entropy(tf):
    return tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def digits_model(tf):
    layers = tf.keras.layers
    model = [tf.keras.Input((784,)), layers.Dense(128, "relu"), layers.Dense(10)]
    model = tf.keras.Sequential(model)
    model.set_weights(inputs.mlp())
    return model


def mlp(tf):
    return digits_model(tf), adam(tf), cross_entropy(tf), *inputs.digits(128, 784)


def cnn(tf):
    layers = tf.keras.layers
    model = tf.keras.Sequential([
        tf.keras.Input((28, 28, 1)), layers.Conv2D(32, 3, activation="relu"),
        layers.Conv2D(64, 3, activation="relu"), layers.MaxPooling2D(), layers.Flatten(),
        layers.Dense(128, "relu"), layers.Dense(10),
    ])  # fmt: skip
    model.set_weights(inputs.cnn())
    return model, adam(tf), cross_entropy(tf), *inputs.digits(64, 28, 28, 1)


def language(tf):
    x, y, weights = inputs.language()
    layers = tf.keras.layers
    model = tf.keras.Sequential([
        tf.keras.Input((inputs.STEPS,), dtype="int32"),
        layers.Embedding(inputs.WORDS, inputs.WIDTH),
        layers.LSTM(inputs.WIDTH, return_sequences=True), layers.Dense(inputs.WORDS),
    ])  # fmt: skip
    model.set_weights(weights)
    optimizer = tf.keras.optimizers.SGD(1.0, global_clipnorm=inputs.MOST_NORM)
    return model, optimizer, cross_entropy(tf), x, y


def block(tf):
    x, y, weights = inputs.block()
    layers = tf.keras.layers

    class Block(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = {name: layers.Dense(bias.size) for name, (_, bias) in weights.items()}
            self.norms = [layers.LayerNormalization(epsilon=1e-5) for _ in range(2)]

        def heads(self, name, x):
            split = tf.reshape(self.dense[name](x), [*x.shape[:2], inputs.HEADS, -1])
            return tf.transpose(split, [0, 2, 1, 3])

        def call(self, x):
            q, k, v = (self.heads(name, x) for name in "qkv")
            weights = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * q.shape[-1] ** -0.5)
            seen = tf.reshape(tf.transpose(tf.matmul(weights, v), [0, 2, 1, 3]), x.shape)
            x = self.norms[0](x + self.dense["o"](seen))
            inner = tf.nn.gelu(self.dense["up"](x), approximate=True)
            return self.norms[1](x + self.dense["down"](inner))

    model = Block()
    model(tf.constant(x))
    for name, layer in model.dense.items():
        layer.set_weights(weights[name])
    return model, adam(tf), tf.keras.losses.MeanSquaredError(), x, y


def resnet(tf):
    model = tf.keras.applications.ResNet50(weights=None, classifier_activation=None)
    for layer in model.layers:
        if hasattr(layer, "kernel"):
            kernel, bias = layer.get_weights()
            layer.set_weights([inputs.kernel(layer.name, *kernel.shape), bias])
    optimizer = tf.keras.optimizers.SGD(inputs.LEARNING_RATE / 10, momentum=0.9)
    return model, optimizer, cross_entropy(tf), *inputs.images()


def adam_of_hundred(tf, wrap):
    values, gradients = inputs.hundred()
    variables = [tf.Variable(value) for value in values]
    gradients = [tf.constant(gradient) for gradient in gradients]
    optimizer = adam(tf)
    optimizer.build(variables)

    @wrap
    def update():
        optimizer.apply_gradients(zip(gradients, variables))

    def step():
        update()
        return variables[-1]

    return "step()", {"step": step}


def table(tf, wrap):
    values, rows, factors = inputs.table()
    variable, rows, factors = tf.Variable(values), tf.constant(rows), tf.constant(factors)
    optimizer = tf.keras.optimizers.SGD(0.1)
    optimizer.build([variable])

    @wrap
    def step(rows):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.nn.embedding_lookup(variable, rows) * factors)
        optimizer.apply_gradients([(tape.gradient(loss, variable), variable)])
        return loss

    return "step(rows)", {"step": step, "rows": rows}


def shuffle(tf):
    examples = inputs.examples()
    dataset = tf.data.Dataset.from_tensor_slices(examples).shuffle(len(examples)).batch(32)

    def epoch(of_batch=len):
        return sum(of_batch(batch) for batch in dataset)

    check = "epoch(lambda batch: batch.numpy().sum(dtype='f8'))"
    return "epoch()", {"epoch": epoch}, check


def records(tf, name):
    path = str(inputs.folder() / f"{name}.tfrecord")

    def write():
        with tf.io.TFRecordWriter(path) as writer:
            for record in inputs.records():
                writer.write(record)
        return os.path.getsize(path)

    write()
    each, batches = tf.data.TFRecordDataset(path), tf.data.TFRecordDataset(path).batch(256)

    def read(of_record=lambda record: 1):
        return sum(of_record(record) for record in each)

    def read_batches(of_batch=len):
        return sum(of_batch(batch) for batch in batches)

    sums = "read(lambda record: sum(record.numpy()[::9]))"
    sums_of_batches = "read(lambda batch: sum(sum(record[::9]) for record in batch.numpy()))"
    return {
        "records_write": ("write()", {"write": write}),
        "records_read": ("read()", {"read": read}, sums),
        "records_batches": ("read()", {"read": read_batches}, sums_of_batches),
    }


def checkpoint(tf, name):
    variables = {key: tf.Variable(value) for key, value in inputs.gigabyte().items()}
    saved = tf.train.Checkpoint(**variables)
    prefix = inputs.folder() / f"{name}_checkpoint"

    def save():
        saved.write(str(prefix))
        inputs.to_disk(prefix)
        return variables["v7"][0]

    def restore():
        saved.read(str(prefix)).assert_consumed()
        return variables["v7"][0]

    return inputs.checkpoint_cases(prefix, save, restore)


def measures(name):
    """Seconds of a step of `fit`, and of a loop written by hand that does the same.

    Both take batches of a dataset, train the small network by Adam, and keep the mean loss and the accuracy. They
    take turns, so that neither has the quieter half of the time.
    """
    tf = importlib.import_module(name)
    steps, size = 200, 128
    dataset = tf.data.Dataset.from_tensor_slices(inputs.digits(steps * size, 784)).batch(size)
    model = digits_model(tf)
    model.compile(adam(tf), cross_entropy(tf), metrics=["accuracy"])
    fit = {"fit": lambda: model.fit(dataset, verbose=0), "loop": loop(tf, dataset)}
    least = {}
    for _ in range(12):
        for key, epoch in fit.items():
            begin = time.perf_counter()
            epoch()
            took = (time.perf_counter() - begin) / steps
            least[key] = min(took, least.get(key, took))
    return least


def loop(tf, dataset):
    """An epoch written by hand."""
    model, optimizer, loss_of = digits_model(tf), adam(tf), cross_entropy(tf)
    mean, accuracy = tf.keras.metrics.Mean(), tf.keras.metrics.SparseCategoricalAccuracy()
    variables = model.trainable_variables
    optimizer.build(variables)

    @tf.function(reduce_retracing=True)
    def step(x, y):
        with tf.GradientTape() as tape:
            outputs = model(x, training=True)
            loss = loss_of(y, outputs)
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        mean.update_state(loss)
        accuracy.update_state(y, outputs)

    def epoch():
        mean.reset_state()
        accuracy.reset_state()
        for x, y in dataset:
            step(x, y)
        return float(mean.result()), float(accuracy.result())

    return epoch
