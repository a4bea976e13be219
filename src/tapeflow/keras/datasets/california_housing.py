"""Prices of houses in California by 8 numbers."""

from __future__ import annotations

from tapeflow.keras.datasets.boston_housing import _ORIGIN, split
from tapeflow.keras.utils.files import get_file


def load_data(
    version: str = "large", path: str = "california_housing.npz", test_split: float = 0.2, seed: int = 113
):
    """Load prices of houses in California, and 8 numbers about each: the file is downloaded unless it is there.

    Args:
      version: "large", or "small" for the first 600 rows.
      path: the name of the file among those that were downloaded.
      test_split: the part for testing, from 0 to 1.
      seed: the seed of the order.

    Returns:
      `(x_train, y_train), (x_test, y_test)`, arrays.

    Raises:
      ValueError: for a part outside [0, 1), and another version.
    """
    if not 0 <= test_split < 1:
        raise ValueError(f"test_split must be in [0, 1), got {test_split}")
    if version not in ("large", "small"):
        raise ValueError(
            f"Argument `version` must be either 'small' or 'large'. Received: version={version}"
        )
    file = get_file(
        path, _ORIGIN + "california_housing.npz",
        file_hash="1a2e3a52e0398de6463aebe6f4a8da34fb21fbb6b934cf88c3425e766f2a1a6f",
    )  # fmt: skip
    if version == "small":
        (x, y), (x_test, y_test) = split(file, test_split, seed)
        at = int(600 * (1 - test_split))
        return (x[:at], y[:at]), (x_test[: 600 - at], y_test[: 600 - at])
    return split(file, test_split, seed)
