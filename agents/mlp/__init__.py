"""Networks that read the plain observation: nothing is computed for them, so they can be asked wherever games lie."""
