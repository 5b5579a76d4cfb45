#!/bin/sh
# What the scripts of this folder share. Each is run from anywhere: `packaging/wheels.sh`.
# Owns the place of the tools and the time that is written into packages, so that two builds of one
# commit are equal.
set -eu
cd "$(dirname "$0")/.."
ROOT=$PWD
DIST=${DIST:-$ROOT/dist}
TOOLS=${TOOLS:-$ROOT/.venv-packages/bin}
[ -x "$TOOLS/python" ] || { echo 'The tools are missing: make .venv-packages/.installed' >&2; exit 1; }
if [ -z "${SOURCE_DATE_EPOCH:-}" ]; then
  if [ -e .git ]; then SOURCE_DATE_EPOCH=$(git log -1 --format=%ct); else SOURCE_DATE_EPOCH=$(date +%s); fi
fi
export SOURCE_DATE_EPOCH
umask 022
mkdir -p "$DIST"
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT

version() {  # of the packages in $DIST
  basename "$DIST"/kraftool-*.tar.gz .tar.gz | sed 's/^kraftool-//'
}

glibc() {  # that build/program needs
  find "$ROOT/build/program" -type f -exec objdump -T {} + 2>/dev/null |
    grep -o 'GLIBC_2[.0-9]*' | sort -Vu | tail -1 | sed 's/GLIBC_//'
}
