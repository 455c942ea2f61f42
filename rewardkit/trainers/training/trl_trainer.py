"""Build TRL's trainer over a plan."""

from __future__ import annotations

from typing import Any

from rewardkit.errors import UsageError
from rewardkit.harness.run.reporter import Reporter
from rewardkit.harness.store.checkpoints import step_of
from rewardkit.harness.store.rollouts.rollout_record import ROLLOUTS
from rewardkit.harness.store.rollouts.rollout_writer import remove_steps_after
from rewardkit.trainers.training.reporting import is_main_process
from rewardkit.trainers.training.timing import Clock, TimedReward
from rewardkit.trainers.training.training_plan import TrainingPlan


def build_trainer(plan: TrainingPlan, clock: Clock, reporter: Reporter, interrupt: Any) -> Any:
    """TRL's trainer, or the one with momentum, over the plan."""
    from transformers import PrinterCallback

    from rewardkit.trainers.training.trainer_callbacks import ProgressCallback

    trainer_class, arguments = _trainer_class(plan, clock)
    callbacks = [ProgressCallback(reporter, clock), plan.evaluation, interrupt]
    try:
        trainer = trainer_class(
            model=str(plan.model_folder),
            args=plan.config,
            train_dataset=plan.dataset,
            processing_class=plan.tokenizer,
            callbacks=[callback for callback in callbacks if callback is not None],
            **arguments,
        )
    except (OSError, ValueError, ImportError, NotImplementedError) as error:
        raise UsageError(f"TRL can't begin to train {plan.model_folder}: {error}") from error
    trainer.remove_callback(PrinterCallback)
    if plan.evaluation is not None:
        plan.evaluation.attach(trainer)
    _keep_rollouts(trainer, plan)
    return trainer


def _keep_rollouts(trainer: Any, plan: TrainingPlan) -> None:
    """Keep the completions, if any; else remove those of steps that are trained again."""
    from rewardkit.trainers.rollouts.callback import RolloutsCallback

    settings = plan.recipe.rollouts
    if settings.share and not plan.recipe.is_sft:
        trainer.add_callback(RolloutsCallback(trainer, **dict(settings)))
    elif is_main_process():
        step = step_of(str(plan.resumed_from)) if plan.resumed_from else None
        remove_steps_after(plan.output_dir / ROLLOUTS, step or 0)


def _trainer_class(plan: TrainingPlan, clock: Clock) -> tuple[Any, dict[str, Any]]:
    """The trainer's class and the arguments that only it takes."""
    import trl

    from rewardkit.trainers.momentum import MomentumGRPOTrainer
    from rewardkit.trainers.silent_groups import SkippingGRPOTrainer

    if plan.recipe.is_sft:
        return trl.SFTTrainer, {}
    arguments: dict[str, Any] = {
        "reward_funcs": [TimedReward(function, clock) for function in plan.functions]
    }
    momentum = plan.recipe.momentum
    if plan.recipe.skip_silent_groups:
        arguments["skip_silent_groups"] = True
    if momentum is not None:
        return MomentumGRPOTrainer, arguments | momentum.model_dump()
    if plan.recipe.skip_silent_groups:
        return SkippingGRPOTrainer, arguments
    return trl.GRPOTrainer, arguments
