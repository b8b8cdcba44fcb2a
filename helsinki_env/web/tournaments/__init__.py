"""Tournaments in the browser: small ones, played on this machine with live ratings."""

from __future__ import annotations

from helsinki_env.web.tournaments.routes import add_tournaments
from helsinki_env.web.tournaments.running import TournamentManager

__all__ = ["TournamentManager", "add_tournaments"]
