"""`tf.lite.experimental.Analyzer`: what a model consists of, as text."""

from __future__ import annotations

from pathlib import Path

from tapeflow.core.public import public_methods
from tapeflow.lite.importing import load
from tapeflow.lite.verifying import verify


@public_methods
class Analyzer:
    """Shows models of TensorFlow Lite. Needs the extra `lite`."""

    @staticmethod
    def analyze(model_path=None, model_content=None, gpu_compatibility: bool = False, **kwargs):
        """Print the subgraphs, operators and tensors of a model.

        Args:
          model_path: the file of the model, or
          model_content: its bytes.
          gpu_compatibility: whether to say which operators the GPU delegate cannot run.
          **kwargs: none are known.

        Raises:
          ValueError: neither is given, or the bytes are no model.
          TypeError: another argument is given.
        """
        if kwargs:
            raise TypeError(f"analyze() got an unexpected keyword argument {next(iter(kwargs))!r}")
        if not model_path and not model_content:
            raise ValueError("neither `model_path` nor `model_content` is provided")
        content = Path(model_path).read_bytes() if model_path else bytes(model_content)
        verify(content)
        print(load("ai_edge_litert._pywrap_analyzer_wrapper").ModelAnalyzer(content, False, gpu_compatibility))
