"""A model in training, held still while it is evaluated."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator, Mapping
from typing import Any


@contextlib.contextmanager
def at_rest(model: Any, gradient_checkpointing: Mapping[str, Any] | None) -> Iterator[None]:
    """Hold the model as for evaluation; afterwards it and all random states are as before.

    `gradient_checkpointing` are the arguments with which it was switched on, if it was.
    """
    from accelerate.utils import extract_model_from_parallel
    from trl.models.utils import disable_gradient_checkpointing

    inner = extract_model_from_parallel(model)
    modes = [(module, module.training) for module in model.modules()]
    with (
        disable_gradient_checkpointing(inner, gradient_checkpointing),
        _bare_generation(inner),
        _own_randomness(inner.device),
    ):
        model.eval()
        try:
            yield
        finally:
            for module, training in modes:
                module.training = training


@contextlib.contextmanager
def _bare_generation(model: Any) -> Iterator[None]:
    """Without the model's sampling defaults, which would fill whatever we leave unset."""
    from transformers import GenerationConfig

    # an adapter's wrapper generates by its base model's
    owner = model.get_base_model() if hasattr(model, "get_base_model") else model
    own = owner.generation_config
    owner.generation_config = GenerationConfig()
    try:
        yield
    finally:
        owner.generation_config = own


@contextlib.contextmanager
def _own_randomness(device: Any) -> Iterator[None]:
    """Whatever draws in here, training goes on as if nothing had."""
    import numpy as np
    import torch

    python, numpy = random.getstate(), np.random.get_state()
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        try:
            yield
        finally:
            random.setstate(python)
            np.random.set_state(numpy)
