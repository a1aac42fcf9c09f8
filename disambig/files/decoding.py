"""Bytes of a file as text of an encoding that someone named."""

from __future__ import annotations

from disambig.errors import UserError


def decoded(data: bytes, path: str, encoding: str) -> str:
    """Return the text of a file, a byte order mark left out.

    Raises
    ------
    UserError
        D303 for a NUL byte or sign, D308 and D469 for bytes that are not of this encoding, D470 for an
        unknown one.
    """
    try:
        text = data.decode(encoding)
    except UnicodeError as problem:
        raise _no_text(path, data, encoding, problem) from None
    except (LookupError, ValueError):
        raise UserError("D470", where=f"{path}: ", name=encoding) from None
    if "\0" in text:
        raise UserError("D303", path=path, offset=text.index("\0"), hint="")
    return text.removeprefix("\ufeff")


def nul_error(path: str, data: bytes) -> UserError:
    """Return the message for a file with a NUL byte."""
    utf16 = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    hint = "; it looks like UTF-16: name that, --encoding utf-16" if utf16 else ""
    return UserError("D303", path=path, offset=data.index(b"\0"), hint=hint)


def _no_text(path: str, data: bytes, encoding: str, problem: UnicodeError) -> UserError:
    """Return the message for bytes that cannot be decoded."""
    if b"\0" in data and b"\0" not in "a".encode(encoding):
        return nul_error(path, data)
    if isinstance(problem, UnicodeDecodeError):
        at = problem.start
        return UserError("D469", path=path, encoding=encoding, byte=f"0x{data[at : at + 1].hex()}", offset=at)
    return UserError("D308", path=path, problem=f"not {encoding}: {problem}")
