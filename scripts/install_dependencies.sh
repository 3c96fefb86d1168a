#!/usr/bin/env bash
# Installs, with apt, the Debian 12 packages that PDL is built from and that are
# missing. Needs root (or sudo) only if something is missing.
#   scripts/install_dependencies.sh --with-arrow   also gets Apache Arrow, with which
#       programs read Parquet and Arrow files: the wheel of pyarrow from PyPI, into a
#       folder of its own (PDL_ARROW_DIR, default ~/.cache/pdl/arrow-VERSION). Nothing
#       is installed into the system's Python.
set -euo pipefail
cd "$(dirname "$0")/.."

with_arrow=false
for argument in "$@"; do
  case "$argument" in
  --with-arrow) with_arrow=true ;;
  *)
    echo "usage: scripts/install_dependencies.sh [--with-arrow]" >&2
    exit 2
    ;;
  esac
done

install_arrow() {
  local version folder
  version=$(sed -n 's/^set(PDL_ARROW_VERSION \(.*\))$/\1/p' cmake/PDLArrow.cmake)
  folder=${PDL_ARROW_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/pdl/arrow-$version}
  [ ! -e "$folder/pyarrow" ] || return 0
  echo "Unpacking pyarrow $version into $folder"
  mkdir -p "$(dirname "$folder")"
  # Complete, or not there.
  rm -rf "$folder.partial"
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    --dest "$folder.partial/wheel" "pyarrow==$version"
  python3 -m zipfile -e "$folder.partial"/wheel/*.whl "$folder.partial"
  rm -r "$folder.partial/wheel"
  mv "$folder.partial" "$folder"
}

packages=(
  # The compiler half: MLIR and LLVM 22 from the security suite.
  libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools libpolly-22-dev
  clang-22 lld-22 liblld-22-dev libclang-rt-22-dev clang-format-22 clang-tidy-22
  # Libraries with which programs are linked.
  libc6-dev libstdc++-12-dev zlib1g-dev libzstd-dev
  # Libraries.
  libdnnl-dev libxxhash-dev libcli11-dev libspdlog-dev libfmt-dev
  nlohmann-json3-dev libgrpc++-dev
  # For object stores, which are left out without it.
  libcurl4-openssl-dev
  # For the monitoring endpoint (headers only).
  libboost1.74-dev
  # For pdl-serve, which is left out without them.
  libsimdjson-dev libprotobuf-dev protobuf-compiler
  # For pdl-checkpoint, which cannot write RocksDB files without it.
  librocksdb-dev
  # For topics of Kafka. Programs need only librdkafka1, when they read a topic. kafkacat
  # is a second client in tests.
  librdkafka-dev kafkacat
  # For a test that compares the text format of metrics with that of this library.
  prometheus-cpp-dev
  # For building and testing.
  file dpkg-dev xz-utils cmake ninja-build pkg-config ccache libgtest-dev libgmock-dev libbenchmark-dev python3 python3-pip python3-venv
  iproute2
  # Compile callers of libraries, in C and C++, as users do.
  gcc g++
)

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true)
  [ "$status" = "install ok installed" ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  if $with_arrow; then install_arrow; fi
  exit 0
fi

echo "Installing: ${missing[*]}"
if [ "$(id -u)" -eq 0 ]; then
  run=()
elif command -v sudo >/dev/null; then
  run=(sudo)
else
  echo "$0: these packages are missing, and installing them needs root:" \
    "${missing[*]}; run the command again as root or with sudo installed" >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
"${run[@]}" apt-get update -qq
"${run[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null
if $with_arrow; then install_arrow; fi
