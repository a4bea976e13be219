"""Vectors for integers."""

from __future__ import annotations

from tapeflow.core import dtypes
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import constraints, initializers, regularizers
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.ops.casting import cast
from tapeflow.ops.comparison import not_equal
from tapeflow.ops.embedding import embedding_lookup


class Embedding(Layer):
    """Integers in [0, input_dim) -> vectors of output_dim numbers, along a new last axis."""

    def __init__(
        self,
        input_dim,
        output_dim,
        embeddings_initializer="uniform",
        embeddings_regularizer=None,
        activity_regularizer=None,
        embeddings_constraint=None,
        mask_zero=False,
        input_length=None,
        **kwargs,
    ):
        if "input_shape" not in kwargs and "batch_input_shape" not in kwargs:
            kwargs["input_shape"] = (input_length,) if input_length else (None,)
        if input_dim <= 0 or output_dim <= 0:
            raise ValueError(
                "Both `input_dim` and `output_dim` should be positive, Received "
                f"input_dim = {input_dim} and output_dim = {output_dim}"
            )
        kwargs["autocast"] = False
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self.input_dim, self.output_dim = input_dim, output_dim
        self.embeddings_initializer = initializers.get(embeddings_initializer)
        self.embeddings_regularizer = regularizers.get(embeddings_regularizer)
        self.embeddings_constraint = constraints.get(embeddings_constraint)
        self.mask_zero = self.supports_masking = mask_zero
        self.input_length = input_length

    def build(self, input_shape):
        self.embeddings = self.add_weight(
            "embeddings",
            [self.input_dim, self.output_dim],
            initializer=self.embeddings_initializer,
            regularizer=self.embeddings_regularizer,
            constraint=self.embeddings_constraint,
        )
        self.built = True

    def compute_mask(self, inputs, mask=None):
        return not_equal(inputs, 0) if self.mask_zero else None

    def call(self, inputs):
        if inputs.dtype != dtypes.int32 and inputs.dtype != dtypes.int64:
            inputs = cast(inputs, dtypes.int32)
        return embedding_lookup(self.embeddings, inputs)

    def compute_output_shape(self, input_shape):
        return TensorShape([*TensorShape(input_shape).as_list(), self.output_dim])

    def get_config(self):
        return {
            **super().get_config(),
            "input_dim": self.input_dim,
            "output_dim": self.output_dim,
            "embeddings_initializer": initializers.serialize(self.embeddings_initializer),
            "embeddings_regularizer": regularizers.serialize(self.embeddings_regularizer),
            "activity_regularizer": regularizers.serialize(self.activity_regularizer),
            "embeddings_constraint": constraints.serialize(self.embeddings_constraint),
            "mask_zero": self.mask_zero,
            "input_length": self.input_length,
        }
