"""The same verdicts in other trainers and harnesses: a module for each host, with its name.

No module imports a host. Most hosts take an import path to an attribute, so each module offers
every verifier and every task by name: `rewardkit.frameworks.verl.math`.
"""
