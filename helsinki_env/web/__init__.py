"""The table in a browser: games in a database, players that think in processes of their own, pages that show them.

`tables` is one table and what may be done at it, `store` keeps tables on the disk, `thinking` asks players, `views`
says what a browser may know, `messages` how it is sent, `rooms` who is told. `guard` says who may ask, `connections`
how many and for how long, `requests` what may be asked, `errors` what is answered otherwise; `server` puts them
together. Games are taken apart by `analysis`: `uploads` reads what is brought, `records` keeps it, `judging` has it
judged, `beginnings` lets it be played on. Nothing here knows a game: what a page needs of one stands in its
`helsinki_env.engine.spec.GameSpec`.
"""
