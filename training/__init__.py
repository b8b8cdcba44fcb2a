"""Self-play training of helsinki-env: observation -> network -> decisions -> trajectory -> PPO -> checkpoint.

Each seat follows its own trajectory.

Needs PyTorch, which the extra `train` brings (`pip install -c constraints.txt -e ".[train]"` in a clone) and which is
imported only by the modules that use it.
"""
