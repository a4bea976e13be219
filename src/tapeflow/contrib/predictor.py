"""`tf.contrib.predictor`: functions of arrays, made of saved models and of estimators."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tapeflow.compat import v1
from tapeflow.estimator import Estimator, ModeKeys
from tapeflow.estimator.export import PredictOutput

if TYPE_CHECKING:
    from tapeflow.graph.graph import Graph

__all__ = ["Predictor", "from_estimator", "from_saved_model"]

_DEFAULT = "serving_default"


class Predictor:
    """A function of a dict of arrays, which returns a dict of arrays; its session stays open.

    Args:
      graph: the graph; `session`: the session.
      feed_tensors, fetch_tensors: dicts of tensors.
    """

    def __init__(self, graph: Graph, session: Any, feed_tensors: dict[str, Any], fetch_tensors: dict[str, Any]):
        self._graph, self._session = graph, session
        self._feed_tensors, self._fetch_tensors = feed_tensors, fetch_tensors

    @property
    def graph(self):
        """The graph."""
        return self._graph

    @property
    def session(self):
        """The session."""
        return self._session

    @property
    def feed_tensors(self):
        """The inputs by name."""
        return self._feed_tensors

    @property
    def fetch_tensors(self):
        """The outputs by name."""
        return self._fetch_tensors

    def __repr__(self):
        return (
            f"{type(self).__name__} with feed tensors {self._feed_tensors} and fetch_tensors {self._fetch_tensors}"
        )

    def __call__(self, input_dict: dict[str, Any]):
        """The outputs for inputs. Raises ValueError for names that the inputs do not have."""
        others = set(input_dict) - set(self._feed_tensors)
        if others:
            raise ValueError(
                f"Got unexpected keys in input_dict: {others}\nexpected: {set(self._feed_tensors)}"
            )
        feeds = {
            tensor: input_dict[name]
            for name, tensor in self._feed_tensors.items()
            if input_dict.get(name) is not None
        }
        return self._session.run(self._fetch_tensors, feeds)


def _named(graph: Graph, infos):
    return {name: graph.get_tensor_by_name(info.name) for name, info in infos.items()}


def _check(
    signature_def_key: str | None, signature_def, input_names: dict[str, Any] | None,
    output_names: dict[str, Any] | None,
):
    if (input_names is None) != (output_names is None):
        raise ValueError("input_names and output_names must both be specified or both be unspecified.")
    if sum(x is not None for x in (signature_def_key, signature_def, input_names)) > 1:
        raise ValueError(
            "You must specify at most one of signature_def_key OR signature_def OR(input_names AND output_names)."
        )


def _signature(meta_graph, key: str):
    known = meta_graph.signature_def
    for name in (key, f"default_input_alternative:{key}"):
        if name in known:
            return known[name]
    raise ValueError(
        f'Got signature_def_key "{key}". Available signatures are {list(known)}. Original error:\n{key!r}'
    )


def from_saved_model(
    export_dir: str, signature_def_key: str | None = None, signature_def=None, input_names: Any = None,
    output_names=None, tags=None, graph: Graph | None = None, config=None,
):  # fmt: skip
    """A Predictor of a SavedModel.

    Args:
      export_dir: its folder.
      signature_def_key: the name of a signature; by default "serving_default".
      signature_def: a SignatureDef instead.
      input_names, output_names: dicts of names of tensors instead.
      tags: the tags of the graph, with commas; by default "serve".
      graph: where to load it; by default a new graph.
      config: of the session.

    Raises ValueError for more than one of these signatures, and for one that is not there.
    """
    _check(signature_def_key, signature_def, input_names, output_names)
    graph = graph or v1.Graph()
    with graph.as_default():
        session = v1.Session(config=config)
        wanted = [tag.strip() for tag in (tags or "serve").split(",")]
        meta_graph = v1.saved_model.loader.load(session, wanted, os.fspath(export_dir))
    if input_names is not None:
        feeds, fetches = (
            {name: graph.get_tensor_by_name(tensor) for name, tensor in names.items()}
            for names in (input_names, output_names)
        )
    else:
        found = signature_def or _signature(meta_graph, signature_def_key or _DEFAULT)
        feeds, fetches = _named(graph, found.inputs), _named(graph, found.outputs)
    return Predictor(graph, session, feeds, fetches)


def _output(spec, key: str):
    """What an EstimatorSpec exports under a key. Raises KeyError for one that is not there."""
    outputs = spec.export_outputs or {_DEFAULT: PredictOutput(spec.predictions)}
    if len(outputs) == 1 and _DEFAULT not in outputs:
        outputs = {**outputs, _DEFAULT: next(iter(outputs.values()))}
    if key not in outputs:
        raise KeyError(f"output_key must be one of {list(outputs)}; got {key}")
    return outputs[key]


def from_estimator(
    estimator, serving_input_receiver_fn: Callable[..., Any], output_key: str | None = None,
    graph: Graph | None = None, config=None,
):
    """A Predictor of an estimator and its last checkpoint.

    Args:
      serving_input_receiver_fn: a function that returns a ServingInputReceiver.
      output_key: which of the model's exported outputs; by default "serving_default".

    Raises TypeError for another object, and KeyError for an output that is not there.
    """
    if not isinstance(estimator, Estimator):
        raise TypeError(
            f"Expected estimator to be of type tf.python.estimator.Estimator, but got type {type(estimator)}."
        )
    graph = graph or v1.Graph()
    with graph.as_default():
        receiver = serving_input_receiver_fn()
        spec = estimator.model_fn(receiver.features, None, ModeKeys.PREDICT, estimator.config)
        signature = _output(spec, output_key or _DEFAULT).as_signature_def(receiver.receiver_tensors)
        creator = v1.train.ChiefSessionCreator(
            spec.scaffold, config=config, checkpoint_dir=estimator.model_dir
        )
        session = v1.train.MonitoredSession(creator)
    return Predictor(graph, session, _named(graph, signature.inputs), _named(graph, signature.outputs))
