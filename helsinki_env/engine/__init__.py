"""Game-independent code. Nothing in this package names a game.

A game implements its rules as kernels (`contract` lists them, `overloads` dispatches to them) and registers one
`GameSpec` (`spec`). The engine then provides batches (`loops`), single games (`game`), random play (`playout`) and
`determinization`. `configuration`, `layout` and `positions` contain shared code for configurations, observations and
positions; `rng` is the random generator; `kernel` and `compile_cache` handle compilation.
"""
