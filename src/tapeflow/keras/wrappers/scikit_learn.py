"""Models as estimators of scikit-learn: `KerasClassifier` and `KerasRegressor`."""

from __future__ import annotations

import copy
import importlib
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow.core.annotations import TensorLike
from tapeflow.core.public import boundaries
from tapeflow.keras.models import Sequential
from tapeflow.keras.utils import to_categorical

_METHODS = (Sequential.fit, Sequential.predict, Sequential.evaluate)


class BaseWrapper:
    """A model that is made, by a function, whenever it is fitted.

    Args:
      build_fn: returns a compiled model; None: the method `__call__` of a subclass.
      **sk_params: arguments of `build_fn`, and of the model's `fit`, `predict` and `evaluate`.

    Raises:
      ValueError: for an unknown argument.
    """

    _kind = ""

    def __init__(self, build_fn: Any = None, **sk_params: Any):
        self.build_fn = build_fn
        self.sk_params = sk_params
        self.check_params(sk_params)

    def _builder(self) -> Any:
        if self.build_fn is None:
            return self.__call__  # type: ignore[operator]
        return self.build_fn if inspect.isroutine(self.build_fn) else self.build_fn.__call__

    def check_params(self, params: Any) -> None:
        """Raise ValueError for a name that is an argument of nothing."""
        known = (self._builder(), *_METHODS)
        for name in params:
            if not any(_takes(function, name) for function in known):
                raise ValueError(f"{name} is not a legal parameter")

    def get_params(self, **params: Any) -> dict[str, Any]:
        """Return the arguments of the constructor.

        Args:
          **params: not used; scikit-learn gives `deep`.
        """
        return {**copy.deepcopy(self.sk_params), "build_fn": self.build_fn}

    def set_params(self, **params: Any) -> BaseWrapper:
        """Set arguments of the constructor; returns the object itself.

        Raises:
          ValueError: for one that is not known.
        """
        self.check_params({name: value for name, value in params.items() if name != "build_fn"})
        self.build_fn = params.pop("build_fn", self.build_fn)
        self.sk_params.update(params)
        return self

    def fit(self, x: TensorLike, y: TensorLike, **kwargs: Any) -> Any:
        """Make a model, and train it.

        Args:
          x, y: inputs and targets.
          **kwargs: further arguments of `fit` of a model.

        Returns:
          The history of the training.
        """
        builder = self._builder()
        self.model = builder(**self.filter_sk_params(builder))
        return self.model.fit(x, self._targets(y), **{**self.filter_sk_params(Sequential.fit), **kwargs})

    def filter_sk_params(self, fn: Callable[..., Any], override: Any = None) -> dict[str, Any]:
        """Return the arguments of the constructor that are arguments of `fn`, and those of `override`."""
        return {name: value for name, value in self.sk_params.items() if _takes(fn, name)} | dict(override or {})

    def _targets(self, y: Any) -> Any:
        """The targets as the loss takes them."""
        loss = getattr(self.model, "loss", None)
        name = getattr(loss, "__name__", loss)
        return to_categorical(y) if name == "categorical_crossentropy" and np.ndim(y) != 2 else y

    def _evaluated(self, x: Any, y: Any, kwargs: Any) -> dict[str, Any]:
        settings = self.filter_sk_params(Sequential.evaluate, kwargs)
        return self.model.evaluate(x, self._targets(y), return_dict=True, **settings)

    def __sklearn_tags__(self) -> Any:
        utils = importlib.import_module("sklearn.utils")
        classifier = utils.ClassifierTags() if self._kind == "classifier" else None
        regressor = utils.RegressorTags() if self._kind == "regressor" else None
        targets = utils.TargetTags(required=True)
        return utils.Tags(
            estimator_type=self._kind, target_tags=targets, classifier_tags=classifier, regressor_tags=regressor
        )


class KerasClassifier(BaseWrapper):
    """A model that tells classes, as a classifier of scikit-learn; the arguments are those of the base class."""

    _kind = _estimator_type = "classifier"

    def fit(self, x: TensorLike, y: TensorLike, **kwargs: Any) -> Any:
        """Make a model, and train it.

        Args:
          x: inputs.
          y: the classes, numbers or names of any kind, or one column for each class.
          **kwargs: further arguments of `fit` of a model.

        Returns:
          The history of the training.

        Raises:
          ValueError: for targets of another shape.
        """
        y = np.array(y)
        if y.ndim == 2 and y.shape[1] > 1:
            self.classes_ = np.arange(y.shape[1])
        elif y.ndim == 1 or (y.ndim == 2 and y.shape[1] == 1):
            self.classes_ = np.unique(y)
            y = np.searchsorted(self.classes_, y)
        else:
            raise ValueError(f"Invalid shape for y: {y.shape}")
        self.n_classes_ = len(self.classes_)
        return super().fit(x, y, **kwargs)

    def predict(self, x: Any, **kwargs: Any) -> np.ndarray:
        """Return the class of each input.

        Args:
          x: inputs.
          **kwargs: further arguments of `predict` of a model.
        """
        chances = self.model.predict(x, **self.filter_sk_params(Sequential.predict, kwargs))
        best = chances.argmax(-1) if chances.shape[-1] > 1 else (chances > 0.5).astype("int32")
        return self.classes_[best]

    def predict_proba(self, x: TensorLike, **kwargs: Any) -> np.ndarray:
        """Return the probability of each class for each input.

        Args:
          x: inputs.
          **kwargs: further arguments of `predict` of a model.
        """
        chances = self.model.predict(x, **self.filter_sk_params(Sequential.predict, kwargs))
        return np.hstack([1 - chances, chances]) if chances.shape[1] == 1 else chances

    def score(self, x: Any, y: Any, **kwargs: Any) -> float:
        """Return the share of inputs whose class is right.

        Args:
          x, y: inputs, and their classes.
          **kwargs: further arguments of `evaluate` of a model.

        Raises:
          ValueError: for a model that does not measure its accuracy.
        """
        found = self._evaluated(x, np.searchsorted(self.classes_, y), kwargs)
        for name in ("accuracy", "acc"):
            if name in found:
                return found[name]
        raise ValueError(
            "The model is not configured to compute accuracy. You should pass `metrics=[\"accuracy\"]` to the "
            "`model.compile()` method."
        )


class KerasRegressor(BaseWrapper):
    """A model that tells numbers, as a regressor of scikit-learn; the arguments are those of the base class."""

    _kind = _estimator_type = "regressor"

    def predict(self, x: Any, **kwargs: Any) -> np.ndarray:
        """Return the number of each input.

        Args:
          x: inputs.
          **kwargs: further arguments of `predict` of a model.
        """
        return np.squeeze(self.model.predict(x, **self.filter_sk_params(Sequential.predict, kwargs)), axis=-1)

    def score(self, x: TensorLike, y: TensorLike, **kwargs: Any) -> float:
        """Return the loss with the sign turned, so that more is better.

        Args:
          x, y: inputs and targets.
          **kwargs: further arguments of `evaluate` of a model.
        """
        return -self._evaluated(x, y, kwargs)["loss"]


def _takes(function: Any, name: str) -> bool:
    return name in inspect.signature(function).parameters


boundaries(globals())
