"""Weights of the heuristic's evaluation, tuned by `helsinki_env.training.tune_heuristic`."""

from __future__ import annotations

from dataclasses import dataclass, replace

__all__ = ["QUICK", "SEARCH_WEIGHTS", "Weights"]


@dataclass(frozen=True)
class Weights:
    """Weights of the evaluation, in points unless noted.

    "Later" values are multiplied by a factor between 1 (early in the game) and 0 (in the last turn).

    Attributes:
        cards_a_turn: number of cards drawn from the pile per turn, to estimate the turns left.
        last_turn: turns left when the draw pile is nearly empty.
        hurry: factor on the board's loss in value from a draw, which shortens the game.
        cell_chance: probability, early in the game, that an empty cell is built by the end.
        line_patience: turns left at which that probability is halved.
        line_onset: how steeply that probability rises with the turns left.
        line_depth: exponent of the number of missing cells; with 1, each cell lowers the probability by the same
            factor.
        closed: factor on a line's probability for each empty cell that no tile can reach.
        lonely: the same for each empty cell without an empty neighbor, where only a wild tile fits.
        room: value of a full line in addition to its points, for future superstructures.
        cell: later value of each cell that is built.
        apart: 1, or 0 for the evaluation of greedy. With 0, a tile and its superstructures are placed together at their
            best joint position. All builds planned from a hand get the same time discount. Sums keep the floating-point
            order on which greedy's tie-breaks depend.
        roof: later value of a superstructure in addition to its expected points.
        hole: later loss for each cell that is closed off, in addition to the lower probabilities of its lines.
        coat: value of a coat of arms early in the game.
        coat_patience: turns left at which it is halved.
        coat_onset: how steeply it rises with the turns left.
        spend: gain that spending a coat must bring beyond its value (a later value).
        spend_wild: the same for wild tiles.
        hand_patience: turns left at which later values are halved.
        hand_onset: how steeply they rise with the turns left.
        card: later value of a card in hand.
        wild_card: additional later value of a wild card.
        best_plan: fraction of the value of the best build in hand that counts before it is built (a later value).
        other_plans: the same fraction for the best build of each other color.
        far: factor on the gain from building from a side that the token cannot reach in the next turn.
        clash: factor on the gain from a planned build that needs cells of the tile being built.
        short: factor on the value of a build for each missing card.
        missing: maximum number of missing cards for a build to be considered.
        bonus_card: later value of the bonus card for touching a tile's own color.
        extra_card: later value of the card that `extra_card` draws.
        kept_card: later value of each card that `no_hand_limit` keeps.
        tempo: later value of building without using up a turn.
        second: fraction of the gain from a second build in the same turn that counts when the first is chosen.
        ahead: factor on the change that the next turn makes to a turn's value; 0 disables look-ahead.
        ahead_place: factor on the effect of a placement on the next turn.
        unseen: later value of drawing a display card that is not yet revealed.
        doubt: margin in points below the best use of the turn within which a build is still examined by look-ahead.
        crosswalk: fraction of a bonus card for each cell next to a crosswalk (a later value, Dry roads).
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
"""Weights for playouts: seven times as fast, without look-ahead and sides out of reach."""

SEARCH_WEIGHTS = replace(QUICK, missing=1.0)
"""Weights for search simulations: builds with two missing cards count almost nothing."""
