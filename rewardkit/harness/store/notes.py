"""Notes and tags that a reader gives to samples, in notes.json of the run's folder."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import msgspec

from rewardkit.errors import RunMismatch
from rewardkit.harness.store.documents import FORMAT
from rewardkit.harness.store.files import replace_text

NOTES = "notes.json"

NoteText = Annotated[str, msgspec.Meta(max_length=10_000)]
Tag = Annotated[str, msgspec.Meta(min_length=1, max_length=60)]
NoteTags = Annotated[Sequence[Tag], msgspec.Meta(max_length=20)]


@dataclass(frozen=True)
class SampleNote:
    """A reader's note on a sample, and tags; `started` is the time at which its run began."""

    note: NoteText = ""
    tags: NoteTags = ()
    started: str = ""


class _Document(msgspec.Struct):
    samples: dict[str, SampleNote]


def read_notes(folder: Path) -> Mapping[str, SampleNote]:
    """The notes on a run's samples by key. RunMismatch if the file is damaged."""
    path = folder / NOTES
    try:
        return msgspec.convert(json.loads(path.read_text(encoding="utf-8")), _Document).samples
    except FileNotFoundError:
        return {}
    except (ValueError, RecursionError) as error:
        raise RunMismatch(f"{path} holds no notes ({error}); move it away") from error


def write_note(folder: Path, key: str, note: SampleNote) -> None:
    """Store the note on the sample with this key; one without text and tags is removed.

    The file is replaced whole. Raises WriteError.
    """
    notes = {**read_notes(folder), key: note}
    samples = {key: asdict(one) for key, one in notes.items() if one.note or one.tags}
    document = {"format": FORMAT, "samples": samples}
    replace_text(folder / NOTES, json.dumps(document, indent=2, ensure_ascii=False) + "\n")
