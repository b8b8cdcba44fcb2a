"""Self-play training: observation -> network -> decisions -> each seat's own trajectory -> PPO -> checkpoint.

Needs PyTorch, which the extra `train` brings (`pip install -c constraints.txt -e ".[train]"` in a clone) and which is
imported only by the modules that use it.
"""
