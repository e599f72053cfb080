# SPDX-License-Identifier: BSD-2-Clause
"""Files that appear complete or not at all, by the rule of the programs: WHAT IS OVERWRITTEN in fpemu(1)."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from collections.abc import Container, Sequence

_MOST_LINKS = 40
_OTHER_PICTURES = (".png", ".pdf", ".jpg", ".jpeg", ".eps", ".gif")


def table(rows: Sequence[Sequence[str]], right: Container[int] = ()) -> list[str]:
    """Rows as lines, with columns of one width, flush right where `right` says so; without blanks at the end."""
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(f"{cell:{'>' if i in right else '<'}{wide[i]}}" for i, cell in enumerate(row)).rstrip()
            for row in rows]


def picture(file: str | os.PathLike[str] | None, width: float, height: int, parts: Sequence[str]) -> str:
    """An SVG of these parts on white: the text, which is also written to `file` where one is named. ValueError for the
    name of another kind of picture."""
    start, kind = os.path.splitext(os.fsdecode(file or ""))
    if kind.lower() in _OTHER_PICTURES:
        raise ValueError(f"{start + kind!r}: plots are SVG; name it {start + '.svg'!r}")
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" font-family="sans-serif" '
            'font-size="12">', '<rect width="100%" height="100%" fill="white"/>')
    text = "\n".join([*head, *parts, "</svg>", ""])
    if file is not None:
        write(file, text)
    return text


def write(path: str | os.PathLike[str], text: str) -> None:
    """Writes a text in UTF-8. A file that is there is replaced when the new one is on the disk, and keeps owner and
    permissions. Links are followed and stay; a pipe or device is written directly. OSError, of this path, where that
    fails; what was there is then as it was."""
    name = os.fsdecode(path)
    try:
        _write(name, text.encode())
    except OSError as error:
        raise OSError(error.errno, error.strerror, name) from None


def _write(path: str, content: bytes) -> None:
    descriptor = _descriptor(path)
    found = None
    if descriptor is None:
        try:
            found = os.stat(path)
        except FileNotFoundError:
            if not os.path.basename(path):
                raise  # no file has such a name
    if descriptor is not None or found is not None and not stat.S_ISREG(found.st_mode):
        with open(path if descriptor is None else os.dup(descriptor), "wb") as stream:
            stream.write(content)
    elif found is not None and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    else:
        _replace(os.path.realpath(path), found, content)


def _descriptor(path: str) -> int | None:
    """The open descriptor that a path such as /dev/stdout names. It goes on behind what is written there."""
    folder = os.path.realpath("/proc/self/fd")
    for _ in range(_MOST_LINKS):
        head, name = os.path.split(path)
        if name.isdecimal() and os.path.realpath(head) == folder:
            return int(name)
        if not os.path.islink(path):
            break
        path = os.path.join(head, os.readlink(path))
    return None


def _replace(target: str, found: os.stat_result | None, content: bytes) -> None:
    handle, temporary = tempfile.mkstemp(prefix=".fpemu-", dir=os.path.dirname(target))
    try:
        with open(handle, "wb") as stream:
            _permit(handle, found)
            stream.write(content)
            stream.flush()
            os.fsync(handle)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _permit(handle: int, found: os.stat_result | None) -> None:
    """Owner and permissions of the file that is replaced, as far as they can be had, or those of a new file. Where the
    group cannot be had, another one gets no more than everybody."""
    if found is None:
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
    else:
        mode = found.st_mode & 0o777
        if not _own(handle, found.st_uid, found.st_gid) and not _own(handle, -1, found.st_gid):
            mode = mode & ~0o070 | mode & 0o070 & (mode & 0o007) << 3
    with contextlib.suppress(OSError):  # a file system without permissions is no error
        os.fchmod(handle, mode)


def _own(handle: int, user: int, group: int) -> bool:
    now = os.fstat(handle)
    try:
        if (now.st_uid, now.st_gid) != (user, group):
            os.fchown(handle, user, group)
    except OSError:
        return False
    return True
