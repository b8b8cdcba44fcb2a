"""Browser front end: games in a database, players in separate processes, and the pages that show them.

Tables: `tables` holds the state and the actions, `store` saves it, `thinking` queries players. `views` selects what a
browser may see, `messages` encodes it, and `rooms` distributes it. Requests: `guard` checks access, `connections`
limits number and duration, `requests` and `errors` define the formats, and `server` combines everything. Analysis:
`analysis`, with `uploads`, `records`, `judging` and `beginnings`. The package is independent of any game:
`helsinki_env.engine.spec.GameSpec` provides what a page needs.
"""
