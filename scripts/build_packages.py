#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes packages of a finished build: a wheel, a relocatable tarball and Debian packages.

    cmake --preset release && cmake --build --preset release
    scripts/build_packages.py

A release publishes the files that this script writes.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

from rename_package import NAME, renamed

SOURCE = pathlib.Path(__file__).resolve().parents[1]
INSTALLED = "installed_files"
# Debian 12's C library, with which the tools are built. integration_test/tools/packages_test.py
# checks that no tool needs a newer one.
TAG = "py3-none-manylinux_2_36_x86_64"


def install(build: pathlib.Path, prefix: pathlib.Path) -> None:
    """Installs the build without symbols of its programs, which only debuggers need."""
    done = subprocess.run(["cmake", "--install", build, "--prefix", prefix, "--strip"],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"cannot install {build}: {done.stderr.strip()}\nBuild it first, with "
                 "cmake --preset release && cmake --build --preset release")


def version_of(prefix: pathlib.Path) -> str:
    text = (prefix / "share" / "pdl" / "python" / "pdl" / "version.txt").read_text("ascii")
    return text.split()[0]


def write_tarball(prefix: pathlib.Path, output: pathlib.Path, level: int) -> pathlib.Path:
    name = f"pdl-{version_of(prefix)}-linux-x86_64"
    packed = output / f"{name}.tar.xz"
    partial = packed.with_suffix(".partial")
    subprocess.run(["tar", "--create", "--file", partial, "--use-compress-program", f"xz -T0 -{min(level, 6)}",
                    "--sort=name", "--owner=0", "--group=0", "--numeric-owner",
                    f"--transform=flags=r;s,^[.],{name},", "--directory", prefix, "."], check=True)
    partial.rename(packed)
    return packed


class Wheel:
    """A wheel that is being written."""

    def __init__(self, path: pathlib.Path, level: int):
        self.file = zipfile.ZipFile(path, "w")
        self.level = level
        self.records: list[str] = []

    def add(self, name: str, data: bytes, executable: bool = False) -> None:
        # A fixed time, so that the same build gives the same wheel.
        entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
        entry.external_attr = (0o100755 if executable else 0o100644) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.file.writestr(entry, data, compresslevel=self.level)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.records.append(f"{name},sha256={digest},{len(data)}")

    def close(self, info: str) -> None:
        record = f"{info}/RECORD"
        self.file.writestr(record, "\n".join([*self.records, f"{record},,"]) + "\n")
        self.file.close()


def write_wheel(prefix: pathlib.Path, output: pathlib.Path, level: int) -> pathlib.Path:
    version = version_of(prefix)
    path = output / f"{NAME}-{version}-{TAG}.whl"
    partial = path.with_suffix(".partial")
    wheel = Wheel(partial, level)
    package = prefix / "share" / "pdl" / "python" / "pdl"
    for module in sorted(package.iterdir()):
        text = module.read_text(encoding="utf-8")
        wheel.add(f"{NAME}/{module.name}", renamed(text).encode("utf-8"))
    for file in sorted(prefix.rglob("*")):
        # A wheel has no links. NAME.tools knows where they lead.
        if file.is_file() and not file.is_symlink():
            place = file.relative_to(prefix)
            wheel.add(f"{NAME}/{INSTALLED}/{place}", file.read_bytes(), os.access(file, os.X_OK))
    tools = sorted(path.name for path in (prefix / "bin").iterdir())
    info = f"{NAME}-{version}.dist-info"
    wheel.add(f"{info}/METADATA", f"""\
Metadata-Version: 2.1
Name: {NAME}
Version: {version}
Summary: PDL: compiler and runtime for sparse recommendation models on CPUs
License: Apache-2.0 WITH LLVM-exception
Requires-Python: >=3.11
License-File: LICENSE
""".encode())
    wheel.add(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: PDL\nRoot-Is-Purelib: false\n"
              f"Tag: {TAG}\n".encode())
    commands = "".join(f"{tool} = {NAME}.tools:run\n" for tool in tools)
    wheel.add(f"{info}/entry_points.txt", f"[console_scripts]\n{commands}".encode())
    wheel.add(f"{info}/licenses/LICENSE", (SOURCE / "LICENSE").read_bytes())
    wheel.close(info)
    partial.rename(path)
    return path


def write_debs(build: pathlib.Path, output: pathlib.Path) -> list[pathlib.Path]:
    with tempfile.TemporaryDirectory(prefix="pdl-packages") as folder:
        done = subprocess.run(["cpack", "-G", "DEB", "--config", build / "CPackConfig.cmake", "-B",
                               folder], capture_output=True, text=True, check=False)
        packages = sorted(pathlib.Path(folder).glob("*.deb"))
        if done.returncode != 0 or not packages:
            sys.exit(f"cpack failed; its output:\n{done.stdout}{done.stderr}")
        return [pathlib.Path(shutil.move(path, output / path.name)) for path in packages]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=SOURCE / "build",
                        help="folder of the build (default: build)")
    parser.add_argument("--output", type=pathlib.Path, default=SOURCE / "build" / "packages",
                        help="folder for the packages (default: build/packages)")
    parser.add_argument("--level", type=int, choices=range(1, 10), default=9, metavar="1..9",
                        help="compression of wheel and tarball (default: 9; 1 is fast)")
    parser.add_argument("kinds", nargs="*", metavar="KIND", help="wheel, tarball, deb (default: all)")
    arguments = parser.parse_args()
    kinds = arguments.kinds or ["wheel", "tarball", "deb"]
    for kind in kinds:
        if kind not in ("wheel", "tarball", "deb"):
            parser.error(f"there is no package '{kind}'; choose wheel, tarball or deb")
    arguments.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="pdl-packages") as folder:
        prefix = pathlib.Path(folder, "installed")
        install(arguments.build, prefix)
        for kind in kinds:
            if kind == "wheel":
                paths = [write_wheel(prefix, arguments.output, arguments.level)]
            elif kind == "tarball":
                paths = [write_tarball(prefix, arguments.output, arguments.level)]
            else:
                paths = write_debs(arguments.build, arguments.output)
            for path in paths:
                print(f"{path} ({path.stat().st_size / 1e6:.1f} MB)", flush=True)


if __name__ == "__main__":
    main()
