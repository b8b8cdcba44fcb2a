"""Read observations of any game. Observations list seats clockwise, starting with the observer."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["unpack_seat_sets"]


def unpack_seat_sets(
    flags: npt.NDArray[np.int8], shape: tuple[int, ...], viewers: npt.NDArray[np.int64], seats: int
) -> npt.NDArray[np.int16]:
    """Return one set per absolute seat, int16 (B, seats); bit i is member i.

    Args:
        flags: membership flags by seat relative to the viewer, int8 (B, 4 n).
        shape: shape of a row, (4, n), n at most 15.
        viewers: observing seats, int64 (B,).
        seats: number of seats.
    """
    sets = (flags.reshape(-1, *shape)[:, :seats] > 0) @ (1 << np.arange(shape[1]))
    from_viewer = (np.arange(seats) - viewers[:, None]) % seats
    by_seat: npt.NDArray[np.int16] = np.take_along_axis(sets, from_viewer, axis=1).astype(np.int16)
    return by_seat
