"""Copenhagen: players pay cards to build facades from colored tiles and score full rows and columns.

The modules `turn`, `cards`, `build`, `abilities`, `score` and `legal` (the action mask) implement the rules page
(`docs/rules-copenhagen.md`). They build on `state` (the fields of a record), `tables` (a component file as arrays),
`actions` (the action table), `bits` and `shapes`. `game` is the interface for callers. `observation` defines what a
seat sees; `state_from_observation` and `determinization` reconstruct games from it. `episodes` draws random options,
and `position` converts games to plain data.
"""
