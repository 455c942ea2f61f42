"""Training with the verifiers of evaluation: rewards for TRL, objectives, trainers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rewardkit.lazy import lazy_names
from rewardkit.trainers.rewards.reward_functions import check_columns as check_columns
from rewardkit.trainers.rewards.reward_functions import reward_func as reward_func
from rewardkit.trainers.rewards.reward_functions import reward_funcs as reward_funcs

if TYPE_CHECKING:
    from rewardkit.harness.tasks.game24 import game24_search_trace as game24_search_trace
    from rewardkit.harness.tasks.game24 import game24_solution as game24_solution
    from rewardkit.harness.tasks.motion.laws import motion_sequences as motion_sequences
    from rewardkit.harness.tasks.motion.laws import motion_solution as motion_solution
    from rewardkit.trainers.evaluation.callback import EvaluationCallback as EvaluationCallback
    from rewardkit.trainers.objectives import k1 as k1
    from rewardkit.trainers.objectives import k2 as k2
    from rewardkit.trainers.objectives import k3 as k3
    from rewardkit.trainers.recipe_trainer import MomentumGRPOTrainer as MomentumGRPOTrainer
    from rewardkit.trainers.training.train import TrainingResult as TrainingResult
    from rewardkit.trainers.training.train import train as train
    from rewardkit.trainers.training.training_rows import train_dataset as train_dataset

# imported on first use: rewards need neither torch nor TRL
__getattr__, __all__ = lazy_names(__name__, __file__, extra="train")
__all__ += ["check_columns", "reward_func", "reward_funcs"]
