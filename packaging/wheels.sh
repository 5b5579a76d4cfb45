#!/bin/sh
# Build into dist/ the sdist, and from it the wheel with the native module and the pure wheel.
# On Linux zig links the module for glibc 2.28 or newer, and auditwheel says if that came out.
. "$(dirname "$0")/common.sh"
rm -f "$DIST"/kraftool-*.whl "$DIST"/kraftool-*.tar.gz

build() { "$TOOLS/python" -m build --no-isolation "$@" >"$WORK/log" 2>&1 || { cat "$WORK/log" >&2; exit 1; }; }

build --sdist --outdir "$WORK/sdist" .
mkdir "$WORK/unpacked"
tar -C "$WORK/unpacked" -xzf "$WORK"/sdist/*.tar.gz
chmod -R go-w "$WORK/unpacked"
"$TOOLS/python" tools/stable_tar.py "$WORK/unpacked" "$DIST/$(basename "$WORK"/sdist/*)"
mv "$WORK"/unpacked/* "$WORK/source"
KRAFTOOL_PURE=1 build --wheel --outdir "$DIST" "$WORK/source"

command -v cargo >/dev/null || { echo 'Rust is missing, so there is only the pure wheel: https://rustup.rs' >&2; exit 1; }
# No path of this machine gets into the module.
export RUSTFLAGS="--remap-path-prefix=$WORK/source=kraftool --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$ROOT/decoders/native/target}/packages"
rm -rf "$WORK/source/build"
case $(uname -s) in
Linux)
  machine=$(uname -m)
  cat >"$WORK/linker" <<END
#!/bin/sh
exec "$TOOLS/python" -m ziglang cc -target $machine-linux-gnu.2.28 "\$@"
END
  chmod +x "$WORK/linker"
  export "CARGO_TARGET_$(echo "$machine" | tr '[:lower:]' '[:upper:]')_UNKNOWN_LINUX_GNU_LINKER=$WORK/linker"
  build --wheel --outdir "$DIST" "-C--build-option=--plat-name=manylinux_2_28_$machine" "$WORK/source"
  "$TOOLS/auditwheel" show "$DIST"/kraftool-*-manylinux_2_28_"$machine".whl >"$WORK/show"
  # auditwheel names the oldest system that the wheel fits: 2.28 or older.
  grep -qE 'manylinux_2_(5|12|17|2[0-8])_' "$WORK/show" || { cat "$WORK/show" >&2; exit 1; }
  ;;
*)
  MACOSX_DEPLOYMENT_TARGET=11.0 ARCHFLAGS="-arch $(uname -m)" build --wheel --outdir "$DIST" "$WORK/source"
  ;;
esac
ls -l "$DIST"/kraftool-*.whl "$DIST"/kraftool-*.tar.gz
