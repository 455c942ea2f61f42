"""Choose the engine for `--backend auto`."""

from __future__ import annotations

import importlib.util


def choose() -> tuple[str, str]:
    """The name of the chosen backend, and the reason in a sentence.

    vLLM where it imports and finds a device that it runs on, else transformers.
    """
    if importlib.util.find_spec("vllm") is None:
        return "transformers", "vllm isn't installed here"
    from rewardkit.harness.backends.vllm.engine_settings import quieten

    quieten()
    try:
        from vllm.platforms import current_platform

        platform = str(current_platform.device_type)
    except Exception as error:  # a build for another machine fails in many ways
        return "transformers", f"vllm is installed but can't be imported ({error})"
    if not platform:
        return "transformers", "vllm is installed but finds no device that it can run on"
    return "vllm", f"vllm is installed and runs on this machine's {platform}"
