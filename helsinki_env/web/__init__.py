"""The table in a browser: games in a database, players in processes of their own, and the pages that show them.

A table: `tables` is its state and its actions, `store` saves it, `thinking` asks players, `views` says what a browser
may know, `messages` how it is sent, `rooms` to whom. Requests: `guard` checks access, `connections` limits their number
and duration, `requests` and `errors` are their forms; `server` joins all of it. Analysis: `analysis`, with `uploads`,
`records`, `judging` and `beginnings`. Nothing here knows a game: `helsinki_env.engine.spec.GameSpec` has what a page
needs of one.
"""
