"""Evaluation of players: matches, tournaments, ratings, gauntlets and balance studies."""
