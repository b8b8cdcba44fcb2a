"""Self-play training: observation -> network -> decisions -> each seat's own trajectory -> PPO -> checkpoint.

Needs PyTorch (`pip install "helsinki-env[train]"`), which is imported only by the modules that use it.
"""
