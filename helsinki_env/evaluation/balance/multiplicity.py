"""Multiple testing: p-values adjusted so that each can be compared with the level of the whole family."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from helsinki_env.data import UserError

__all__ = ["benjamini_hochberg", "holm"]

Array = npt.NDArray[np.float64]


def holm(p: npt.ArrayLike) -> Array:
    """Adjust p-values to control the family-wise error rate.

    Holm 1979, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6. Valid
    for any dependence between the tests.

    Args:
        p: p-values of the single tests, (M,).

    Returns:
        adjusted p-values in the same order, float64 (M,).

    Raises:
        ValueError: if a p-value is outside 0 to 1.
    """
    values, order = _sorted(p)
    steps = np.minimum(values * np.arange(len(values), 0, -1), 1.0)
    return _back(np.maximum.accumulate(steps), order)


def benjamini_hochberg(p: npt.ArrayLike) -> Array:
    """Adjust p-values to control the false discovery rate.

    Benjamini and Hochberg 1995, "Controlling the false discovery rate", Journal of the Royal Statistical Society B 57.
    Valid for independent or positively dependent tests.

    Args:
        p: p-values of the single tests, (M,).

    Returns:
        adjusted p-values in the same order, float64 (M,).

    Raises:
        ValueError: if a p-value is outside 0 to 1.
    """
    values, order = _sorted(p)
    steps = values * (len(values) / np.arange(1, len(values) + 1))
    return _back(np.minimum(np.minimum.accumulate(steps[::-1])[::-1], 1.0), order)


def _sorted(p: npt.ArrayLike) -> tuple[Array, npt.NDArray[np.intp]]:
    values = np.asarray(p, np.float64)
    if values.ndim != 1 or not ((values >= 0) & (values <= 1)).all():
        raise UserError(f"p: found {values}, expected a list of probabilities")
    order = np.argsort(values, kind="stable")
    return values[order], order


def _back(adjusted: Array, order: npt.NDArray[np.intp]) -> Array:
    found = np.empty_like(adjusted)
    found[order] = adjusted
    return found
