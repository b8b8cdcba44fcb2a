"""Networks that read the observation without further features, so that they also run on observations on a GPU."""
