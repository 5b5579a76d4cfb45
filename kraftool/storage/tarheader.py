"""The 512-byte headers of a tar archive and what extends them: POSIX, pax, GNU, GNU sparse.

Owns the formats only: bytes in, values out, no reading. Python's tarfile is not used because it
reads pax headers and long names whole, whatever size they claim, and stops at the first damage.
"""

from dataclasses import dataclass

from kraftool.decoders.errors import DecodeError

BLOCK = 512
ZERO_BLOCK = bytes(BLOCK)

REGULAR = b"0"
HARD_LINK = b"1"
SYMBOLIC_LINK = b"2"
DIRECTORY = b"5"
GNU_DIRECTORY = b"D"
GNU_LONG_NAME = b"L"
GNU_LONG_LINK = b"K"
GNU_SPARSE = b"S"
PAX = b"x"
PAX_GLOBAL = b"g"
# What these hold is about the member that follows.
EXTENSIONS = (PAX, PAX_GLOBAL, GNU_LONG_NAME, GNU_LONG_LINK)
_REGULAR_KINDS = (b"0", b"\0", b"7")
# The size field of these means nothing, and no data follows them.
WITHOUT_DATA = (HARD_LINK, SYMBOLIC_LINK, b"3", b"4", DIRECTORY, b"6")
KIND_WORDS = {
    HARD_LINK: "a hard link",
    SYMBOLIC_LINK: "a symbolic link",
    b"3": "a device",
    b"4": "a device",
    b"6": "a pipe",
    b"M": "the rest of a file that another volume begins",
}

# No file system holds more; what claims more is damage.
_LARGEST = 1 << 62
# A time beyond what 64 bits of nanoseconds hold (1677 to 2262) counts as none. It costs no file:
# nothing is judged by it, but neither a file system nor a column could hold it.
_LATEST = (1 << 63) // 10**9 - 1
_MOST_SPARSE_PIECES = 100_000

Pieces = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TarHeader:
    """One header block. `sparse` lists (offset, size) of the pieces that are stored.

    `mtime` is 0 where the block has none that can be true.
    """

    name: str
    size: int
    mtime: int
    kind: bytes
    link_name: str
    sparse: Pieces = ()
    sparse_continues: bool = False
    real_size: int | None = None


def text(raw: bytes) -> str:
    """A name as Python's os functions would give it; bytes that are no UTF-8 survive."""
    return raw.decode("utf-8", "surrogateescape")


def is_header(block: bytes) -> bool:
    """True if a block carries its own right checksum, as every tar header does."""
    digits = block[148:156].strip(b" \0")
    # Asked of every block after damage, so most must fail without a sum and without an error.
    if len(block) < BLOCK or not digits or digits.strip(b"01234567"):
        return False
    try:
        _check_sum(block, 0)
    except DecodeError:
        return False
    return True


def parse_header(block: bytes, position: int) -> TarHeader:
    """Parse one header block that was found at `position` of the archive."""
    _check_sum(block, position)

    def number(start: int, end: int, name: str) -> int:
        return _number(block[start:end], position + start, name)

    magic = block[257:263]
    kind = block[156:157]
    name = text(_until_nul(block[0:100]))
    if magic == b"ustar\0":
        prefix = text(_until_nul(block[345:500]))
        name = f"{prefix}/{name}" if prefix else name
    sparse: Pieces = ()
    continues, real_size = False, None
    if kind == GNU_SPARSE:
        sparse = _sparse_pieces(block[386:482], position + 386)
        continues, real_size = block[482] != 0, number(483, 495, "realsize")
    size = number(124, 136, "size")
    mtime = _number(block[136:148], position + 136, "mtime", signed=True)
    if kind in _REGULAR_KINDS:
        kind = REGULAR
    return TarHeader(
        name=name,
        size=0 if kind in WITHOUT_DATA else size,
        mtime=mtime if abs(mtime) <= _LATEST else 0,
        kind=kind,
        link_name=text(_until_nul(block[157:257])),
        sparse=sparse,
        sparse_continues=continues,
        real_size=real_size,
    )


def parse_sparse_extension(block: bytes, position: int) -> tuple[Pieces, bool]:
    """Parse a block that continues an old GNU sparse map; the flag says that another follows."""
    return _sparse_pieces(block[:504], position), block[504] != 0


def parse_pax(data: bytes, position: int) -> list[tuple[str, bytes]]:
    """Parse pax records, `length key=value\\n`, in their order (the sparse ones repeat keys)."""
    records = []
    at = 0
    while at < len(data) and data[at] != 0:
        space = data.find(b" ", at, at + 12)
        digits = data[at:space] if space > at else b""
        end = at + int(digits) if digits.isdigit() else 0
        if not space < end <= len(data) or data[end - 1] != 0x0A:
            raise DecodeError(
                "a pax record's length does not lead to its end",
                position=position + at,
                found=repr(data[at : at + 12])[2:-1],
            )
        key, equals, value = data[space + 1 : end - 1].partition(b"=")
        if not equals:
            raise DecodeError("a pax record has no '='", position=position + at)
        records.append((text(key), value))
        at = end
    return records


def pax_number(value: bytes, key: str, position: int) -> int:
    """A decimal number of a pax record."""
    if not value.isdigit() or len(value) > 20 or int(value) > _LARGEST:
        raise DecodeError(
            "not a number that can be true",
            position=position,
            path=key,
            found=repr(value[:24])[2:-1],
        )
    return int(value)


def pax_time_ns(value: bytes) -> int | None:
    """Seconds with a fraction, as nanoseconds; None for what is no time that can be true."""
    seconds, _, fraction = value.partition(b".")
    negative = seconds.startswith(b"-")
    digits = seconds.removeprefix(b"-")
    if not digits.isdigit() or len(digits) > 12 or int(digits) > _LATEST:
        return None
    if fraction and not fraction.isdigit():
        return None
    nanoseconds = int(digits) * 10**9 + int(fraction[:9].ljust(9, b"0"))
    return -nanoseconds if negative else nanoseconds


def pair_up(numbers: list[int], position: int) -> Pieces:
    """Turn offset, size, offset, size … into pieces."""
    if len(numbers) % 2 or len(numbers) > 2 * _MOST_SPARSE_PIECES:
        raise DecodeError("the sparse map is not a list of pairs", position=position)
    return tuple(zip(numbers[::2], numbers[1::2], strict=True))


def check_pieces(pieces: Pieces, stored: int, real_size: int, position: int) -> None:
    """Raise DecodeError unless the pieces lie in order inside the file and make up its data."""
    end = 0
    for offset, size in pieces:
        if offset < end:
            raise DecodeError("pieces of the sparse map overlap", position=position)
        end = offset + size
    if end > real_size or sum(size for _, size in pieces) > stored:
        raise DecodeError("the sparse map describes more than the file holds", position=position)


def _sparse_pieces(raw: bytes, position: int) -> Pieces:
    pieces = []
    for at in range(0, len(raw) - 23, 24):
        if raw[at] == 0:
            break
        offset = _number(raw[at : at + 12], position + at, "sparse offset")
        size = _number(raw[at + 12 : at + 24], position + at + 12, "sparse size")
        pieces.append((offset, size))
    return tuple(pieces)


def _check_sum(block: bytes, position: int) -> None:
    stored = _number(block[148:156], position + 148, "checksum")
    others = block[:148] + block[156:]
    computed = sum(others) + 8 * 0x20
    # Some old writers summed signed bytes.
    if stored not in (computed, computed - 256 * sum(byte >= 128 for byte in others)):
        raise DecodeError(
            "the header's checksum is wrong",
            position=position,
            path="checksum",
            expected=str(computed),
            found=str(stored),
        )


def _number(raw: bytes, position: int, path: str, *, signed: bool = False) -> int:
    """An octal number, or the GNU form in base 256 that the top bit announces."""
    if raw[0] & 0x80:
        value = int.from_bytes(raw, "big", signed=True) if raw[0] == 0xFF else _base_256(raw)
    else:
        digits = raw.split(b"\0", 1)[0].strip(b" ")
        if digits and not all(0x30 <= digit <= 0x37 for digit in digits):
            raise DecodeError(
                "not an octal number", position=position, path=path, found=repr(raw)[2:-1]
            )
        value = int(digits or b"0", 8)
    if not signed and not 0 <= value <= _LARGEST:
        raise DecodeError(
            "not a number that can be true", position=position, path=path, found=str(value)
        )
    return value


def _base_256(raw: bytes) -> int:
    return int.from_bytes(bytes((raw[0] & 0x7F,)) + raw[1:], "big")


def _until_nul(raw: bytes) -> bytes:
    return raw.split(b"\0", 1)[0]
