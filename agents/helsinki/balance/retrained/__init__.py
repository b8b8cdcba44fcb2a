"""Verdicts asked anew of players that learnt for it: networks trained with an action, and others without it.

A study of balance denies actions to players that have learnt to play with all of them. What an action is worth to them
may be their habit: whoever had learnt to do without might lose less. Here networks are trained from nothing, with the
action and with the action covered for all, and meet each other (`config`, `run`, `results`, `report`).
"""
