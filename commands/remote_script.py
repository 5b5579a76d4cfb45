"""The shell script that sends what a survey needs from a node.

Owns the script, which requires a POSIX shell, sed, grep, ls and tar, and writes nothing. A head of
lines comes first (`remote_head.py` reads it), and then a tar stream. Of server.properties it sends
only the settings of the quorum, so that no secret leaves the node. For a bundle it sends more: the
other settings without the values that may be secret, the small files beside the metadata, listings,
and before the tar stream the ends of the server's logs.
"""

from __future__ import annotations

from dataclasses import dataclass

from kraftool.decoders.names import (
    BOOTSTRAP_CHECKPOINT,
    CHECKPOINT_SUFFIX,
    META_PROPERTIES,
    SEGMENT_SUFFIXES,
    WITNESS_MARKER,
)
from kraftool.decoders.redact import MASK
from kraftool.storage.entry import METADATA_PARTITION, PARTITION_FILES, ROOT_FILES
from kraftool.storage.repair_journal import FOLDER, NAME
from kraftool.storage.unknown_files import MOST_LISTED

MAGIC = b"kraftool-collect 1\n"
"""Before it may come whatever a login shell prints."""
SETTINGS = (
    "process.roles",
    "node.id",
    "broker.id",
    "controller.quorum.voters",
    "controller.quorum.bootstrap.servers",
    "controller.listener.names",
    "listeners",
    "advertised.listeners",
)
OWN_CODES = range(91, 96)
"""Exit codes of the script itself. Its last line on stderr is the reason."""
CHANGED = 95
"""The files changed while tar read them."""

_KEYS = "|".join(setting.replace(".", r"\.") for setting in SETTINGS)
_SECRET = "|".join(
    "".join(f"[{letter.upper()}{letter}]" for letter in word)
    for word in ("password", "secret", "jaas", "credential", "token", "keystore.key", "certificate")
)
"""Parts of names whose settings keep their values on the node. What may be secret beyond these is
masked where the settings arrive."""
_NAME = "[^=:[:space:]]*"
_OTHERS = " ".join(
    (
        *(name for name in ROOT_FILES if name not in (META_PROPERTIES, BOOTSTRAP_CHECKPOINT)),
        WITNESS_MARKER,
    )
)
"""Files beside the metadata that only a bundle has."""
_SERVER_LOGS = "/var/log/kafka"
"""Where the server's logs are looked for if no running process says where."""
_USED = "|".join(
    (
        NAME,
        *(f"{name}*" for name in PARTITION_FILES),
        *(f"*{suffix}" for suffix in SEGMENT_SUFFIXES),
        *(f"[0-9]*{suffix}.*" for suffix in SEGMENT_SUFFIXES),
        f"*{CHECKPOINT_SUFFIX}*",
    )
)
"""Names that a survey looks at, however many there are. Of others it lists the first ones."""
_NAMES = rf"""    for n in {_OTHERS}; do
      [ ! -f "$d/$n" ] || printf '%s\n' "$d/$n"
    done
"""
_LOGS = rf"""server_logs() {{
  set --
  for c in /proc/[0-9]*/cmdline; do
    l=$(tr '\0' '\n' 2>/dev/null <"$c" | sed -n 's/^-Dkafka\.logs\.dir=//p' | tail -n 1)
    [ -n "$l" ] || continue
    # Of several on one host, the one that was started with this server.properties.
    if grep -qF "$p" "$c" 2>/dev/null; then set -- "$l" "$@"; else set -- "$@" "$l"; fi
  done
  [ -z "$logs" ] || set -- "$logs"
  [ "$#" != 0 ] || set -- {_SERVER_LOGS}
  for l do
    if [ -f "$l" ]; then
      printf '%s\n' "$l"
    else
      ls -t "$l"/server.log* "$l"/controller.log* "$l"/kafkaServer.out* 2>/dev/null
    fi
    break
  done | {{
    left=$most
    while IFS= read -r f; do
      [ -f "$f" ] && [ -r "$f" ] || continue
      s=$(($(wc -c <"$f")))
      [ "$s" -le "$left" ] || s=$left
      [ "$s" -gt 0 ] || continue
      left=$((left - s))
      printf '%s %s\n' "$s" "$f"
    done
  }}
}}
ends=$(server_logs)
each_end() {{ [ -z "$ends" ] || printf '%s\n' "$ends"; }}
each_end | sed 's/^/log /'
"""
_QUORUM_SETTINGS = (
    rf"""[ -d "$p" ] || lines | grep -E '^[[:space:]]*({_KEYS})[[:space:]=:]' |"""
    """ sed 's/^/setting /'\n"""
)
_SETTINGS = rf"""[ -d "$p" ] || lines | grep -E '^[[:space:]]*[^#![:space:]]' |
  sed -E 's/^([[:space:]]*{_NAME}({_SECRET}){_NAME}[[:space:]]*[=:[:space:]]).*/\1{MASK}/' |
  sed 's/^/setting /'
each_directory | while IFS= read -r d; do
  for f in "$d"/* "$d"/.[!.]*; do
    if [ -d "$f" ]; then
      printf 'folder %s\n' "$f"
    else
      case " {META_PROPERTIES} {BOOTSTRAP_CHECKPOINT} {_OTHERS} " in
      *" ${{f##*/}} "*) ;;
      *) [ ! -f "$f" ] || printf 'other %s\n' "$f" ;;
      esac
    fi
  done
  for each in "$d" "$d/{METADATA_PARTITION}"; do
    printf 'listing %s\n' "$each"
    ls -lan "$each" 2>&1 | sed 's/^/listing /'
  done
done
"""
_ENDS = r"""each_end | while read -r s f; do
  # A log that was cut meanwhile is filled up, so that what follows is where the head says.
  { tail -c "$s" "$f"; cat /dev/zero; } 2>/dev/null | head -c "$s"
done
"""


def _script(*, bundle: bool) -> str:
    return rf"""
LC_ALL=C; export LC_ALL
p=$1{" most=$2 logs=$3" if bundle else ""}
fail() {{ printf '%s\n' "$2" >&2; exit "$1"; }}
cr=$(printf '\r')
lines() {{ sed "s/$cr\$//" "$p" | sed -e :a -e '/\\$/N; s/\\\n[[:space:]]*//; ta'; }}
value() {{
  lines | sed -n "s/^[[:space:]]*$1[[:space:]]*[=:[:space:]][[:space:]]*//p" | tail -n 1
}}
has_data() {{ [ -d "$1/{METADATA_PARTITION}" ] || [ -f "$1/{META_PROPERTIES}" ]; }}
command -v tar >/dev/null 2>&1 || fail 91 'there is no tar'
if [ -d "$p" ]; then
  set -- "$p"
elif [ -e "$p" ]; then
  [ -r "$p" ] || fail 92 "$p: permission denied"
  m=$(value 'metadata\.log\.dir'); l=$(value 'log\.dirs'); l=${{l:-$(value 'log\.dir')}}
  set -f; IFS=,
  set -- $m ${{l:-/tmp/kafka-logs}}
  unset IFS; set +f
else
  fail 93 "$p: no such file or directory, or no permission to see it"
fi
dirs= first=
for d do
  d=$(printf '%s\n' "$d" | sed 's/^[[:space:]]*//; s/[[:space:]]*$//; s,\(.\)/*$,\1,')
  case $d in
  /*) ;;
  *)
    b=$(dirname "$p")/$d
    if has_data "$d" || {{ [ -d "$d" ] && ! has_data "$b"; }}; then d=$PWD/$d; else d=$b; fi
    ;;
  esac
  if [ -z "$first" ]; then
    first=$d
    [ -d "$d" ] || fail 93 "$d: no such directory, or no permission to see it"
  fi
  [ -d "$d" ] || continue
  for each in "$d" "$d/{METADATA_PARTITION}"; do
    [ -d "$each" ] || continue
    [ -r "$each" ] && [ -x "$each" ] || fail 92 "$each: permission denied"
  done
  dirs="$dirs$d
"
done
each_directory() {{ printf %s "$dirs" | sort -u; }}
names() {{
  each_directory | while IFS= read -r d; do
    for n in {META_PROPERTIES} {BOOTSTRAP_CHECKPOINT}; do printf '%s\n' "$d/$n"; done
{_NAMES if bundle else ""}    q=$d/{METADATA_PARTITION}
    [ -d "$q" ] || {{ printf '%s\n' "$q"; continue; }}
    u=0
    for f in "$q"/{FOLDER}/*/{NAME} "$q"/* "$q"/.[!.]*; do
      case ${{f##*/}} in
      {_USED}) ;;
      *) u=$((u + 1)); [ "$u" -le {MOST_LISTED} ] || continue ;;
      esac
      printf '%s\n' "$f"
    done
  done | while IFS= read -r f; do
    if [ -e "$f" ] || [ -h "$f" ]; then printf '%s\n' "$f"; fi
  done
}}
files() {{
  names | while IFS= read -r f; do [ -d "$f" ] || [ -p "$f" ] || printf '%s\n' "$f"; done
}}
look() {{ files | while IFS= read -r f; do ls -lnL "$f" 2>&1; done; }}
before=$(look)
sent=$(files)
[ -n "$sent" ] || fail 94 "$first: there is no metadata in it"
printf 'kraftool-collect 1\n'
printf '%s\n' "$before" | {{
  t=0 n=0
  while read -r mode links user group size rest; do
    case $mode in s*) ;; *) n=$((n + 1)) ;; esac  # tar sends no socket
    case $size in ''|*[!0-9]*) ;; *) t=$((t + size)) ;; esac
  done
  printf 'files %s\ntotal %s\n' "$n" "$t"
}}
{_LOGS if bundle else ""}printf 'directory %s\n' "$first"
each_directory | sed 's/^/log-dir /'
case $p in /*) ;; *) p=$PWD/$p ;; esac
[ -d "$p" ] || printf 'properties %s\n' "$p"
{_SETTINGS if bundle else _QUORUM_SETTINGS}names | while IFS= read -r f; do
  if [ -d "$f" ]; then printf 'folder %s\n' "$f"; elif [ -p "$f" ]; then printf 'pipe %s\n' "$f"; fi
done
each_directory | while IFS= read -r d; do
  set -- $(ls -i "$d/.lock" 2>/dev/null) none
  if grep -q "POSIX.*WRITE.*:$1 " /proc/locks 2>/dev/null; then printf 'running %s\n' "$d"; fi
done
echo
{_ENDS if bundle else ""}set -f; IFS='
'
set -- $sent
unset IFS; set +f
tar chf - "$@"
code=$?
[ "$code" != 0 ] || [ "$before" = "$(look)" ] || exit {CHANGED}
exit "$code"
"""


SCRIPT = _script(bundle=False)
BUNDLE_SCRIPT = _script(bundle=True).encode()
"""It comes by stdin: as a word it is longer than what some servers of Kubernetes take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleWish:
    """The wishes of a bundle beyond a node's metadata."""

    log_bytes: int
    """Of the server's logs, the newest."""
    server_logs: str = ""
    """Their folder or file; empty where the running process says it."""


def remote_command(
    path: str, *, sudo: bool = False, bundle: BundleWish | None = None
) -> tuple[str, ...]:
    """The words that run the script on a node. That of a bundle comes by stdin."""
    words: tuple[str, ...] = ("sh", "-c", SCRIPT, "kraftool", path)
    if bundle is not None:
        words = ("sh", "-s", "--", path, str(bundle.log_bytes), bundle.server_logs)
    return (*(("sudo", "-n", "--") if sudo else ()), *words)
