#!/bin/sh
# Check the workflows by actionlint and zizmor, and the scripts of this folder by shellcheck.
. "$(dirname "$0")/common.sh"
command -v go >/dev/null || { echo 'actionlint needs Go: https://go.dev/doc/install' >&2; exit 1; }
command -v shellcheck >/dev/null || { echo 'apt-get install shellcheck' >&2; exit 1; }
[ -x "$TOOLS/actionlint" ] ||
  GOBIN=$TOOLS go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
"$TOOLS/actionlint"
"$TOOLS/zizmor" --quiet --offline .github
shellcheck --external-sources --source-path=SCRIPTDIR packaging/*.sh
echo 'workflows: actionlint and zizmor have nothing to say, shellcheck nothing of packaging/'
