from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from rewardkit.errors import UsageError
from rewardkit.harness.results import model_folder


@pytest.fixture
def folder(tiny_checkpoint: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_checkpoint, tmp_path / "copy"))


def flip(path: Path, place: int) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("place", [0, 1000, -1])
def test_one_flipped_bit_of_the_weights_is_another_model(folder: Path, place: int) -> None:
    before = model_folder.fingerprint(folder, "t")
    flip(folder / "model.safetensors", place)
    after = model_folder.fingerprint(folder, "t")
    assert {name for name in before if before[name] != after[name]} == {"weights"}


def test_every_part_of_a_large_file_counts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_folder, "_PART", 1000)
    path = folder / "model.safetensors"
    seen = {model_folder.fingerprint(folder, "t")["weights"]}
    for place in (0, 999, 1000, 1001, 5500, path.stat().st_size - 1):
        flip(path, place)
        seen.add(model_folder.fingerprint(folder, "t")["weights"])
    assert len(seen) == 7


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ("tokenizer.json", "tokenizer"),
        ("config.json", "config"),
        ("generation_config.json", "config"),
    ],
)
def test_each_file_has_its_hash(folder: Path, changed: str, name: str) -> None:
    before = model_folder.fingerprint(folder, "t")
    flip(folder / changed, 10)
    after = model_folder.fingerprint(folder, "t")
    assert {key for key in before if before[key] != after[key]} == {name}


def test_the_chat_template_has_its_hash(folder: Path) -> None:
    first, second, none = (model_folder.fingerprint(folder, one) for one in ("t", "u", None))
    assert len({one["chat_template"] for one in (first, second, none)}) == 3
    assert first["weights"] == second["weights"]


@pytest.mark.parametrize(
    "name",
    [
        "optimizer.pt",
        "scheduler.pt",
        "rng_state_0.pth",
        "trainer_state.json",
        "training_args.bin",
        "notes.txt",
    ],
)
def test_the_trainer_state_is_not_part_of_the_fingerprint(folder: Path, name: str) -> None:
    before = model_folder.fingerprint(folder, "t")
    (folder / name).write_bytes(b"state")
    assert model_folder.fingerprint(folder, "t") == before


def test_the_path_of_the_folder_does_not_matter(folder: Path, tiny_checkpoint: Path) -> None:
    there, here = (model_folder.fingerprint(one, "t") for one in (folder, tiny_checkpoint))
    assert there == here


@pytest.mark.parametrize("name", ["./none", "/none/at/all", "plain", "a/b/c"])
def test_a_name_that_is_neither_folder_nor_hub_id_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="hub id"):
        model_folder.resolve(name)


def test_a_folder_resolves_to_itself_unless_it_is_empty_or_an_adapter(
    tiny_checkpoint: Path, tmp_path: Path
) -> None:
    assert model_folder.resolve(str(tiny_checkpoint)) == tiny_checkpoint
    with pytest.raises(UsageError, match=r"config\.json"):
        model_folder.resolve(str(tmp_path))
    (tmp_path / "adapter_config.json").write_text('{"base_model_name_or_path": "owner/base"}')
    with pytest.raises(UsageError, match=r"only an adapter; merge it into its base 'owner/base'"):
        model_folder.resolve(str(tmp_path))


def test_an_unreachable_hub_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(*_: object, **__: object) -> Callable[[], None]:
        raise ConnectionError("no route to host")

    monkeypatch.setattr("huggingface_hub.snapshot_download", unreachable)
    with pytest.raises(UsageError, match="no route to host"):
        model_folder.resolve("owner/name")


def test_a_hub_id_resolves_to_its_snapshot(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda *_, **__: str(tmp_path))
    assert model_folder.resolve("owner/name") == tmp_path
