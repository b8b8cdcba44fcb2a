"""Networks that read only the observation, so that they can also run on observations in GPU memory."""
