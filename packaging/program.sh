#!/bin/sh
# Build the program that needs no Python on the host: build/program as a folder, which the image and
# the Debian package take, and dist/kraftool-VERSION-SYSTEM-MACHINE as one file of the same.
# It has the native module, and what compressed logs and encrypted backups need; no Spark, no Arrow.
# It needs the glibc of the machine that built it, or a newer one; the end says which.
. "$(dirname "$0")/common.sh"
PROGRAM=$ROOT/build/program
rm -rf "$PROGRAM"
"$TOOLS/python" -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes \
  --target "$WORK/modules" --requirement packaging/runtime.txt
rm -rf "$WORK/modules/bin"
"$TOOLS/python" -m pip install --quiet --disable-pip-version-check --no-compile --no-deps \
  --target "$WORK/modules" "$DIST"/kraftool-*-abi3-*.whl
rm -rf "$WORK/modules/bin" "$WORK/modules/share"
# Where the wheel was is nothing to the program.
rm -f "$WORK"/modules/kraftool-*.dist-info/RECORD "$WORK"/modules/kraftool-*.dist-info/direct_url.json
find "$WORK/modules" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
# PyInstaller keeps what it found of a Python: a cache of this machine would differ from another's.
PYTHONHASHSEED=0 PYTHONPATH=$WORK/modules PYINSTALLER_CONFIG_DIR=$WORK/cache \
  "$TOOLS/pyinstaller" --noconfirm --log-level ERROR --workpath "$WORK/work" --distpath "$WORK/built" \
  packaging/program.spec
# Python looks for libraries where it was built: a folder of this machine has no place in the program.
if find "$WORK/built/folder" -type f -exec objdump -p {} + 2>/dev/null | grep -E 'R(UN)?PATH +/'; then
  echo 'This Python names folders of this machine. Take one of the system: make PACKAGES_PYTHON=/usr/bin/python3' >&2
  exit 1
fi
mkdir -p "$(dirname "$PROGRAM")"
mv "$WORK/built/folder" "$PROGRAM"
name=kraftool-$(version)-$(uname -s | tr '[:upper:]' '[:lower:]')-$(uname -m)
mv "$WORK/built/kraftool" "$DIST/$name"
"$DIST/$name" --version
echo "it needs glibc $(glibc)"
ls -l "$DIST/$name"
