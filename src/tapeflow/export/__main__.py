"""`python -m tapeflow.export SAVED_MODEL FOLDER`: a signature of a SavedModel as a graph model of TF.js."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from tapeflow.core.errors import OpError
from tapeflow.export import tfjs
from tapeflow.export.weights import QUANTIZATIONS
from tapeflow.saved_model.loading import load


def main(argv: Sequence[str]) -> int:
    """Converts what the arguments name; returns the exit code."""
    parser = argparse.ArgumentParser("python -m tapeflow.export", description=__doc__)
    parser.add_argument("saved_model", help="the folder of the SavedModel")
    parser.add_argument("folder", help="where to write model.json and the weights")
    parser.add_argument("--signature", default="serving_default", help="which signature; default: serving_default")
    parser.add_argument("--quantization", choices=QUANTIZATIONS, help="how to store float weights")
    given = parser.parse_args(argv)
    try:
        model = load(given.saved_model)
        if given.signature not in model.signatures:
            raise ValueError(f"no signature {given.signature!r}; there are: {', '.join(model.signatures)}")
        print(tfjs.save(model.signatures[given.signature], given.folder, given.quantization))
    except (OpError, ValueError, OSError) as error:
        print(f"tapeflow.export: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
