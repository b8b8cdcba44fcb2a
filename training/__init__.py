"""Self-play training of helsinki-env: observation -> network -> actions -> trajectory -> PPO -> checkpoint.

Each seat has its own trajectory.

Training requires PyTorch, from the extra `train` (`pip install -c constraints.txt -e ".[train]"` in a clone). Only the
modules that use PyTorch import it.
"""

import os

# Let idle PyTorch threads sleep: spinning threads slowed training up to four times on busy machines. PyTorch reads
# the variable on import.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
