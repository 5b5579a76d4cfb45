#!/bin/sh
# Write dist/kraftool-VERSION.cdx.json: the CycloneDX SBOM of what the packages bring, which is
# packaging/runtime.txt with its licenses, and the crates of the native module.
. "$(dirname "$0")/common.sh"
sbom=$DIST/kraftool-$(version).cdx.json
"$TOOLS/python" -m venv --without-pip "$WORK/venv"
pip="$TOOLS/python -m pip --python $WORK/venv --quiet --disable-pip-version-check"
$pip install --no-compile --require-hashes --requirement packaging/runtime.txt
$pip install --no-compile --no-deps "$DIST"/kraftool-*-py3-none-any.whl
"$TOOLS/cyclonedx-py" environment --output-reproducible --of JSON --pyproject pyproject.toml \
  --output-file "$WORK/python.json" "$WORK/venv" 2>"$WORK/log" || { cat "$WORK/log" >&2; exit 1; }
"$TOOLS/python" tools/sbom_crates.py "$WORK/python.json" "$(version)" "$sbom"
"$TOOLS/python" - "$sbom" <<'END'
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
with open(sys.argv[1], encoding="utf-8") as file:
    sys.exit(JsonStrictValidator(SchemaVersion.V1_6).validate_str(file.read()))
END
