#!/bin/sh
# Check what comes with the exporter by other people's programs, which are brought to a folder first:
# promtool (Debian's prometheus), kubeconform (a Go module), systemd-analyze.
#
#     tools/check_monitoring.sh FOLDER PYTHON
set -eu
folder=$1 python=$2
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

promtool=$(command -v promtool || true)
if [ -z "$promtool" ]; then
  promtool=$folder/prometheus/usr/bin/promtool
  if [ ! -x "$promtool" ]; then
    (cd "$folder" && apt-get download prometheus >/dev/null 2>&1) || {
      echo 'promtool is missing: apt-get install prometheus' >&2; exit 1; }
    dpkg -x "$folder"/prometheus_*.deb "$folder/prometheus"
  fi
fi
"$python" tools/monitoring.py --promtool "$promtool"

if command -v go >/dev/null 2>&1; then
  [ -x "$folder/bin/kubeconform" ] ||
    GOBIN=$folder/bin go install github.com/yannh/kubeconform/cmd/kubeconform@v0.6.7
  [ -f "$folder/schemas/complete" ] || "$python" tools/kubernetes_schemas.py "$folder/schemas"
  "$folder/bin/kubeconform" -strict -summary -schema-location \
    "$folder/schemas/{{ .ResourceKind }}{{ .KindSuffix }}.json" packaging/kubernetes/*.yaml
else
  echo 'The manifests are not checked without Go: https://go.dev/doc/install' >&2
  exit 1
fi

if command -v systemd-analyze >/dev/null 2>&1; then
  systemd-analyze security --offline=true --threshold=20 packaging/systemd/*.service >/dev/null &&
    echo 'packaging/systemd: the exposure is at most 2.0 of 10'
fi
