"""`rewardkit list`: what is installed, and the plugins that provide it."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.table import Table

if TYPE_CHECKING:
    from rewardkit.registry import Offer

Kind = Literal["verifiers", "tasks", "prompts", "backends", "recipes"]


def list_command(
    kind: Annotated[
        Kind | None, typer.Argument(help="What to list; by default everything.")
    ] = None,
) -> None:
    """List the installed verifiers, tasks, prompts, backends and recipes."""
    from rewardkit.registry import KINDS, installed
    from rewardkit.text.console import console

    table = Table(box=None, pad_edge=False)
    for heading in ("kind", "name", "from", "what it is"):
        table.add_column(heading, overflow="fold", no_wrap=heading != "what it is")
    for name in [kind] if kind else KINDS:
        for offer in sorted(installed().offers(name).values(), key=lambda offer: offer.name):
            table.add_row(name.removesuffix("s"), offer.name, offer.owner, _about(offer))
    console().print(table)


def _about(offer: Offer) -> str:
    if offer.kind == "prompts":
        return _about_prompt(offer)
    if offer.kind == "recipes":
        from rewardkit.trainers.recipes.recipe import read_recipe

        return str(read_recipe(Path(str(offer.value))).get("about", offer.value))
    loaded = offer.load()
    text = getattr(loaded, "about", None)
    if not isinstance(text, str):
        text = inspect.getdoc(loaded) or ""
    return text.partition("\n")[0]


def _about_prompt(offer: Offer) -> str:
    """The prompt's description, and the tasks that it fits."""
    from rewardkit.harness.prompts.strategies import takes
    from rewardkit.harness.prompts.template import load_template
    from rewardkit.registry import installed

    template = load_template(offer.name, str(offer.value))
    tasks = sorted(installed().offers("tasks"))
    fitting = [task for task in tasks if takes(installed().task(task), template)]
    return f"{template.about} Tasks: {', '.join(fitting) or 'none'}.".lstrip()
