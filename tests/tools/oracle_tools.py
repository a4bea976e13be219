"""Tools on GraphDefs, as tapeflow and TensorFlow have them.

    python oracle_tools.py tensorflow|tapeflow FOLDER

optimizes each graph "*.pb" of a folder and writes names and ops of the nodes to "*.PACKAGE.json".
"""

import importlib
import json
import pathlib
import sys


def main(package, folder):
    """Optimize all graphs of the folder."""
    tf = importlib.import_module(package)
    tools = f"{package}.python.tools" if package == "tensorflow" else f"{package}.tools"
    optimizing = importlib.import_module(f"{tools}.optimize_for_inference_lib")
    for file in sorted(pathlib.Path(folder).glob("*.pb")):
        graph_def = tf.compat.v1.GraphDef.FromString(file.read_bytes())
        made = optimizing.optimize_for_inference(graph_def, ["x"], ["y"], tf.float32.as_datatype_enum)
        found = sorted([node.name, node.op, list(node.input)] for node in made.node)
        file.with_suffix(f".{package}.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
