"""The rules as compiled kernels over one flat record per game.

Each of these modules covers a chapter of the rules page (`docs/rules.md`): `deal`, `draw`, `build`, `coats`, `turn`,
`score`, and `legal`, the mask. They use `state` (the fields of a record), `tables` (a component file as arrays),
`actions` (the action table), and `bits` and `shapes` (cells as sets). `step` registers the rules with the engine, whose
loops deal and play. Observations and agents also use the lower modules.

This folder imports only the engine and the component files (`helsinki_env.games.helsinki.components`) from the rest of
the package.
"""
