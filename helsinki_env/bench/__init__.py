"""Speed benchmark of the environments: what ``helsinki bench`` measures."""
