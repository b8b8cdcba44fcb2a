"""Players that search: they try decisions in games dealt from what they see, and play those on by the heuristic."""
