"""Methods with names such as `__copy__` do what their names say; the reference leaves them out."""

from typing import Any

import griffe


class Special(griffe.Extension):
    """Make special methods no public names."""

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        """Look at one function or method."""
        if func.name.startswith("__"):
            func.public = False
