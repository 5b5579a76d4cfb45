#!/bin/sh
# Build dist/kraftool-VERSION-image-MACHINE.tar: an OCI image, which needs no daemon to be made.
#     skopeo copy oci-archive:FILE docker://REGISTRY/kraftool:VERSION    or    podman load -i FILE
# It has Debian's C library, shell and file tools, and build/program. SUITE is this machine's Debian.
. "$(dirname "$0")/common.sh"
[ -x build/program/kraftool ] || { echo 'Build the program first: packaging/program.sh' >&2; exit 1; }
command -v mmdebstrap >/dev/null || { echo 'apt-get install mmdebstrap' >&2; exit 1; }
SUITE=${SUITE:-$(. /etc/os-release && echo "$VERSION_CODENAME")}
USER_ID=65532
debian=$WORK/debian own=$WORK/own

mmdebstrap --quiet --variant=extract --format=directory \
  --include=base-files,base-passwd,libc6,libc-bin,dash,coreutils,tar,ca-certificates,tzdata,netbase \
  "$SUITE" "$debian"
cd "$debian"
rm -rf dev/* etc/apt run/* var/cache/* var/lib/apt var/lib/dpkg var/log/* usr/bin/dpkg* usr/bin/localedef \
  usr/bin/openssl usr/share/info usr/share/lintian usr/share/locale usr/share/man usr/share/perl5
find usr/share/doc ! -type d ! -name copyright -delete
find usr/share/doc -type d -empty -delete
find usr/share/ca-certificates -name '*.crt' | LC_ALL=C sort | xargs cat >etc/ssl/certs/ca-certificates.crt
{ cat usr/share/base-passwd/passwd.master; echo "kraftool:x:$USER_ID:$USER_ID:kraftool:/:/bin/sh"; } >etc/passwd
{ cat usr/share/base-passwd/group.master; echo "kraftool:x:$USER_ID:"; } >etc/group
cd "$ROOT"

install -d "$own/usr/bin" "$own/usr/lib"
cp -R build/program "$own/usr/lib/kraftool"
ln -s ../lib/kraftool/kraftool "$own/usr/bin/kraftool"
install -D -m 644 LICENSE "$own/usr/share/doc/kraftool/copyright"

image=$DIST/kraftool-$(version)-image-$(dpkg --print-architecture).tar
"$TOOLS/python" tools/oci_image.py "$image" "$(version)" "$USER_ID" "$debian" "$own"
ls -l "$image"
