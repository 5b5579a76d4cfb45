"""The shell script that sends what a survey needs from a node.

Owns the script, which requires a POSIX shell, sed, grep, ls and tar, and writes nothing. A head of
lines comes first (`remote_head.py` reads it), and then a tar stream. Of server.properties it sends
only the settings of the quorum, so that no secret leaves the node.
"""

from __future__ import annotations

from kraftool.decoders.names import (
    BOOTSTRAP_CHECKPOINT,
    CHECKPOINT_SUFFIX,
    META_PROPERTIES,
    SEGMENT_SUFFIXES,
)
from kraftool.storage.entry import METADATA_PARTITION, PARTITION_FILES
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
SCRIPT = rf"""
LC_ALL=C; export LC_ALL
p=$1
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
    q=$d/{METADATA_PARTITION}
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
printf 'directory %s\n' "$first"
each_directory | sed 's/^/log-dir /'
case $p in /*) ;; *) p=$PWD/$p ;; esac
[ -d "$p" ] || printf 'properties %s\n' "$p"
[ -d "$p" ] || lines | grep -E '^[[:space:]]*({_KEYS})[[:space:]=:]' | sed 's/^/setting /'
names | while IFS= read -r f; do
  if [ -d "$f" ]; then printf 'folder %s\n' "$f"; elif [ -p "$f" ]; then printf 'pipe %s\n' "$f"; fi
done
each_directory | while IFS= read -r d; do
  set -- $(ls -i "$d/.lock" 2>/dev/null) none
  if grep -q "POSIX.*WRITE.*:$1 " /proc/locks 2>/dev/null; then printf 'running %s\n' "$d"; fi
done
echo
set -f; IFS='
'
set -- $sent
unset IFS; set +f
tar chf - "$@"
code=$?
[ "$code" != 0 ] || [ "$before" = "$(look)" ] || exit {CHANGED}
exit "$code"
"""


def remote_command(path: str, *, sudo: bool = False) -> tuple[str, ...]:
    """The words that run the script on a node."""
    return (*(("sudo", "-n", "--") if sudo else ()), "sh", "-c", SCRIPT, "kraftool", path)
