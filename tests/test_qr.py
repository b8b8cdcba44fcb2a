"""QR codes."""

from __future__ import annotations

import hashlib
import re

import numpy as np
import pytest

from helsinki_env.web.qr import MAX_BYTES, qr_matrix, qr_path


@pytest.mark.parametrize(
    ("text", "size", "digest"),
    [
        ("http", 21, "2d396e063fd57584"),
        ("http://192.168.1.23:8000/tables/0123456789ab", 33, "6c92cb4a6ff92d1f"),
        (
            "http://192.168.1.23:8000/tables/0123456789ab#key=AbCdEfGhIjKlMnOpQrStUv&token=AbCdEfGhIjKlMnOpQrStUv",
            41,
            "5f4d6a708fe6480f",
        ),
        ("Zürich " * 26, 57, "0bc43869a8da8847"),
    ],
)
def test_codes_are_those_of_other_libraries(text: str, size: int, digest: str) -> None:
    """The digests are of matrices that qrcode 8.2 makes with the same mask and that zxing-cpp 3.1.1 reads."""
    matrix = qr_matrix(text)
    assert matrix.shape == (size, size)
    assert hashlib.sha256(np.packbits(matrix).tobytes()).hexdigest()[:16] == digest


def test_the_path_draws_the_dark_modules() -> None:
    size, path = qr_path("http://localhost")
    matrix = qr_matrix("http://localhost")
    drawn = np.zeros((size, size), bool)
    for x, y, width, back in re.findall(r"M(\d+) (\d+)h(\d+)v1h-(\d+)z", path):
        assert width == back
        drawn[int(y), int(x) : int(x) + int(width)] = True
    assert np.array_equal(drawn[4:-4, 4:-4], matrix)
    assert drawn.sum() == matrix.sum(), "the border is light"


def test_a_long_text_is_an_error() -> None:
    assert qr_matrix("x" * MAX_BYTES).shape == (57, 57)
    with pytest.raises(ValueError, match=f"text: found {MAX_BYTES + 1} bytes, expected at most {MAX_BYTES}"):
        qr_matrix("x" * (MAX_BYTES + 1))
