"""Check whether conclusions hold for agents trained without the action.

A balance study denies actions to players that have learned to play with all of them. The measured effect may be habit:
a player that has learned to play without the action might lose less. Here networks are trained from scratch, with the
action and with the action covered for all, and play each other (`run`, `results`, `report`).
"""
