"""Convert SVG documents to pixels. Only this module needs the ``render`` extra."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from helsinki_env.data import Node, UserError
from helsinki_env.utils.extras import requires_extra

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_PIXELS = 10_000


def rgb_array(svg_text: str, width: int = 1200) -> NDArray[np.uint8]:
    """Convert an SVG document to pixels. This requires neither a display nor installed fonts.

    Args:
        svg_text: an SVG document, such as one returned by `svg`.
        width: width in pixels. The height is proportional.

    Returns:
        An RGB array (height, width, 3), uint8.

    Raises:
        MissingExtraError: if resvg-py or Pillow is missing. The ``render`` extra installs both.
        ValueError: if the width is not an integer from 1 to 10,000, or the text is not an SVG document.
    """
    pixels = checked_width(width, "width")
    resvg, image = _libraries()
    # The drawings contain no text elements, so loading fonts would be a waste of time.
    try:
        png = resvg.svg_to_bytes(svg_string=svg_text, width=pixels, skip_system_fonts=True)
    except ValueError as error:
        raise UserError(f"svg_text: not an SVG document ({error}): {svg_text[:40]!r}") from error
    with image.open(io.BytesIO(bytes(png))) as picture:
        return np.array(picture.convert("RGB"), dtype=np.uint8)


def checked_width(width: object, name: str) -> int:
    """Return the width of a picture in pixels. Raise ValueError if it is not an integer from 1 to 10,000."""
    return Node(width, UserError, name).integer(1, _MAX_PIXELS)


def _libraries() -> tuple[Any, Any]:
    with requires_extra("render"):
        import resvg_py
        from PIL import Image
    return resvg_py, Image
