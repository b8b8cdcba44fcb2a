"""The rules as compiled kernels over one flat record per game.

Nothing in this folder imports from the rest of the package except the component
files (`helsinki_env.components`). Each module states one chapter of the rules page
(`docs/rules.md`); `step.py` holds the only kernels that other folders call.
"""
