"""Digests that detect changes to files that the project wrote."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def digest_of(data: object) -> str:
    """Return 16 hexadecimal digits that identify plain data."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]


def with_digest(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return plain data with its digest; `Entry.verify_digest` checks it."""
    return {**data, "digest": digest_of(dict(data))}
