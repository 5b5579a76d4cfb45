#!/bin/sh
# Build packages again, from other folders, and compare every byte with those of dist/.
#     packaging/again.sh wheels program image deb
. "$(dirname "$0")/common.sh"
mkdir "$WORK/again"
cp "$DIST"/*.whl "$DIST"/*.tar.gz "$WORK/again"
touch "$WORK/began"
for script; do
  DIST=$WORK/again "packaging/$script.sh" >"$WORK/log" 2>&1 || { cat "$WORK/log" >&2; exit 1; }
done
find "$WORK/again" -type f -newer "$WORK/began" | sort | while read -r file; do
  cmp "$file" "$DIST/$(basename "$file")"
  echo "$(basename "$file"): byte-equal in two builds"
done
