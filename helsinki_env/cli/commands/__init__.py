"""Subcommands of ``helsinki`` (see `helsinki_env.cli.main`). They may import the players and the training code."""
