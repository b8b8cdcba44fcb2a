"""Weights of the heuristic's evaluation, tuned by `helsinki_env.training.tune_heuristic`."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["QUICK", "Weights"]


@dataclass(frozen=True)
class Weights:
    """Weights of the evaluation, in points unless noted.

    "Later" values are multiplied by a factor between 1 (early in the game) and 0 (in the last turn).

    Attributes:
        cards_a_turn: number of cards drawn from the pile per turn, to estimate the turns left.
        reuse: fraction of the first draw pile that is discarded before the pile runs out (three and four players).
        goal_pace: number of turns that the leader needs for each point still missing to the goal.
        last_turn: turns left when the draw pile is nearly empty.
        cell_chance: probability, early in the game, that an empty cell is filled by the end.
        line_patience: turns left at which that probability is halved.
        line_onset: how steeply that probability rises with the turns left.
        line_depth: exponent of the number of missing cells; with 1, each cell lowers the probability by the same
            factor.
        column_pace: number of missing row cells to which a missing column cell is equivalent.
        clean_row: factor on the probability that a row shows only windows, for each missing cell.
        clean_column: the same for a column.
        height: factor on the probability that a row is filled, for each row between it and the highest filled cell.
        closed: factor on the expected points of a line, for each empty cell without an empty neighbor.
        overhang: later loss for each empty cell directly below a tile.
        snug: later value of each filled cell and each board edge that a tile touches.
        cell: value of each filled cell.
        touch: later value of empty cells adjacent to a color, where its next tile costs one card less.
        touch_half: number of these cells at which half of that value is reached.
        coat: value of a coat of arms early in the game.
        coat_patience: turns left at which it is halved.
        later_patience: turns left at which later values are halved.
        later_onset: how steeply they rise with the turns left.
        card: later value of a card in hand.
        best_plan: fraction of the value of the best build in hand that counts before it is built (a later value).
        other_plans: the same fraction for the best build of each other color.
        short: factor on the value of a build for each missing card.
        any_cards: later value of this ability while it is active.
        additional_card: later value of this ability while it is active.
        construction_discount: later value of this ability while it is active.
        change_of_colours: later value of this ability while it is active.
        both_actions: later value of this ability while it is active.
        used: fraction of its value that a used ability keeps, because it can be reactivated.
        tempo: later value of building without using up a turn.
    """

    cards_a_turn: float = 1.46
    reuse: float = 0.204
    goal_pace: float = 1.2
    last_turn: float = 0.602
    cell_chance: float = 0.831
    line_patience: float = 0.749
    line_onset: float = 0.779
    line_depth: float = 0.902
    column_pace: float = 0.559
    clean_row: float = 0.702
    clean_column: float = 0.812
    height: float = 0.359
    closed: float = 0.805
    overhang: float = 0.25
    snug: float = 0.0853
    cell: float = 0.0817
    touch: float = 0.458
    touch_half: float = 2.9
    coat: float = 0.679
    coat_patience: float = 1.44
    later_patience: float = 1.82
    later_onset: float = 1.65
    card: float = 0.295
    best_plan: float = 0.452
    other_plans: float = 0.125
    short: float = 0.238
    any_cards: float = 0.263
    additional_card: float = 0.439
    construction_discount: float = 1.01
    change_of_colours: float = 0.772
    both_actions: float = 3.14
    used: float = 0.432
    tempo: float = 0.58


QUICK = Weights()
"""Weights of playouts, the same as those of the player."""
