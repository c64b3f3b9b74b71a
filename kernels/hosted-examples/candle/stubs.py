#!/usr/bin/env python3
"""Makes stubs of the libraries that candle links, for a machine with nvcc but without the libraries.

usage: stubs.py FOLDER

A stub has the functions of a library that cudarc declares. All of them fail with the code of
`CUDA_ERROR_STUB_LIBRARY`, as in the stubs of a toolkit. With `LIBRARY_PATH=FOLDER/link` candle can
be built, and with `LD_LIBRARY_PATH=FOLDER/load` benchmarks can be listed and archived.
"""

import json
import pathlib
import re
import subprocess
import sys

CUDA_ERROR_STUB_LIBRARY = 34


def output(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def sources_of_cudarc() -> pathlib.Path:
    """Returns the folder of the cudarc that candle uses."""
    (host,) = re.findall(r"^host: (.+)", output("rustc", "-vV"), re.MULTILINE)
    manifest = str(pathlib.Path(__file__).with_name("Cargo.toml"))
    options = ["--format-version", "1", "--filter-platform", host, "--manifest-path", manifest]
    metadata = json.loads(output("cargo", "metadata", *options))
    packages = {package["id"]: package for package in metadata["packages"]}
    uses = {packages[node["id"]]["name"]: node["deps"] for node in metadata["resolve"]["nodes"]}
    (cudarc,) = [used["pkg"] for used in uses["candle-core"] if used["name"] == "cudarc"]
    return pathlib.Path(packages[cudarc]["manifest_path"]).parent / "src"


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: stubs.py FOLDER")
    folder = pathlib.Path(sys.argv[1])
    (toolkit,) = re.findall(r"release (\d+)\.", output("nvcc", "--version"))
    # The module of cudarc, the library, and the version in its `SONAME`.
    libraries = [
        ("driver", "cuda", 1),
        ("nvrtc", "nvrtc", toolkit),
        ("curand", "curand", 10),
        ("cublas", "cublas", toolkit),
        ("cublaslt", "cublasLt", toolkit),
    ]
    sources = sources_of_cudarc()
    for name in ["link", "load"]:
        (folder / name).mkdir(parents=True, exist_ok=True)
    for module, name, version in libraries:
        declarations = (sources / module / "sys/mod.rs").read_text()
        functions = sorted(set(re.findall(r"^\s+fn (\w+)\(", declarations, re.MULTILINE)))
        code = "".join(f"int {function}(void) {{ return {CUDA_ERROR_STUB_LIBRARY}; }}\n" for function in functions)
        file = f"lib{name}.so.{version}"
        command = ["cc", "-shared", "-fPIC", "-w", "-fno-builtin", f"-Wl,-soname,{file}"]
        command += ["-x", "c", "-", "-o", str(folder / "load" / file)]
        subprocess.run(command, input=code, text=True, check=True)
        link = folder / "link" / f"lib{name}.so"
        link.unlink(missing_ok=True)
        link.symlink_to(f"../load/{file}")


if __name__ == "__main__":
    main()
