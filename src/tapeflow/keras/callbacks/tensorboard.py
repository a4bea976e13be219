"""What fit does, as event files for TensorBoard."""

from __future__ import annotations

import os
import time
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import context
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.files.paths import local_path
from tapeflow.core.files.whole_files import replace_file
from tapeflow.keras.callbacks.base import Callback, as_number, writes_files
from tapeflow.keras.callbacks.stopping import rate_of
from tapeflow.keras.session import values_of
from tapeflow.protos import SummaryMetadata
from tapeflow.summary import writing

if TYPE_CHECKING:
    from tapeflow.keras.engine.sequential import Sequential


class TensorBoard(Callback):
    """Writes losses and metrics, and if asked for weights, as events for TensorBoard.

    Args:
      log_dir: a folder; training goes to `train` in it, validation to `validation`.
      histogram_freq: every how many epochs histograms of weights are written; 0 for never.
      write_graph: whether the model's config is written.
      write_images: whether weights are also written as images, with the histograms.
      write_steps_per_second: whether the speed is written.
      update_freq: "batch", "epoch", or a number of batches, after which losses are written.
      profile_batch: accepted as in Keras; nothing is profiled.
      embeddings_freq: every how many epochs the embeddings are saved for TensorBoard's projector.
      embeddings_metadata: a file with a line per row of the embeddings, or a dict of such files by the layers' names.
      **kwargs: `batch_size`, `write_grads`, `embeddings_layer_names` and `embeddings_data` of Keras 2, which change
        nothing.

    Raises:
      ValueError: for other arguments.
    """

    def __init__(
        self,
        log_dir="logs",
        histogram_freq=0,
        write_graph=True,
        write_images=False,
        write_steps_per_second=False,
        update_freq="epoch",
        profile_batch=0,
        embeddings_freq=0,
        embeddings_metadata=None,
        **kwargs,
    ):
        super().__init__()
        unknown = set(kwargs) - {"batch_size", "write_grads", "embeddings_layer_names",
                                 "embeddings_data"}  # fmt: skip
        if unknown:
            raise ValueError(f"Unrecognized arguments in `TensorBoard` Callback: {sorted(unknown)}")
        self.log_dir = local_path(log_dir)
        self.histogram_freq, self.write_graph = histogram_freq, write_graph
        self.write_images = write_images
        self.write_steps_per_second = write_steps_per_second
        self.update_freq = 1 if update_freq == "batch" else update_freq
        self.profile_batch = profile_batch
        self.embeddings_freq, self.embeddings_metadata = embeddings_freq, embeddings_metadata
        self._writers = {}
        self._step = {"train": 0, "validation": 0}
        self._last = (0.0, 0)

    def _writer(self, kind: str):
        found = self._writers.get(kind)
        if found is None:
            with context.eager_mode():
                folder = os.path.join(self.log_dir, kind)
                ours = writes_files(self.model)
                found = writing.create_file_writer(folder) if ours else writing.create_noop_writer()
            self._writers[kind] = found
        return found

    def _write(self, kind: str, step: int, values: dict[str, Any]):
        with context.eager_mode(), self._writer(kind).as_default(), writing.record_if(True):
            for name, value in values.items():
                if np.ndim(value) == 0:
                    writing.scalar(name, float(value), step=step)

    def set_model(self, model):
        self.model = model
        if self.write_graph and getattr(model, "_is_graph_network", False):
            self._write_model(model)

    def _write_model(self, model: Sequential):
        try:
            described = model.to_json()
        except (NotImplementedError, TypeError) as error:
            warnings.warn(f"The model could not be written for TensorBoard: {error}", stacklevel=2)
            return
        with context.eager_mode(), self._writer("train").as_default(), writing.record_if(True):
            writing.write(
                "keras",
                convert_to_tensor(described),
                step=0,
                metadata=_of_plugin("graph_keras_model"),
            )

    def _trained(self):
        """How many batches the model was trained on."""
        return int(self.model._train_counter or 0)

    def on_train_begin(self, logs=None):
        self._step["train"] = self._trained()
        self._last = (time.time(), self._step["train"])
        if self.embeddings_freq and writes_files(self.model):
            self._write_projector()

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None):
        self._step["train"] += 1
        step = self._step["train"]
        if self.update_freq == "epoch" or step % self.update_freq:
            return
        values = {f"batch_{name}": as_number(value) for name, value in (logs or {}).items()}
        if self.write_steps_per_second:
            now = time.time()
            spent = max(now - self._last[0], 1e-9)
            values = {"batch_steps_per_second": (step - self._last[1]) / spent, **values}
            self._last = (now, step)
        self._write("train", step, values)

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None):
        self._began = (time.time(), self._step["train"])

    def on_epoch_end(self, epoch, logs=None):
        logs = dict(logs or {})
        train = {f"epoch_{n}": v for n, v in logs.items() if not n.startswith("val_")}
        rate = rate_of(self.model.optimizer)
        if rate is not None:
            train["epoch_learning_rate"] = rate
        if self.write_steps_per_second:
            spent = max(time.time() - self._began[0], 1e-9)
            train["epoch_steps_per_second"] = (self._step["train"] - self._began[1]) / spent
        self._write("train", epoch, train)
        validation = {f"epoch_{n[4:]}": v for n, v in logs.items() if n.startswith("val_")}
        if validation:
            self._write("validation", epoch, validation)
        if self.histogram_freq and epoch % self.histogram_freq == 0:
            self._write_weights(epoch)
        if self.embeddings_freq and epoch % self.embeddings_freq == 0:
            self.model.save_weights(
                os.path.join(self.log_dir, "train", f"keras_embedding.ckpt-{epoch}")
            )

    def on_test_end(self, logs=None):
        values = {f"evaluation_{n}_vs_iterations": v for n, v in (logs or {}).items()}
        self._write("validation", self._trained(), values)

    def _write_weights(self, epoch):
        with context.eager_mode(), self._writer("train").as_default(), writing.record_if(True):
            for layer in self.model.layers:
                for weight, value in zip(layer.weights, values_of(layer.weights)):
                    name = getattr(weight, "path", weight.name).replace(":", "_")
                    writing.histogram(f"{name}/histogram", value, step=epoch)
                    picture = _as_image(value) if self.write_images else None
                    if picture is not None:
                        writing.image(f"{name}/image", picture, step=epoch)

    def _write_projector(self):
        lines = []
        for layer in self.model.layers:
            if type(layer).__name__ != "Embedding":
                continue
            names = self.embeddings_metadata
            path = names.get(layer.name) if isinstance(names, dict) else names
            lines.append("embeddings {")
            lines.append(f'  tensor_name: "{layer.name}/.ATTRIBUTES/VARIABLE_VALUE"')
            if path is not None:
                lines.append(f'  metadata_path: "{path}"')
            lines.append("}")
        os.makedirs(os.path.join(self.log_dir, "train"), exist_ok=True)
        path = os.path.join(self.log_dir, "train", "projector_config.pbtxt")
        replace_file(path, ("\n".join(lines) + "\n").encode())

    def on_train_end(self, logs: dict[str, Any] | None = None):
        for writer in self._writers.values():
            with context.eager_mode():
                writer.close()
        self._writers = {}


def _of_plugin(name: str):
    metadata = SummaryMetadata()
    metadata.plugin_data.plugin_name = name
    return metadata


def _as_image(weight: np.ndarray):
    """A weight as a batch of grey pictures, None for one of too many axes."""
    shape = np.squeeze(weight).shape
    value = np.squeeze(weight)
    if len(shape) == 1:
        return value.reshape(1, shape[0], 1, 1)
    if len(shape) == 2:
        value = value if shape[0] <= shape[1] else value.T
        return value.reshape(1, *value.shape, 1)
    if len(shape) == 3:
        return value.transpose(2, 0, 1)[..., None]
    if len(shape) == 4 and shape[-1] in (1, 3, 4):
        return value
    return None
