"""What games tell: designs of experiments, estimates with intervals, verdicts. Reads games, never plays them."""
