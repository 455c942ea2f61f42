"""Evaluate a model in the middle of its training, without an effect on the training."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator, Mapping
from typing import Any


@contextlib.contextmanager
def eval_mode(model: Any, gradient_checkpointing: Mapping[str, Any] | None) -> Iterator[None]:
    """Put the model in evaluation mode; restore it and all random states afterwards.

    `gradient_checkpointing` are the arguments with which it was switched on, if it was.
    """
    from accelerate.utils import extract_model_from_parallel
    from trl.models.utils import disable_gradient_checkpointing

    inner = extract_model_from_parallel(model)
    modes = [(module, module.training) for module in model.modules()]
    with (
        disable_gradient_checkpointing(inner, gradient_checkpointing),
        _without_generation_defaults(inner),
        _random_states_restored(inner.device),
    ):
        model.eval()
        try:
            yield
        finally:
            for module, training in modes:
                module.training = training


@contextlib.contextmanager
def _without_generation_defaults(model: Any) -> Iterator[None]:
    """Remove the model's sampling defaults, which would replace every setting that we leave out."""
    from transformers import GenerationConfig

    # an adapter's wrapper generates with its base model's configuration
    owner = model.get_base_model() if hasattr(model, "get_base_model") else model
    defaults = owner.generation_config
    owner.generation_config = GenerationConfig()
    try:
        yield
    finally:
        owner.generation_config = defaults


@contextlib.contextmanager
def _random_states_restored(device: Any) -> Iterator[None]:
    """Restore the state of every random generator afterwards."""
    import numpy as np
    import torch

    python_state, numpy_state = random.getstate(), np.random.get_state()
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        try:
            yield
        finally:
            random.setstate(python_state)
            np.random.set_state(numpy_state)
