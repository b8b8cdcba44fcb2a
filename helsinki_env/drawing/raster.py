"""Pixels of a picture: an SVG text in, an RGB array out. Only this needs the ``render`` extra."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from helsinki_env.data import UserError
from helsinki_env.extras import needs

if TYPE_CHECKING:
    from numpy.typing import NDArray


def rgb_array(svg_text: str, width: int = 1200) -> NDArray[np.uint8]:
    """Turn an SVG text into pixels. Works without a display and without any installed font.

    Args:
        svg_text: an SVG document, such as `svg` returns.
        width: width in pixels; the height follows from the picture.

    Returns:
        Array (height, width, 3), uint8, red, green, blue.

    Raises:
        MissingExtraError: resvg-py or Pillow is not installed; both come with the extra ``render``.
        ValueError: the width is not positive or the text is no SVG document.
    """
    if width < 1:
        raise UserError(f"width: {width}, expected a number of pixels above 0")
    resvg, image = _libraries()
    # the drawings hold no text elements, so looking for fonts would only cost time
    try:
        png = resvg.svg_to_bytes(svg_string=svg_text, width=int(width), skip_system_fonts=True)
    except ValueError as error:
        raise UserError(f"svg_text: not an SVG document ({error}): {svg_text[:40]!r}") from error
    with image.open(io.BytesIO(bytes(png))) as picture:
        return np.array(picture.convert("RGB"), dtype=np.uint8)


def _libraries() -> tuple[Any, Any]:
    with needs("render"):
        import resvg_py
        from PIL import Image
    return resvg_py, Image
