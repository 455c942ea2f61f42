"""Silence the libraries while a training runs, and pass their warnings on."""

from __future__ import annotations

import contextlib
import logging
import warnings
from collections.abc import Callable, Iterator

LOGGERS = ("rewardkit", "trl")
"""The loggers whose warnings a person should see."""


@contextlib.contextmanager
def only_warnings(warned: Callable[[str], None]) -> Iterator[None]:
    """Hide progress bars and notices; pass each warning of rewardkit, TRL and Python on once."""
    import datasets
    from transformers.utils import logging as transformers_logging

    verbosity = transformers_logging.get_verbosity()
    shows_bars = transformers_logging.is_progress_bar_enabled()
    transformers_logging.set_verbosity_error()
    logging.getLogger("vllm").setLevel(logging.ERROR)  # TRL imports it wherever it is installed
    transformers_logging.disable_progress_bar()
    datasets_show_bars = datasets.is_progress_bar_enabled()
    datasets.disable_progress_bars()
    handler = _WarningHandler(warned)
    loggers = [logging.getLogger(name) for name in LOGGERS]
    propagated = [logger.propagate for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.propagate = False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("default", UserWarning)
            warnings.showwarning = lambda message, *_, **__: handler.warn_once(str(message))
            yield
    finally:
        for logger, before in zip(loggers, propagated, strict=True):
            logger.removeHandler(handler)
            logger.propagate = before
        transformers_logging.set_verbosity(verbosity)
        if shows_bars:
            transformers_logging.enable_progress_bar()
        if datasets_show_bars:
            datasets.enable_progress_bars()


class _WarningHandler(logging.Handler):
    def __init__(self, warned: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._warned = warned
        self._seen: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        self.warn_once(record.getMessage())

    def warn_once(self, text: str) -> None:
        if text not in self._seen:
            self._seen.add(text)
            self._warned(text)
