#!/bin/sh
# Look for known vulnerabilities in what the packages bring: pip-audit asks the index for Python's, and
# cargo-audit an advisory database for the crates. Without one of them this says so, and fails if
# KRAFTOOL_STRICT=1, as in a release.
. "$(dirname "$0")/common.sh"
unknown=0

missing() {
  echo "Not audited: $1" >&2
  unknown=1
}

if "$TOOLS/pip-audit" --strict --disable-pip --require-hashes --progress-spinner off \
  --requirement packaging/runtime.txt >"$WORK/python" 2>&1; then
  cat "$WORK/python"
elif grep -qE 'CVE-|GHSA-|PYSEC-' "$WORK/python"; then
  cat "$WORK/python" >&2
  exit 1
else
  missing "packaging/runtime.txt: $(tail -1 "$WORK/python")"
fi
if ! cargo audit --version >/dev/null 2>&1; then
  missing 'the crates: cargo install --locked cargo-audit'
elif ! cargo audit --file decoders/native/Cargo.lock >"$WORK/crates" 2>&1; then
  grep -q 'RUSTSEC-' "$WORK/crates" && { cat "$WORK/crates" >&2; exit 1; }
  missing "the crates: $(tail -1 "$WORK/crates")"
fi
[ "${KRAFTOOL_STRICT:-0}" != 1 ] || exit $unknown
