"""Rules of Helsinki, as compiled kernels that operate on one flat record per game.

Each of these modules covers a part of the rules page (`docs/rules.md`): `turn` (including the deal), `draw`, `build`,
`coats`, `score`, and `legal` (the action mask). They use `state` (the fields of a record), `tables` (a component file
as arrays), `actions` (the action table), and `bits` and `shapes` (sets of cells). `turn` registers the rules with the
engine, whose loops deal and play the games.

From the rest of the package, these modules import only `helsinki_env.engine` and `helsinki_env.data`.
"""
