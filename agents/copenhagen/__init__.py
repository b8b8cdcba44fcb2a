"""Players of Copenhagen: a yardstick that plays at a glance, and the heuristic that search builds on."""
