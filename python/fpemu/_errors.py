# SPDX-License-Identifier: BSD-2-Clause
"""Exceptions of fpemu."""

from __future__ import annotations


class Error(ValueError):
    """What libfpemu refuses: the message says what and why.

    status: the library's number for the reason (`fpemu_status` of `fpemu/status.h`), such as 3 where a dtype cannot
    hold every value of a format exactly, 5 where a format and a call do not go together, 6 for overlapping arrays.
    """

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status

    def __reduce__(self) -> tuple[type[Error], tuple[str, int]]:
        return type(self), (str(self), self.status)


class SpecError(Error):
    """A text that is no format, rounding or model of a dot product.

    text: what was read. reason: the library's words. position: offset of the offending character, in bytes of UTF-8;
    the text's length where it ends too early.
    """

    def __init__(self, message: str, text: str = "", reason: str = "", position: int = 0) -> None:
        super().__init__(message, 7)
        self.text = text
        self.reason = reason
        self.position = position

    def __reduce__(self) -> tuple[type[SpecError], tuple[str, str, str, int]]:  # type: ignore[override]
        return type(self), (str(self), self.text, self.reason, self.position)
