"""Game-independent code, which never refers to a particular game.

A game implements its rules as kernels (`contract` lists them, `overloads` dispatches to them) and registers one
`GameSpec` (`spec`). The engine then provides batches (`loops`), single games (`game`), random play (`playout`) and
`determinization`. `configuration`, `layout` and `positions` contain shared code for configurations, observations and
positions. `rng` is the random number generator, and `kernel` and `compile_cache` handle compilation.
"""
