"""What is in a checkpoint, printed.

    python -m tapeflow.tools.inspect_checkpoint --file_name=PREFIX [--tensor_name=NAME] [--all_tensors]
"""

from __future__ import annotations

import argparse
import re

import numpy as np

from tapeflow.core.errors import OpError
from tapeflow.core.public import public
from tapeflow.train import NewCheckpointReader

__all__ = ["parse_numpy_printoption", "print_tensors_in_checkpoint_file"]


@public
def print_tensors_in_checkpoint_file(
    file_name, tensor_name: str, all_tensors, all_tensor_names: bool = False, count_exclude_pattern: str = ""
):
    """Print the names and shapes of a checkpoint, or the values of its tensors, and the number of parameters.

    Args:
      file_name: the prefix of the checkpoint's files.
      tensor_name: the only tensor to print; empty for none.
      all_tensors: whether to print the values of all tensors.
      all_tensor_names: whether to print the names of all tensors.
      count_exclude_pattern: a pattern of names that are left out of the number of parameters.
    """
    try:
        reader = NewCheckpointReader(file_name)
        shapes = reader.get_variable_to_shape_map()
        if all_tensors or all_tensor_names:
            types = reader.get_variable_to_dtype_map()
            for name in sorted(shapes):
                print(f"tensor: {name} ({types[name].name}) {shapes[name]}")
                if all_tensors:
                    print(reader.get_tensor(name))
        elif tensor_name:
            print("tensor_name: ", tensor_name)
            print(reader.get_tensor(tensor_name))
        else:
            print(reader.debug_string().decode("utf-8", errors="ignore"))
    except (OpError, OSError, ValueError) as error:
        print(error)
        if re.search(r"\.(index|meta|data[^/]*)$", str(file_name)):
            prefix = str(file_name).rpartition(".")[0]
            print(f"A checkpoint is named by the prefix of its files: --file_name={prefix}")
        return
    print(f"# Total number of params: {_count_total_params(reader, count_exclude_pattern)}")


def _count_total_params(reader, count_exclude_pattern: str = ""):
    """How many numbers a checkpoint has, but for the tensors whose names have a pattern in them."""
    sizes = {name: int(np.prod(shape)) for name, shape in reader.get_variable_to_shape_map().items()}
    if count_exclude_pattern:
        out = [name for name in sizes if re.search(count_exclude_pattern, name)]
        left_out = sum(sizes.pop(name) for name in out)
        print(
            f"# Excluding {len(out)} tensors ({left_out} params) that match {count_exclude_pattern} when counting."
        )
    return sum(sizes.values())


@public
def parse_numpy_printoption(kv_str):
    """Set an option of how NumPy prints.

    Args:
      kv_str: the option as "name=value".

    Raises:
      argparse.ArgumentTypeError: for an option that is not known, or cannot be set so.
    """
    name, sign, text = kv_str.partition("=")
    if not name or not sign:
        raise argparse.ArgumentTypeError(f"'{kv_str}' is not in the form k=v.")
    options = np.get_printoptions()
    if name not in options:
        raise argparse.ArgumentTypeError(f"'{name}' is not a valid printoption.")
    kind = type(options[name])
    if options[name] is None:
        raise argparse.ArgumentTypeError(f"Setting '{name}' from the command line is not supported.")
    try:
        value = text.lower() in ("true", "t", "1", "yes") if kind is bool else kind(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    np.set_printoptions(**{name: value})


def main(arguments=None):
    """Print what the command line asks for.

    Args:
      arguments: the words after the program's name; None for those of the process.
    """
    parser = argparse.ArgumentParser(description="Print what is in a checkpoint.")
    parser.add_argument("--file_name", required=True, help="the prefix of the checkpoint's files")
    parser.add_argument("--tensor_name", default="", help="the only tensor to print")
    parser.add_argument("--count_exclude_pattern", default="", help="names that are not counted")
    parser.add_argument("--all_tensors", action="store_true", help="print the values of all tensors")
    parser.add_argument("--all_tensor_names", action="store_true", help="print the names of all tensors")
    parser.add_argument("--printoptions", nargs="*", type=parse_numpy_printoption, help="NumPy's, as name=value")
    given = parser.parse_args(arguments)
    print_tensors_in_checkpoint_file(
        given.file_name, given.tensor_name, given.all_tensors, given.all_tensor_names, given.count_exclude_pattern
    )


if __name__ == "__main__":
    main()
