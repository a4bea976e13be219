"""`tapeflow.safetensors`: tensors, and the variables of models, in the files of the safetensors library."""

from tapeflow.checkpoint.safetensors import load_file, load_model, save_file, save_model

__all__ = ["load_file", "load_model", "save_file", "save_model"]
