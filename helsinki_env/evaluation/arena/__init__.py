"""The arena plays resumable tournaments of many players, distributed over processes and machines."""
