#!/usr/bin/env bash
# Installs, with apt, the Debian 12 packages that PDL is built from and that are
# missing. Needs root (or sudo) only if something is missing.
set -euo pipefail

packages=(
  # The compiler half: MLIR and LLVM 22 from the security suite.
  libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools libpolly-22-dev
  clang-22 lld-22 libclang-rt-22-dev clang-format-22 clang-tidy-22
  # What programs are linked from.
  libc6-dev libstdc++-12-dev zlib1g-dev libzstd-dev
  # Libraries.
  libdnnl-dev libxxhash-dev libcli11-dev libspdlog-dev libfmt-dev
  nlohmann-json3-dev libgrpc++-dev
  # Of pdl-serve, which is left out without them.
  libboost1.74-dev libsimdjson-dev libprotobuf-dev
  protobuf-compiler
  # Of pdl-checkpoint, whose files of RocksDB are left out without it.
  librocksdb-dev
  # Of a test, which compares the text format of metrics with that of this library.
  prometheus-cpp-dev
  # Building and testing.
  cmake ninja-build pkg-config ccache libgtest-dev libgmock-dev libbenchmark-dev python3 python3-pip python3-venv
  iproute2
  # Callers of libraries, in C and C++, are compiled as users do.
  gcc g++
)

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true)
  [ "$status" = "install ok installed" ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

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
