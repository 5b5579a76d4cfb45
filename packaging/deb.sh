#!/bin/sh
# Build dist/kraftool_VERSION_ARCHITECTURE.deb from build/program: with man pages, completion for bash,
# zsh and fish, and the exporter's unit, which nothing starts by itself.
. "$(dirname "$0")/common.sh"
[ -x build/program/kraftool ] || { echo 'Build the program first: packaging/program.sh' >&2; exit 1; }
command -v dpkg-deb >/dev/null || { echo 'apt-get install dpkg' >&2; exit 1; }
MAINTAINER=${MAINTAINER:-kraftool maintainers <maintainers@kraftool.invalid>}
version=$(version | sed -E 's/(a|b|rc)([0-9]+)/~\1\2/')
architecture=$(dpkg --print-architecture)
root=$WORK/root

install -d "$root/usr/lib" "$root/usr/bin"
cp -R build/program "$root/usr/lib/kraftool"
find "$root/usr/lib/kraftool" -type f ! -name kraftool -exec chmod 644 {} +
ln -s ../lib/kraftool/kraftool "$root/usr/bin/kraftool"

install -D -m 644 -t "$root/usr/share/man/man1" man/*.1
gzip -9n "$root"/usr/share/man/man1/*
install -D -m 644 -t "$root/usr/lib/systemd/system" packaging/systemd/*
completion() {  # SHELL FILE
  install -d "$(dirname "$root/usr/share/$2")"
  _KRAFTOOL_COMPLETE=source_$1 build/program/kraftool >"$root/usr/share/$2"
}
completion bash bash-completion/completions/kraftool
completion zsh zsh/vendor-completions/_kraftool
completion fish fish/vendor_completions.d/kraftool.fish

doc=$root/usr/share/doc/kraftool
install -D -m 644 -t "$doc" packaging/debian/copyright
install -D -m 644 packaging/debian/lintian-overrides "$root/usr/share/lintian/overrides/kraftool"
cat >"$doc/changelog" <<END
kraftool ($version) unstable; urgency=medium

  * Release $(version). What changed is in CHANGELOG.md of the sources.

 -- $MAINTAINER  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
END
gzip -9n "$doc/changelog"

install -d "$root/DEBIAN"
sed "s/@VERSION@/$version/; s/@ARCHITECTURE@/$architecture/; s/@MAINTAINER@/$MAINTAINER/
     s/@SIZE@/$(du -ks "$root/usr" | cut -f1)/; s/@GLIBC@/$(glibc)/" \
  packaging/debian/control.in >"$root/DEBIAN/control"
(cd "$root" && find usr -type f | sort | xargs md5sum >DEBIAN/md5sums)
chmod -R go-w,a+rX "$root"
find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
package=$DIST/kraftool_${version}_$architecture.deb
dpkg-deb -Zxz --root-owner-group --build "$root" "$package" >/dev/null
if command -v lintian >/dev/null; then
  lintian --allow-root --fail-on error,warning "$package"
else
  echo 'lintian is missing: apt-get install lintian' >&2
fi
ls -l "$package"
