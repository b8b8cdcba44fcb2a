"""What games tell about the balance of the action board: studies, estimates with intervals, verdicts, a report.

`study` says what is played and `run` has it played by the arena; all else reads games that are there.
"""
