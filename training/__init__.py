"""Self-play training of helsinki-env: observation -> network -> actions -> trajectory -> PPO -> checkpoint.

Each seat has a separate trajectory.

Training requires PyTorch, which the `train` extra installs (`pip install -c constraints.txt -e ".[train]"` in a clone).
Modules that do not use PyTorch can be imported without it.
"""

import os

# Let idle PyTorch threads sleep: spinning threads made training up to four times slower on busy machines. PyTorch reads
# this variable on import.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
