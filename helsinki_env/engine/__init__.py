"""What every game shares, written once for records of any game. Nothing in this folder names a game.

`contract` lists the rules that a game states as kernels, `rule` says how kernels of any game call them, `loops` deal,
step and look at batches; `rng` is chance; `kernel`, `dispatch` and `kept` are about compiling.
"""
