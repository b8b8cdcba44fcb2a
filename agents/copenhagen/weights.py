"""What the heuristic's evaluation is made of; tuned by `helsinki_env.training.tune_heuristic`."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["QUICK", "Weights"]


@dataclass(frozen=True)
class Weights:
    """The weights of the evaluation; points if nothing else is said.

    What counts "later" is multiplied by a factor between 1 (early in the game) and 0 (in the last turn).

    Attributes:
        cards_a_turn: cards that a turn takes from the draw pile: how the pile tells the turns that are left.
        reuse: share of the cards of a first draw pile that are discarded before it is used up (three and four players).
        goal_pace: turns that the leader needs for each point that is missing to the goal.
        last_turn: turns that are left when the draw pile is as good as empty.
        cell_chance: chance that an empty cell is filled in the end, early in the game.
        line_patience: turns left at which that chance is halved.
        line_onset: how suddenly it rises with the turns left.
        line_depth: how much worse several missing cells are than one; 1: each lowers the chance by the same factor.
        column_pace: what a missing cell of a column counts, in missing cells of a row.
        clean_row: factor for each missing cell of a row that it will still show windows only.
        clean_column: the same for a column.
        height: factor for the chance of a row for each row between it and the highest filled cell.
        closed: share of the expected points of its lines that an empty cell without an empty neighbour keeps.
        overhang: later loss for each empty cell directly beneath a tile.
        snug: later worth of each filled cell, and of each edge of the board, that a tile touches.
        cell: worth of each cell that is filled.
        touch: later worth of places beside tiles of a colour, where the next one of it costs a card less.
        touch_half: so many empty cells beside a colour are worth half of that.
        coat: worth of a coat of arms early in the game.
        coat_patience: turns left at which it is halved.
        later_patience: turns left at which the later worth of things is halved.
        later_onset: how suddenly it rises with the turns left.
        card: later worth of a card in hand.
        best_plan: later share of the best build in hand that counts before it is built.
        other_plans: the same for the best build of each other colour.
        short: factor for each card that is missing for a build.
        any_cards: later worth of this ability, active.
        additional_card: the same for this one.
        construction_discount: the same for this one.
        change_of_colours: the same for this one.
        both_actions: the same for this one.
        used: share of its worth that a used ability keeps, for it can be flipped back.
        tempo: later worth of building without using up a turn.
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
"""The weights of playouts: those of the player."""
