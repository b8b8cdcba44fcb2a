"""Copenhagen, the sister game: facades are built by cards of their colour, full rows and columns score.

A chapter of the rules page (`docs/rules-copenhagen.md`) each: `deal`, `take`, `build`, `coats`, `turn`, `score`, and
`legal`, the mask. Under them lie `state` (the record), `tables` (a component file as arrays), `actions` (the action
table), `bits` and `shapes`. Whoever deals and plays calls `step` or `game`; `observation` says what a seat may see,
`restore` and `redeal` make games of that, `episodes` draws what random ones play; `position` writes a game as plain
data. `reference` says the same a second time, plainly.
"""
