"""Validate the shape, dtype and values of arrays that public functions pass to kernels.

Kernels do not check array bounds, and a type conversion can turn an invalid value into a valid one. Public functions
therefore validate their arguments with these functions and call kernels only with the results.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from helsinki_env.data import UserError, has_boolean, short_repr
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.vectors import gatherer

INT8, INT64, UINT64 = np.dtype(np.int8), np.dtype(np.int64), np.dtype(np.uint64)

Shape = tuple[int | None, ...]
"""Expected sizes; None means any size."""

_BLOCK = 64
gather_invalid = gatherer(_BLOCK, odd=True)


class ArrayError(UserError):
    """Raised for an invalid array. The message names the array, the value found and the expected value."""


def _fail(name: str, found: object, expected: str, shape: Shape) -> NoReturn:
    kind = f"{_type(found.dtype)} of shape {found.shape}" if isinstance(found, np.ndarray) else short_repr(found)
    sizes = ", ".join("any" if size is None else str(size) for size in shape)
    raise ArrayError(f"{name}: found {kind}, expected {expected} of shape ({sizes}{',' if len(shape) == 1 else ''})")


def _type(dtype: np.dtype[Any]) -> str:
    return f"records of {dtype.itemsize:,} bytes" if dtype.names else dtype.name


def _fits(array: npt.NDArray[Any], shape: Shape) -> bool:
    if array.ndim != len(shape):
        return False
    for size, found in zip(shape, array.shape, strict=True):
        if size is not None and size != found:
            return False
    return True


def _whole_numbers(name: str, given: object, shape: Shape, expected: str, kinds: str) -> npt.NDArray[Any]:
    """Return the argument as an array whose `dtype.kind` is in `kinds`. Raise ArrayError for anything else."""
    try:
        array = np.asarray(given)
    except (ValueError, TypeError, OverflowError, RuntimeError):  # RuntimeError: for tensors on a GPU, for example
        _fail(name, given, expected, shape)
    if isinstance(given, list | tuple) and array.dtype.kind != "b" and has_boolean(given):
        _fail(name, given, expected, shape)
    if not array.size and isinstance(given, list | tuple):
        array = array.astype(np.int64)  # NumPy converts empty lists to float64
    if array.dtype.kind not in kinds or not _fits(array, shape):
        _fail(name, array, expected, shape)
    return array


def integer_array(
    name: str, given: object, shape: Shape, low: int, high: int, dtype: np.dtype[Any] = INT64
) -> npt.NDArray[Any]:
    """Return integers from `low` to `high` as a contiguous array. Raise ArrayError for anything else, even booleans."""
    bounds = "" if low == -(2**63) else f" from {low} to {high}"
    array = _whole_numbers(name, given, shape, f"whole numbers{bounds}", "iu")
    if array.size and not (int(array.min()) >= low and int(array.max()) <= high):
        at = np.unravel_index(int(array.argmin() if int(array.min()) < low else array.argmax()), array.shape)
        index = ", ".join(map(str, at))
        raise ArrayError(f"{name}[{index}]: found {array[at]}, expected a whole number from {low} to {high}")
    return np.require(array, dtype, ["C", "A", "W"])


def seat_array(name: str, given: object, states: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return a seat for each game, int64 (B,). Raise ArrayError for anything but seats that take part in the games."""
    seats = integer_array(name, given, states.shape, -(2**63), 2**63 - 1)
    outside = (seats < 0) | (seats >= states["players"])
    if outside.any():
        b = int(outside.argmax())
        raise ArrayError(f"{name}[{b}]: found {seats[b]}, expected a seat from 0 to {states['players'][b] - 1}")
    return seats


def key_array(name: str, given: object, rows: int) -> npt.NDArray[np.uint64]:
    """Return random keys as a contiguous array, uint64 (B,). Raise ArrayError for anything but 64-bit integers."""
    if type(given) is np.ndarray and given.dtype == UINT64 and given.shape == (rows,) and given.flags.carray:
        return given
    return integer_array(name, given, (rows,), 0, 2**64 - 1, UINT64)


def writable_array(name: str, given: Any, dtype: np.dtype[Any], rows: int | None) -> npt.NDArray[Any]:
    """Return an array, (B,), of exactly this dtype that a kernel can modify. Raise ArrayError for anything else.

    The result is either the argument itself, or a copy that the caller must copy back.
    """
    if (
        not isinstance(given, np.ndarray)
        or given.dtype != dtype
        or given.ndim != 1
        or (rows is not None and len(given) != rows)
    ):
        _fail(name, given, f"an array of {_type(dtype)}", (rows,))
    flags = given.flags
    if flags.carray:
        return given
    if not flags.writeable:
        raise ArrayError(f"{name}: found a read-only array, expected a writable one")
    return np.array(given, order="C", subok=False)


def record_array(name: str, given: Any, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return records of a dtype as a contiguous array, (B,), for reading. Raise ArrayError for anything else."""
    if not isinstance(given, np.ndarray) or given.dtype != dtype or given.ndim != 1:
        _fail(name, given, f"{_type(dtype)}, as games with these components have,", (None,))
    return given if given.flags.carray else np.array(given, order="C", subok=False)


@kernel
def has_invalid_entry(mask):
    """Return whether a mask, int8 (A,), has an entry that is neither 0 nor 1."""
    odd = np.int64(0)
    if len(mask) < _BLOCK:
        for action in range(len(mask)):
            odd |= np.int64(mask[action])
        return odd != 0 and odd != 1
    for block in range(len(mask) // _BLOCK):
        odd |= gather_invalid(mask, _BLOCK * block)
    return (odd | gather_invalid(mask, len(mask) - _BLOCK)) != 0


@kernel
def first_invalid_row(masks):
    """Return the index of the first invalid row of `masks`, int8 (B, A), or the number of rows if all are valid.

    A row without a 1 is invalid, too.
    """
    for b in range(len(masks)):
        if has_invalid_entry(masks[b]):
            return b
        legal = np.int8(0)
        for action in range(masks.shape[1]):
            legal |= masks[b, action]
        if legal == 0:
            return b
    return len(masks)


def mask_array(name: str, given: Any, rows: int | None = None, ids: int | None = None) -> npt.NDArray[np.int8]:
    """Convert integers or booleans to contiguous action masks, int8 (B, A). Raise ArrayError for anything else.

    The values of an int8 array are not checked. Kernels check them with `has_invalid_entry`.
    """
    if (
        type(given) is np.ndarray
        and given.dtype == INT8
        and given.ndim == 2
        and (rows is None or rows == len(given))
        and (ids is None or ids == given.shape[1])
        and given.flags.carray
    ):
        return given
    shape = rows, ids
    array = _whole_numbers(name, given, shape, "an action mask of 0 and 1", "iub")
    if array.dtype.kind != "b":
        array = integer_array(name, array, shape, 0, 1, INT8)
    return np.require(array, INT8, ["C", "A", "W"])


def fail_mask(name: str, masks: npt.NDArray[np.int8], b: int) -> NoReturn:
    """Raise ArrayError for a row of action masks that is invalid or contains no legal action."""
    odd = (masks[b] != 0) & (masks[b] != 1)
    if odd.any():
        at = int(odd.argmax())
        raise ArrayError(f"{name}[{b}, {at}]: found {masks[b, at]}, expected 0 or 1")
    raise ArrayError(f"{name}[{b}]: found no legal action, expected at least one in each row")


def action_masks(name: str, given: Any, rows: int | None = None, ids: int | None = None) -> npt.NDArray[np.int8]:
    """Return contiguous action masks, int8 (B, A), with entries 0 and 1 only, and a 1 in every row.

    Raise ArrayError for anything else.
    """
    masks = mask_array(name, given, rows, ids)
    b = first_invalid_row(masks)
    if b < len(masks):
        fail_mask(name, masks, b)
    return masks
