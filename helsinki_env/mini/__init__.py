"""A small sibling of the games that is solved exactly: rules, game tree, best responses, exploitability, equilibria.

Importing the package does not import this module; `helsinki_env.mini.game` registers the game `mini`.
"""
