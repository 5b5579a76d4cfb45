#!/bin/sh
# Push the images of dist/ to REPOSITORY, each as VERSION-MACHINE.
#     packaging/push_image.sh REGISTRY/OWNER/kraftool
# REGISTRY_USER and REGISTRY_PASSWORD are used if they are set. A path such as dir:/tmp/x: tries it.
. "$(dirname "$0")/common.sh"
case $1 in *:*) target=$1 ;; *) target=docker://$1: ;; esac
if [ -n "${REGISTRY_PASSWORD:-}" ]; then
  printf %s "$REGISTRY_PASSWORD" |
    skopeo login --authfile "$WORK/auth" --username "$REGISTRY_USER" --password-stdin "${1%%/*}"
  set -- "$@" --authfile "$WORK/auth"
fi
shift
for image in "$DIST"/kraftool-*-image-*.tar; do
  machine=${image##*-image-}
  skopeo copy --preserve-digests "$@" "oci-archive:$image" "$target$(version)-${machine%.tar}"
done
