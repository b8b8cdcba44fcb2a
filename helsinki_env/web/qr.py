"""QR codes (ISO/IEC 18004) for URLs of up to 213 bytes: byte mode, error correction level M, versions 1 to 10."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import numpy.typing as npt

__all__ = ["MAX_BYTES", "qr_matrix", "qr_path"]

Matrix = npt.NDArray[np.bool_]

#: For each version, starting at 1: number of check bytes per block, and number of data bytes in each block.
_BLOCKS: tuple[tuple[int, tuple[int, ...]], ...] = (
    (10, (16,)),
    (16, (28,)),
    (26, (44,)),
    (18, (32,) * 2),
    (24, (43,) * 2),
    (16, (27,) * 4),
    (18, (31,) * 4),
    (22, (38,) * 2 + (39,) * 2),
    (22, (36,) * 3 + (37,) * 2),
    (26, (43,) * 4 + (44,)),
)
#: Centers of the alignment patterns in each version.
_ALIGNED = ((), (6, 18), (6, 22), (6, 26), (6, 30), (6, 34), (6, 22, 38), (6, 24, 42), (6, 26, 46), (6, 28, 50))
MAX_BYTES = sum(_BLOCKS[-1][1]) - 3
"""Maximum length of a text, in UTF-8 bytes."""
_LEVEL = 0b00  # M
_QUIET = 4
"""Width of the empty border in modules."""
_FINDER_LIKE = ((1, 0, 1, 1, 1, 0, 1, 0, 0, 0, 0), (0, 0, 0, 0, 1, 0, 1, 1, 1, 0, 1))


def qr_matrix(text: str) -> Matrix:
    """Return the QR code of a text as bool (size, size), True for dark modules; raise ValueError if it is too long."""
    content = text.encode()
    version = next((i for i, (_, data) in enumerate(_BLOCKS, 1) if len(content) + 2 + (i > 9) <= sum(data)), None)
    if version is None:
        raise ValueError(f"text: found {len(content)} bytes, expected at most {MAX_BYTES}")
    dark, fixed = _patterns(version)
    places = _data_places(fixed)
    bits = np.unpackbits(np.array(_codewords(content, version), np.uint8))
    dark[tuple(np.array(places[: len(bits)]).T)] = bits
    grid = np.indices(dark.shape)
    masks = _masks(grid[0], grid[1])
    candidates = [_with_format(dark ^ (mask & ~fixed), number) for number, mask in enumerate(masks)]
    return min(candidates, key=_penalty)


def qr_path(text: str) -> tuple[int, str]:
    """Return the size of the code including its border, and the SVG path of the dark modules, in module units."""
    matrix = qr_matrix(text)
    runs = []
    for y, row in enumerate(matrix):
        edges = np.flatnonzero(np.diff(np.concatenate([[False], row, [False]])))
        runs += [f"M{a + _QUIET} {y + _QUIET}h{b - a}v1h{a - b}z" for a, b in edges.reshape(-1, 2).tolist()]
    return len(matrix) + 2 * _QUIET, "".join(runs)


# the data


def _codewords(content: bytes, version: int) -> list[int]:
    """Return the data and check bytes in the order of placement."""
    check, sizes = _BLOCKS[version - 1]
    length = 8 if version < 10 else 16
    bits = f"0100{len(content):0{length}b}" + "".join(f"{byte:08b}" for byte in content) + "0000"
    bits = bits[: 8 * sum(sizes)]
    bits += "0" * (-len(bits) % 8)
    data = [int(bits[i : i + 8], 2) for i in range(0, len(bits), 8)]
    data += [(0xEC, 0x11)[i % 2] for i in range(sum(sizes) - len(data))]
    blocks, at = [], 0
    for size in sizes:
        blocks.append(data[at : at + size])
        at += size
    checks = [_check_bytes(block, check) for block in blocks]
    return [
        block[i] for part in (blocks, checks) for i in range(max(map(len, part))) for block in part if i < len(block)
    ]


def _multiply(a: int, b: int) -> int:
    """Return the product in GF(256) modulo x^8 + x^4 + x^3 + x^2 + 1."""
    product_ = 0
    for bit in range(7, -1, -1):
        product_ = (product_ << 1) ^ (0x11D if product_ & 0x80 else 0)
        product_ ^= a if b >> bit & 1 else 0
    return product_


def _check_bytes(data: list[int], count: int) -> list[int]:
    """Return the Reed-Solomon check bytes of a block."""
    generator, root = [1], 1
    for _ in range(count):
        generator = [a ^ _multiply(b, root) for a, b in zip([*generator, 0], [0, *generator], strict=True)]
        root = _multiply(root, 2)
    rest = [*data, *[0] * count]
    for i in range(len(data)):
        factor = rest[i]
        for k, value in enumerate(generator):
            rest[i + k] ^= _multiply(value, factor)
    return rest[len(data) :]


# placement of the modules


def _patterns(version: int) -> tuple[Matrix, Matrix]:
    """Return the modules of the fixed patterns, and a mask of the fixed modules."""
    size = 17 + 4 * version
    dark, fixed = np.zeros((size, size), bool), np.zeros((size, size), bool)
    dark[6, ::2] = dark[::2, 6] = True
    fixed[6] = fixed[:, 6] = True
    centers, last = _ALIGNED[version - 1], size - 7
    for y, x in product(centers, centers):
        if (y, x) not in ((6, 6), (6, last), (last, 6)):
            _draw_square(dark, fixed, y, x, 2)
    for y, x in ((3, 3), (3, size - 4), (size - 4, 3)):
        _draw_square(dark, fixed, y, x, 4)
    fixed[8, :9] = fixed[:9, 8] = fixed[8, -8:] = fixed[-8:, 8] = True  # the format
    dark[-8, 8] = True
    if version >= 7:
        bits = _with_remainder(version, 12, 0x1F25)
        for i in range(18):
            for y, x in ((i // 3, size - 11 + i % 3), (size - 11 + i % 3, i // 3)):
                dark[y, x], fixed[y, x] = bits >> i & 1, True
    return dark, fixed


def _draw_square(dark: Matrix, fixed: Matrix, y: int, x: int, reach: int) -> None:
    """Draw a finder or alignment pattern: rings around a center, clipped at the edge."""
    for down, right in product(range(-reach, reach + 1), repeat=2):
        if 0 <= y + down < len(dark) and 0 <= x + right < len(dark):
            ring = max(abs(down), abs(right))
            dark[y + down, x + right] = ring not in ((2, 4) if reach == 4 else (1,))
            fixed[y + down, x + right] = True


def _data_places(fixed: Matrix) -> list[tuple[int, int]]:
    """Return the free modules (y, x) in bit order: pairs of columns from the right, alternating upward and downward."""
    size, places = len(fixed), []
    rights = [right for right in range(size - 1, 0, -2) if right > 6] + [5, 3, 1]
    for number, right in enumerate(rights):
        rows = range(size) if number % 2 else range(size - 1, -1, -1)
        places += [(y, x) for y in rows for x in (right, right - 1) if not fixed[y, x]]
    return places


def _masks(y: npt.NDArray[np.int64], x: npt.NDArray[np.int64]) -> list[Matrix]:
    """Return the eight mask patterns."""
    return [
        (y + x) % 2 == 0,
        y % 2 == 0,
        x % 3 == 0,
        (y + x) % 3 == 0,
        (y // 2 + x // 3) % 2 == 0,
        y * x % 2 + y * x % 3 == 0,
        (y * x % 2 + y * x % 3) % 2 == 0,
        ((y + x) % 2 + y * x % 3) % 2 == 0,
    ]


def _with_remainder(value: int, bits: int, generator: int) -> int:
    """Append to a value the `bits` bits of its remainder modulo a polynomial."""
    rest = value << bits
    for i in range(rest.bit_length() - 1, bits - 1, -1):
        if rest >> i & 1:
            rest ^= generator << (i - bits)
    return value << bits | rest


def _with_format(dark: Matrix, mask: int) -> Matrix:
    """Add both copies of the format information (error correction level and mask) to the modules."""
    dark, size = dark.copy(), len(dark)
    bits = _with_remainder(_LEVEL << 3 | mask, 10, 0x537) ^ 0x5412
    first = [(y, 8) for y in (0, 1, 2, 3, 4, 5, 7, 8)] + [(8, x) for x in (7, 5, 4, 3, 2, 1, 0)]
    second = [(8, size - 1 - i) for i in range(8)] + [(size - 7 + i, 8) for i in range(7)]
    for i in range(15):
        for place in (first[i], second[i]):
            dark[place] = bits >> i & 1
    return dark


def _penalty(dark: Matrix) -> int:
    """Return the penalty of a code for poor readability; the mask with the lowest penalty is used."""
    penalty = 0
    for line in (*dark.astype(int).tolist(), *dark.T.astype(int).tolist()):
        changes = [0, *[i for i in range(1, len(line)) if line[i] != line[i - 1]], len(line)]
        penalty += sum(b - a - 2 for a, b in pairwise(changes) if b - a >= 5)
        penalty += 40 * sum(tuple(line[i : i + 11]) in _FINDER_LIKE for i in range(len(line) - 10))
    squares = dark[:-1, :-1].astype(int) + dark[1:, :-1] + dark[:-1, 1:] + dark[1:, 1:]
    penalty += 3 * int(np.isin(squares, (0, 4)).sum())
    return penalty + 10 * int(abs(100 * dark.mean() - 50) // 5)
