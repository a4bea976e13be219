"""The loss of dense labels, for labels that fit and labels that do not."""


def make(tf):
    def look(logits):
        labels, counts = tf.constant([[1, 1], [2, 0], [0, 0], [1, 2]]), tf.constant([2, 1, 0, 2])
        with tf.GradientTape() as tape:
            tape.watch(logits)
            loss = tf.nn.ctc_loss(labels, logits, counts, tf.constant([4, 2, 3, 1]), blank_index=0)
        return loss, tape.gradient(loss, logits)

    module = tf.Module()
    module.look = tf.function(look, input_signature=[tf.TensorSpec([None, None, 3], tf.float32)])
    return module


def look_at(tf, module):
    logits = tf.sin(tf.reshape(tf.range(48, dtype=tf.float32), [4, 4, 3]))
    return [x.numpy().tolist() for x in module.look(logits)]
