"""Self-play training of helsinki-env: observation -> network -> decisions -> trajectory -> PPO -> checkpoint.

Each seat follows its own trajectory.

Needs PyTorch, which the extra `train` brings (`pip install -c constraints.txt -e ".[train]"` in a clone) and which is
imported only by the modules that use it.
"""

import os

# Threads of PyTorch that wait sleep then: spinning ones stop each other wherever other programs run as well, and
# training was seen to take four times as long. PyTorch reads it when it is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
