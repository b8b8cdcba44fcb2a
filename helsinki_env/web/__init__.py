"""Browser front end: the server of `helsinki play`, its database and its pages.

Tables: `tables` (state and actions), `store` (database), `player_workers` (processes), `views` (what a browser may
see), `sessions` and `websocket` (connected pages). Requests: `security`, `requests`, `setups` and `server`. Analysis:
`analysis`, with `uploads`, `records` and `evaluation`. The package is independent of any game:
`helsinki_env.engine.spec.GameSpec` provides what a page needs.
"""
