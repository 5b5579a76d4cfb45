#!/bin/sh
# Build dist/kraftool-VERSION-image-MACHINE.tar: an OCI image, which needs no daemon to be made.
#     skopeo copy oci-archive:FILE docker://REGISTRY/kraftool:VERSION    or    podman load -i FILE
# It has Debian's C library, shell and file tools, and build/program. SUITE is this machine's Debian.
. "$(dirname "$0")/common.sh"
[ -x build/program/kraftool ] || { echo 'Build the program first: packaging/program.sh' >&2; exit 1; }
command -v mmdebstrap >/dev/null || { echo 'apt-get install mmdebstrap' >&2; exit 1; }
SUITE=${SUITE:-$(. /etc/os-release && echo "$VERSION_CODENAME")}
mmdebstrap --quiet --variant=extract \
  --include=base-files,base-passwd,libc6,libc-bin,dash,coreutils,tar,ca-certificates,tzdata,netbase \
  "$SUITE" "$WORK/base.tar"
image=$DIST/kraftool-$(version)-image-$(dpkg --print-architecture).tar
"$TOOLS/python" tools/oci_image.py "$WORK/base.tar" build/program "$(version)" "$image"
ls -l "$image"
