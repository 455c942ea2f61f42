"""`rewardkit adapter`: the reward file that some trainers take instead of an import path."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from rewardkit.cli.arguments import echo
from rewardkit.cli.options import with_options
from rewardkit.errors import UnknownName, UsageError

FILES = {
    "openrlhf": """\
from rewardkit.frameworks.openrlhf import reward_function

reward_func = reward_function({verifier!r}{arguments})
""",
    "ms-swift": """\
from swift.rewards import orms

from rewardkit.frameworks.ms_swift import reward_class

orms["rewardkit_{verifier}"] = reward_class({verifier!r}{arguments})
""",
    "easyr1": """\
from rewardkit.frameworks.easyr1 import reward_function

REWARD_NAME = {verifier!r}
REWARD_TYPE = "batch"
compute_score = reward_function({verifier!r}{arguments})
""",
    "lm-eval": """\
task: rewardkit_{verifier}
custom_dataset: !function rewardkit.frameworks.lm_eval.problems
dataset_kwargs: {{task: {verifier}}}  # also: prompt, data, split
test_split: test
output_type: generate_until
doc_to_text: prompt
doc_to_target: reference
generation_kwargs: {{until: [], do_sample: false, max_gen_toks: 2048}}
process_results: !function rewardkit.frameworks.lm_eval.{verifier}
metric_list:
  - {{metric: acc, aggregation: mean, higher_is_better: true}}
  - {{metric: score, aggregation: mean, higher_is_better: true}}
  - {{metric: unjudged, aggregation: mean, higher_is_better: false}}
""",
    "nemo-gym": """\
from rewardkit.frameworks.nemo_gym import resources_server

ResourcesServer = resources_server({verifier!r}{arguments})

if __name__ == "__main__":
    ResourcesServer.run_webserver()
""",
}
"""The file of each trainer or harness that loads its reward or task from a file."""


@with_options
def adapter_command(
    host: Annotated[str, typer.Argument(help=f"The trainer: {', '.join(FILES)}.")],
    verifier: Annotated[str, typer.Option(help="A verifier or a task.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")],
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a file that exists.")
    ] = False,
    *,
    verifier_args: Mapping[str, Any],
) -> None:
    """Write the file that a trainer loads its reward from."""
    from rewardkit import registry
    from rewardkit.frameworks.scoring import scorer
    from rewardkit.harness.store.files import check_target, replace_text

    if host not in FILES:
        name = host.replace("-", "_")
        if name.isidentifier() and importlib.util.find_spec(f"rewardkit.frameworks.{name}"):
            raise UsageError(
                f"{host} needs no file: import its reward from rewardkit.frameworks.{name}"
            )
        raise UnknownName.among("trainer with a reward file", host, FILES)
    scorer(verifier, **verifier_args)  # the name and its parameters exist
    tasks = registry.installed().offers("tasks")
    if host == "lm-eval" and verifier not in tasks:
        raise UnknownName.among("task", verifier, tasks)
    if host == "lm-eval" and verifier_args:
        raise UsageError(
            "lm-eval's task files can't hold a verifier's parameters; put "
            f"my_{verifier} = process_results({verifier!r}, …) of rewardkit.frameworks.lm_eval "
            f"into your own module, and name it in the file: !function my_module.my_{verifier}"
        )
    check_target(output, overwrite=overwrite)
    written = "".join(f", {name}={value!r}" for name, value in verifier_args.items())
    replace_text(output, FILES[host].format(verifier=verifier, arguments=written))
    echo(f"wrote {output}", err=True)
