#!/bin/sh
# Publish the sdist and the wheels of dist/ from a release workflow: sign attestations with the
# workflow's identity, and upload both by trusted publishing. No password is involved.
#     packaging/publish.sh            only from the workflow
#     packaging/publish.sh --dry-run  check the files, anywhere
. "$(dirname "$0")/common.sh"
[ "${1:-}" = --dry-run ] || "$TOOLS/python" -m pypi_attestations sign "$DIST"/*.whl "$DIST"/*.tar.gz
"$TOOLS/uv" publish --trusted-publishing "$([ "${1:-}" = --dry-run ] && echo never || echo always)" \
  "$@" "$DIST"/*.whl "$DIST"/*.tar.gz
