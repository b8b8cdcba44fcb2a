"""Tournaments of players in the browser: small ones, played by this machine while somebody watches the ratings come."""

from __future__ import annotations

from helsinki_env.web.tournaments.routes import add_tournaments
from helsinki_env.web.tournaments.running import Tournaments

__all__ = ["Tournaments", "add_tournaments"]
