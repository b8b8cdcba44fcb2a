"""Command-line interface: `helsinki_env.cli.commands` has one module for each subcommand of ``helsinki``."""
