"""A minimal evaluation with vLLM: one `LLM.chat` in this process, written at the end.

    python benchmarks/bare_vllm.py CKPT PROBLEMS.jsonl OUT.jsonl --max-tokens 64

Each line of PROBLEMS has an `id` and a `prompt`.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"


def main() -> None:
    """Load the model, generate, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("problems", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--max-tokens", type=int, required=True)
    parser.add_argument("--engine-args", type=json.loads, default={}, help="for vllm.LLM, as JSON")
    parser.add_argument("--threads", type=int, help="torch's, before the engine starts")
    arguments = parser.parse_args()

    import torch
    from vllm import LLM, SamplingParams

    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    with arguments.problems.open() as lines:
        problems = [json.loads(line) for line in lines]
    llm = LLM(arguments.model, **{"dtype": "float32"} | arguments.engine_args)
    outputs = llm.chat(
        [[{"role": "user", "content": problem["prompt"]}] for problem in problems],
        SamplingParams(temperature=0, max_tokens=arguments.max_tokens),
        use_tqdm=False,
    )
    with arguments.out.open("w") as file:
        for problem, output in zip(problems, outputs, strict=True):
            row = {"id": problem["id"], "completion": output.outputs[0].text}
            file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
