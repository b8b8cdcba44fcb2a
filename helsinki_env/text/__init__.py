"""Games as text, for language models and people: rules, positions, history, legal actions, and an answer parser.

Every text depends only on the configuration and the information visible to the seat. `import helsinki_env` does
not import this package.

    >>> from helsinki_env.engine.game import make_game
    >>> game = make_game("helsinki", seed=1)
    >>> print(rules(game.config).splitlines()[0])
    Rules of Helsinki for this game
    >>> print(position_text(game, game.seat).splitlines()[0])
    Helsinki, 2 players. You are player 0.
    >>> actions = legal_actions(game)
    >>> print(legal_text(actions).splitlines()[1])
    1: Start on space 1 (START 1)
    >>> parse_action('I choose {"action": "start on space 1"}', actions)
    1
"""

from helsinki_env.text.parsing import ActionTextError, parse_action
from helsinki_env.text.words import (
    GameHistory,
    TextError,
    WrittenAction,
    game_from_observation,
    history,
    legal_actions,
    legal_text,
    observation_text,
    position_text,
    rules,
)

__all__ = [
    "ActionTextError",
    "GameHistory",
    "TextError",
    "WrittenAction",
    "game_from_observation",
    "history",
    "legal_actions",
    "legal_text",
    "observation_text",
    "parse_action",
    "position_text",
    "rules",
]
