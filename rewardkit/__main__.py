"""`python -m rewardkit`."""

from rewardkit.cli.main import run

run()
