"""Evaluation of players: matches, tournaments, ratings, the gauntlet and balance studies."""
