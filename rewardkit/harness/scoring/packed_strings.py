"""Many strings in little memory."""

from __future__ import annotations

from array import array


class PackedStrings:
    """Strings as one UTF-8 text and 8 bytes each."""

    def __init__(self) -> None:
        self._text = bytearray()
        self._ends = array("Q")

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, index: int) -> str:
        start = self._ends[index - 1] if index else 0
        return self._text[start : self._ends[index]].decode("utf-8", "surrogatepass")

    @property
    def size(self) -> int:
        """Bytes in use."""
        return len(self._text) + self._ends.itemsize * len(self._ends)

    def append(self, text: str) -> None:
        """Append one string."""
        self._text += text.encode("utf-8", "surrogatepass")
        self._ends.append(len(self._text))

    def extend(self, other: PackedStrings) -> None:
        """Append the strings of another."""
        start = len(self._text)
        self._text += other._text
        self._ends.extend(end + start for end in other._ends)
