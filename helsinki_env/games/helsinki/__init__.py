"""The rules as compiled kernels over one flat record per game.

A chapter of the rules page (`docs/rules.md`) each: `deal`, `draw`, `build`, `coats`, `turn`, `score`, and `legal`,
the mask. Under them lie `state` (the record), `tables` (a component file as arrays), `actions` (the action table),
`bits` and `shapes` (cells as sets). `step` states the rules for the engine, whose loops deal and play; what judges
boards and hands, such as observations and players, uses what lies under it as well.

Nothing in this folder imports from the rest of the package except the engine and the component files
(`helsinki_env.components`).
"""
