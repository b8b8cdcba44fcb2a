"""What the heuristic's evaluation is made of; tuned by `agents.heuristic.tune`."""

from __future__ import annotations

from dataclasses import dataclass, replace

__all__ = ["QUICK", "TRIALS", "Weights"]


@dataclass(frozen=True)
class Weights:
    """The weights of the evaluation; points if nothing else is said.

    What counts "later" is multiplied by a factor between 1 (early in the game) and 0 (in the last turn).

    Attributes:
        cards_a_turn: cards that a turn takes from the draw pile: how the pile tells the turns that are left.
        last_turn: turns that are left when the draw pile is as good as empty.
        hurry: share that counts of what the board loses because a draw brings the end nearer.
        cell_chance: chance that an empty cell is built in the end, early in the game.
        line_patience: turns left at which that chance is halved.
        line_onset: how suddenly it rises with the turns left.
        line_depth: how much worse several missing cells are than one; 1: each lowers the chance by the same factor.
        closed: what remains of a line's chance for each empty cell that no tile can reach.
        lonely: the same for each empty cell without an empty neighbour: only a wild tile fits there.
        room: worth of a full line besides its points, for superstructures to come.
        cell: later worth of each cell that is built.
        apart: 1; 0: as greedy judges: builds to come by where a tile is best together with its superstructures, all
            plans of a hand as if they came as soon as the best one, and sums in the order in which greedy always made
            them, for its choice between things of the same worth hangs on their last digit.
        roof: later worth of a superstructure besides the points that it is expected to make.
        hole: later loss for each cell that is closed off, besides the chances of its lines.
        coat: worth of a coat of arms early in the game.
        coat_patience: turns left at which it is halved.
        coat_onset: how suddenly it rises with the turns left.
        spend: how much more a coat must bring than it is worth, later.
        spend_wild: the same for wild tiles.
        hand_patience: turns left at which the later worth of things is halved.
        hand_onset: how suddenly it rises with the turns left.
        card: later worth of a card in hand.
        wild_card: later extra worth of a wild card.
        best_plan: share of the best build in hand that counts before it is built.
        other_plans: the same for the best build of each other colour.
        far: factor for a plan from a side that the token cannot reach in the next turn.
        clash: factor for a plan that wants cells which the tile being built takes.
        short: factor for each card that is missing for a build.
        missing: cards that may be missing for a build that is thought of at all.
        bonus_card: later worth of the card for touching the own colour.
        extra_card: later worth of the card that `extra_card` draws.
        kept_card: later worth of each card that `no_hand_limit` keeps.
        tempo: later worth of building without using up a turn.
        second: share of a second build in the same turn that counts when the first is chosen.
        ahead: share that counts of what the next turn changes in the worth of a turn; 0: no look at it.
        ahead_place: share that counts of what the next turn can make of a placement.
        unseen: later worth of a card that will lie in the display, but is not known yet, once it is drawn.
        doubt: points by which a build may look worse than the best way to spend the turn and still be looked at again.
        crosswalk: share of a bonus card that each cell beside a crosswalk counts, later (Dry roads).
    """

    cards_a_turn: float = 0.738
    last_turn: float = 0.115
    hurry: float = 0.404
    cell_chance: float = 1.66
    line_patience: float = 21.3
    line_onset: float = 0.779
    line_depth: float = 0.706
    closed: float = 0.0552
    lonely: float = 0.6
    room: float = 0.137
    cell: float = 0.0617
    apart: float = 1.0
    roof: float = 0.937
    hole: float = 0.0343
    coat: float = 0.523
    coat_patience: float = 0.0937
    coat_onset: float = 0.762
    spend: float = 1.44
    spend_wild: float = 2.31
    hand_patience: float = 1.97
    hand_onset: float = 0.615
    card: float = 0.322
    wild_card: float = 0.243
    best_plan: float = 0.638
    other_plans: float = 0.0657
    far: float = 0.59
    clash: float = 0.567
    short: float = 0.0232
    missing: float = 100.0
    bonus_card: float = 0.165
    extra_card: float = 0.765
    kept_card: float = 0.464
    tempo: float = 0.018
    second: float = 0.812
    ahead: float = 0.396
    ahead_place: float = 0.761
    unseen: float = 0.401
    doubt: float = 2.5
    crosswalk: float = 0.051


QUICK = replace(Weights(), ahead=0.0, far=0.0)
"""The weights of playouts: without a look at the next turn and at sides out of reach it is seven times as fast."""

TRIALS = replace(QUICK, missing=1.0)
"""The weights of what a search tries: builds for which two cards are missing count next to nothing."""
