"""What every game shares, written once for records of any game. Nothing in this folder names a game.

A game states its rules as kernels (`contract` lists them, `rule` says how kernels of any game call them) and brings the
rest in one object (`spec`). From these follow batches (`loops`), one game (`game`), random play (`playout`), and what a
seat cannot see dealt anew (`hidden`). `configuration`, `layout` and `positions` are what configurations, observations
and written positions share; `rng` is chance; `kernel`, `dispatch` and `kept` are about compiling.
"""
