"""Find the folder of a model, here or on the hub, and hash the files that decide its output."""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from functools import cache, partial
from pathlib import Path
from typing import Any

from rewardkit.available_resources import available_cores
from rewardkit.errors import UsageError, needs_extra

TIMEOUT = 1.5
"""Seconds in which the hub must answer."""


@cache
def hub_is_reachable() -> bool:
    """Return whether the hub answers in time, asked once a process.

    Without a connection, `datasets` retries for 24 s before it reads its cache.
    """
    from huggingface_hub import constants, get_session

    try:
        get_session().head(constants.ENDPOINT, timeout=TIMEOUT)
    except Exception:  # httpx's, the hub client's where it is offline, or of a strange address
        return False
    return True


@contextlib.contextmanager
def cache_alone_if_offline() -> Iterator[None]:
    """Let `datasets` read only its cache while the hub can't be reached, without retries."""
    import datasets.config
    import huggingface_hub.constants

    if hub_is_reachable():
        yield
        return
    places: tuple[Any, ...] = (datasets.config, huggingface_hub.constants)
    before = [place.HF_HUB_OFFLINE for place in places]
    try:
        for place in places:
            place.HF_HUB_OFFLINE = True
        yield
    finally:
        for place, value in zip(places, before, strict=True):
            place.HF_HUB_OFFLINE = value


_PART = 64 * 2**20
_UNUSED = ("original/*", "onnx/*", "*.pth", "*.msgpack", "*.h5", "*.ot", "*.onnx")

_WEIGHTS = (
    "*.safetensors",
    "*.safetensors.index.json",
    "*.bin",
    "*.bin.index.json",
    "*.pt",
    "*.pth",
    "*.gguf",
)
_STATE = ("optimizer*", "scheduler*", "rng_state*", "trainer_state*", "training_args*", "scaler*")
_TOKENIZER = (
    "tokenizer*",
    "vocab*",
    "merges.txt",
    "special_tokens_map.json",
    "added_tokens.json",
    "tekken.json",
    "*.tiktoken",
    "spiece.model",
)
_CONFIG = ("config.json", "generation_config.json", "quant*config.json", "*.py")


def resolve(model: str) -> Path:
    """Return the folder of `model`; a hub id is downloaded unless it is cached."""
    folder = Path(model).expanduser()
    if folder.is_dir():
        if not (folder / "config.json").is_file():
            base = read_json(folder / "adapter_config.json").get("base_model_name_or_path")
            if base is None:
                raise UsageError(f"{folder} holds no config.json; give a checkpoint's folder")
            raise UsageError(
                f"{folder} holds only an adapter; merge it into its base {base!r}, and save the "
                "tokenizer beside it: PeftModel.from_pretrained(base, adapter).merge_and_unload()"
                ".save_pretrained(folder)"
            )
        return folder
    refuse_missing(model)
    return _download(model)


_OF_TRAINING = re.compile(r"(?:checkpoint|step)[-_]?\d+|final")


def refuse_missing(model: str) -> None:
    """UsageError for a text that is a path by its form and names no folder.

    So is owner/name if there is a folder `owner`, or if `name` is one that trainings write.
    """
    path = Path(model).expanduser()
    if path.is_dir():
        return
    if path.suffix.lower() == ".gguf":
        raise UsageError(
            f"{model!r} is a GGUF file; the engines load a checkpoint's folder. Write one with "
            "transformers: from_pretrained(FOLDER, gguf_file=NAME) and save_pretrained, of the "
            "tokenizer too (scripts/real-model shows how)"
        )
    is_path = path.exists() or model.startswith((".", "/", "~")) or model.count("/") != 1
    if is_path or path.parent.is_dir() or _OF_TRAINING.fullmatch(path.name):
        beside = sorted(entry.name for entry in path.parent.glob("*") if entry.is_dir())
        close = difflib.get_close_matches(path.name, beside, n=1)
        hint = f"; did you mean {str(path.parent / close[0])!r}?" if close else ""
        raise UsageError(
            f"no model at {model!r}{hint}; give a checkpoint's folder, or a hub id such as "
            "owner/name (`hf download owner/name` prints its folder here)"
        )


def loading_error(what: str, error: Exception) -> UsageError:
    """The error for a checkpoint that can't be loaded; it names the option that its code needs."""
    if "trust_remote_code" in str(error):
        return UsageError(
            f"{what}: it needs Python code that the checkpoint brings, which runs only with "
            "--trust-remote-code; read that code first"
        )
    return UsageError(f"{what}: {error}")


def _download(model: str) -> Path:
    with needs_extra("transformers", "a hub id"):
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import LocalEntryNotFoundError
    try:
        return Path(snapshot_download(model, ignore_patterns=list(_UNUSED)))
    except LocalEntryNotFoundError as error:
        raise UsageError(
            f"{model!r} is neither a folder here nor in the hub's cache, and the hub can't be "
            "reached; give a checkpoint's folder, or check the name and the network"
        ) from error
    except Exception as error:  # the hub client raises its own, httpx' and OS errors
        raise UsageError(
            f"{model!r} isn't a local folder, and the hub did not serve it "
            f"({first_line(error)}); check the name, the network and, "
            "for a gated model, `hf auth login`"
        ) from error


def first_line(error: BaseException) -> str:
    """The error's class, and the first line of its text."""
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"


def read_json(path: Path) -> dict[str, Any]:
    """Read the JSON object in `path`; a missing file is empty."""
    if not path.is_file():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not JSON ({error}); the checkpoint is damaged") from error
    if not isinstance(content, dict):
        raise UsageError(f"{path} holds no JSON object; the checkpoint is damaged")
    return content


def weight_files(folder: Path) -> list[Path]:
    """The weight files of a checkpoint."""
    return _named(sorted(folder.iterdir()), _WEIGHTS)


def fingerprint(folder: Path, chat_template: str | None) -> Mapping[str, str]:
    """SHA-256 of the weights, the tokenizer, the chat template in use and the configuration."""
    files = [path for path in sorted(folder.iterdir()) if path.is_file()]
    template = hashlib.sha256((chat_template or "").encode("utf-8", "backslashreplace")).hexdigest()
    with ThreadPoolExecutor(max_workers=min(8, available_cores())) as pool:
        return {
            "weights": _hash_files(pool, _named(files, _WEIGHTS)),
            "tokenizer": _hash_files(pool, _named(files, _TOKENIZER)),
            "chat_template": template,
            "config": _hash_files(pool, _named(files, _CONFIG)),
        }


def hash_file(path: Path) -> str:
    """SHA-256 of one file's content, without its name."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _named(files: Iterable[Path], patterns: Iterable[str]) -> list[Path]:
    return [
        path
        for path in files
        if any(fnmatch(path.name, pattern) for pattern in patterns)
        and not any(fnmatch(path.name, pattern) for pattern in _STATE)
    ]


def _hash_files(pool: ThreadPoolExecutor, files: Iterable[Path]) -> str:
    """Hash names, sizes and parts of files; hashlib releases the GIL, so threads help."""
    whole = hashlib.sha256()
    for path in files:
        size = path.stat().st_size
        whole.update(f"{path.name}\0{size}\0".encode())
        for digest in pool.map(partial(_hash_part, path), range(0, size, _PART)):
            whole.update(digest)
    return whole.hexdigest()


def _hash_part(path: Path, start: int) -> bytes:
    with path.open("rb") as file:
        file.seek(start)
        return hashlib.sha256(file.read(_PART)).digest()
