"""Copenhagen: players pay cards to build facades from colored tiles and score full rows and columns.

The rules modules follow the chapters of the rules page (`docs/rules-copenhagen.md`): `deal`, `take`, `build`, `coats`,
`turn`, `score`, and `legal` for the action mask. They build on `state` (the fields of a record), `tables` (a component
file as arrays), `actions` (the action table), `bits` and `shapes`. Callers use `step` or `game`. `observation` defines
what a seat sees; `state_from_observation` and `determinization` reconstruct games from it. `episodes` draws random
setups, and `position` converts games to plain data.
"""
