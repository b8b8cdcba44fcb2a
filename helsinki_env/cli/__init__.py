"""The command line: one module per subcommand of ``helsinki`` in `helsinki_env.cli.commands`."""
