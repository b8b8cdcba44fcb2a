"""Browser front end: the server for `helsinki play`, its database and its pages.

Tables: `tables` (state and actions), `store` (database), `player_workers` (processes), `views` (information that a
browser may receive), `sessions` and `websocket` (connected pages). Requests: `security`, `requests`, `setups` and
`server`. Analysis: `analysis`, with `uploads`, `records` and `evaluation`. The package does not depend on any game:
`helsinki_env.engine.spec.GameSpec` provides the game-specific parts.
"""
