"""The libraries' chatter, silenced while a training runs; their warnings, passed on."""

from __future__ import annotations

import contextlib
import logging
import warnings
from collections.abc import Callable, Iterator

TOLD = ("rewardkit", "trl")
"""The loggers whose warnings a person should see."""


@contextlib.contextmanager
def only_warnings(warned: Callable[[str], None]) -> Iterator[None]:
    """No bars and no notices; warnings of rewardkit, TRL and Python go to `warned`, each once."""
    from transformers.utils import logging as chatter

    verbosity, bars = chatter.get_verbosity(), chatter.is_progress_bar_enabled()
    chatter.set_verbosity_error()
    logging.getLogger("vllm").setLevel(logging.ERROR)  # TRL imports it wherever it is installed
    chatter.disable_progress_bar()
    teller = _Teller(warned)
    loggers = [logging.getLogger(name) for name in TOLD]
    spread = [logger.propagate for logger in loggers]
    for logger in loggers:
        logger.addHandler(teller)
        logger.propagate = False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("default", UserWarning)
            warnings.showwarning = lambda message, *_, **__: teller.tell(str(message))
            yield
    finally:
        for logger, before in zip(loggers, spread, strict=True):
            logger.removeHandler(teller)
            logger.propagate = before
        chatter.set_verbosity(verbosity)
        if bars:
            chatter.enable_progress_bar()


class _Teller(logging.Handler):
    def __init__(self, warned: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._warned = warned
        self._told: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        self.tell(record.getMessage())

    def tell(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self._warned(text)
