"""Atomic writes with errors that name a remedy, and TOML files that users write."""

from __future__ import annotations

import contextlib
import errno
import math
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rewardkit.errors import UsageError, WriteError
from rewardkit.harness.results.model_folder import weight_files

_REMEDIES = {
    errno.ENOSPC: "free space on that disk",
    errno.EDQUOT: "free space in that quota",
    errno.EFBIG: "raise the limit on a file's size (ulimit -f)",
}


@contextlib.contextmanager
def replaced_file(path: Path, size: int | None = None) -> Iterator[Path]:
    """Yield a path beside `path` to write to; it replaces `path` unless the block raises.

    Readers see the earlier file until then. Raises WriteError.
    """
    partial = _partial(path)
    with write_errors(path, size):
        try:
            yield partial
            partial.replace(path)
        finally:
            with contextlib.suppress(OSError):
                partial.unlink()


def replace_text(path: Path, text: str) -> None:
    """Replace the file's content; lone surrogates, which UTF-8 can't encode, are escaped.

    Raises WriteError.
    """
    content = text.encode("utf-8", "backslashreplace")
    with replaced_file(path, len(content)) as partial:
        partial.write_bytes(content)


def append_bytes(path: Path, content: bytes) -> None:
    """Append to the file. Raises WriteError."""
    with write_errors(path, len(content)), path.open("ab") as file:
        file.write(content)


@contextlib.contextmanager
def write_errors(path: Path, size: int | None = None) -> Iterator[None]:
    """Raise an OSError of the block as a WriteError for `path`; `size` is in bytes.

    Errors of other files, which the block reads, pass unchanged.
    """
    try:
        yield
    except OSError as error:
        paths = (path, _partial(path), *path.parents)
        if error.filename is not None and Path(error.filename) not in paths:
            raise
        is_above = error.filename is not None and Path(error.filename) in path.parents
        if error.errno == errno.ENOENT and not path.parent.is_dir() and not is_above:
            raise WriteError(
                f"{path} can't be written: there is no folder {path.parent}. If it was deleted, "
                "all that was stored in it is lost; make the folder and start the command again"
            ) from error
        needed = "" if size is None else f" ({size:,} bytes are needed)"
        remedy = _REMEDIES.get(error.errno or 0, "make it writable")
        raise WriteError(
            f"{path} can't be written: {error.strerror or error}{needed}. Nothing that was "
            f"finished is lost; {remedy}, and the same command resumes"
        ) from error


def check_target(path: Path, *, overwrite: bool) -> None:
    """Raise UsageError if `path` exists, unless `overwrite`, or if its folder is missing."""
    if path.is_dir() or not path.parent.is_dir():
        raise UsageError(f"{path} can't be written; name a file in a folder that exists")
    if path.exists() and not overwrite:
        raise UsageError(f"{path} exists; name another file, or use --overwrite to replace it")


def _partial(path: Path) -> Path:
    return path.with_name(f".{path.name}.part")


def finite(value: Any) -> Any:
    """A copy with None for NaN and infinities, which JSON lacks."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: finite(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(inner) for inner in value]
    return value


def flat(values: Mapping[str, Any], separator: str = ".") -> Iterator[tuple[str, Any]]:
    """Yield the values of nested mappings, each with the names that lead to it."""
    pending = list(reversed(list(values.items())))
    while pending:
        name, value = pending.pop()
        if isinstance(value, Mapping):
            inner = [(f"{name}{separator}{key}", entry) for key, entry in value.items()]
            pending += reversed(inner)
        else:
            yield name, value


def check_output_folder(folder: Path) -> None:
    """UsageError if `folder` is a file, can't be reached, or belongs to a model's folder."""
    if folder.is_file():
        raise UsageError(f"{folder} is a file; --output-dir must name a folder")
    target = folder.expanduser().absolute()
    for path in (target, *target.parents):
        if path.is_symlink() and not path.exists():
            raise UsageError(
                f"{path} is a link that leads nowhere or in circles; choose another --output-dir"
            )
    if (target / "config.json").exists():
        raise UsageError(
            f"{folder} holds a model; results are never written into a checkpoint's folder; "
            "choose another --output-dir"
        )
    for parent in target.parents:
        if (parent / "config.json").is_file() and weight_files(parent):
            raise UsageError(
                f"{folder} is inside {parent}, which holds a model; results are never written "
                "into a checkpoint's folder; choose another --output-dir"
            )


def read_toml(path: Path, kind: str, hint: str) -> dict[str, Any]:
    """Return the contents of a `kind` file.

    UsageError if it is missing (with the `hint`), unreadable or not TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"there is no {kind} file {str(path)!r}; see {hint}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the {kind} file {str(path)!r} can't be read: {error}") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"the {kind} file {str(path)!r} isn't TOML: {error}") from error
