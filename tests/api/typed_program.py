"""A program as users write them. mypy must find nothing in it; see `test_typed_program.py`, which runs it too."""

import tempfile

import numpy as np

import tapeflow as tf

# Eager tensors.
matrix = tf.constant([[1.0, 2.0], [3.0, 4.0]])
total = tf.reduce_sum(tf.matmul(matrix, matrix, transpose_b=True), axis=0)
scaled = tf.cast(total, tf.int32) * 2 + 1
print(scaled.numpy().tolist(), matrix.shape, matrix.dtype.name)
parts = tf.concat([matrix, tf.zeros([1, 2])], axis=0)[1:, ::2]
labels = tf.one_hot(np.array([0, 1, 1]), depth=2)
print(tf.strings.join(["a", "b"], separator="-"), tf.shape(parts), tf.argmax(labels, axis=1))

# A variable and a tape.
weights = tf.Variable(tf.random.normal([2, 1], seed=1), name="weights")
bias = tf.Variable(0.0)
with tf.GradientTape(persistent=True) as tape:
    error = tf.square(tf.squeeze(matrix @ weights, axis=1) + bias - tf.constant([0.0, 1.0]))
    loss = tf.reduce_mean(error)
for variable, gradient in zip([weights, bias], tape.gradient(loss, [weights, bias])):
    variable.assign_sub(0.1 * gradient)


@tf.function(input_signature=[tf.TensorSpec([None], tf.float32), tf.TensorSpec([], tf.int32)])
def newton(x, steps):
    y = x
    for _ in tf.range(steps):
        y = (y + x / y) / 2.0
    return y


print(newton(tf.constant([2.0, 9.0]), tf.constant(5)))


class Scale(tf.keras.layers.Layer):
    def build(self, input_shape):
        self.factor = self.add_weight(name="factor", shape=(), initializer="ones", trainable=True)

    def call(self, inputs):
        return inputs * self.factor


# A model and what feeds it.
model = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu"), Scale(), tf.keras.layers.Dense(1)])
model.compile(optimizer=tf.keras.optimizers.Adam(1e-2), loss="mse", metrics=["mae"])
features = np.random.default_rng(0).normal(size=(32, 3)).astype("float32")
targets = features.sum(axis=1, keepdims=True)
dataset = tf.data.Dataset.from_tensor_slices((features, targets)).shuffle(32, seed=1)
dataset = dataset.map(lambda x, y: (x * 2.0, y)).batch(8, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
history = model.fit(dataset, epochs=2, verbose=0, callbacks=[tf.keras.callbacks.EarlyStopping(monitor="loss")])
print(sorted(history.history), model.predict(features[:2], verbose=0).shape)
for batch, wanted in dataset.take(1):
    print(batch.shape, wanted.shape)
with tempfile.TemporaryDirectory() as folder:
    checkpoint = tf.train.Checkpoint(model=model, step=tf.Variable(1))
    tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2).save()

# Names of 1.x.
with tf.compat.v1.Graph().as_default():
    placeholder = tf.compat.v1.placeholder(tf.float32, [None, 2], name="x")
    with tf.compat.v1.variable_scope("layer", reuse=tf.compat.v1.AUTO_REUSE):
        kernel = tf.compat.v1.get_variable("kernel", [2, 1], initializer=tf.compat.v1.ones_initializer())
    product = tf.compat.v1.matmul(placeholder, kernel)
    with tf.compat.v1.Session() as session:
        session.run(tf.compat.v1.global_variables_initializer())
        print(session.run(product, feed_dict={placeholder: [[1.0, 2.0]]}))
