"""The same verdicts in other trainers and harnesses: a module for each host, named for it.

Nothing here imports a host. Most hosts take an import path to an attribute, so each module offers
every verifier and every task by name: `rewardkit.frameworks.verl.math`.
"""
