"""Compiles the harness kernels to PTX and cubins with NVRTC, which needs no GPU and no driver.

usage: compile.py PACKAGE_DIRECTORY OUTPUT_DIRECTORY
"""

import ctypes
import pathlib
import sys
import zlib

import nvidia.cuda_nvrtc

PTX = ["75", "90"]
# A cubin also runs on later minor versions of its capability.
CUBINS = ["75", "80", "90", "100", "120"]
OPTIONS = ["--std=c++17", "--fmad=false"]


def checksum(package, paths):
    """64-bit FNV-1a over the files, as in tests/drift/checksum.rs."""
    value = 0xCBF29CE484222325
    for path in paths:
        for byte in path.encode() + b"\0" + (package / path).read_bytes() + b"\0":
            value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def load():
    directory = pathlib.Path(nvidia.cuda_nvrtc.__path__[0]) / "lib"
    return ctypes.CDLL(str(directory / "libnvrtc.so.12"))


def compiled(nvrtc, package, sources, architecture):
    headers = [path for path in sources if path != "cuda/harness.cu"]
    program = ctypes.c_void_p()
    texts = (ctypes.c_char_p * len(headers))(*[(package / path).read_bytes() for path in headers])
    names = (ctypes.c_char_p * len(headers))(*[pathlib.Path(path).name.encode() for path in headers])
    source = (package / "cuda/harness.cu").read_bytes()
    created = nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"harness.cu", len(headers), texts, names)
    if created != 0:
        sys.exit(f"error: nvrtcCreateProgram failed with {created}")
    options = [*OPTIONS, f"--gpu-architecture={architecture}"]
    values = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
    status = nvrtc.nvrtcCompileProgram(program, len(options), values)
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    if log.value.strip():
        print(log.value.decode(), file=sys.stderr)
    if status != 0:
        sys.exit(f"error: {architecture} does not compile")
    kind = "PTX" if architecture.startswith("compute_") else "CUBIN"
    getattr(nvrtc, f"nvrtcGet{kind}Size")(program, ctypes.byref(size))
    result = ctypes.create_string_buffer(size.value)
    getattr(nvrtc, f"nvrtcGet{kind}")(program, result)
    return result.raw


def main():
    package, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    cuda = [f"cuda/{path.name}" for path in (package / "cuda").iterdir() if path.suffix == ".cuh"]
    sources = sorted([*cuda, "cuda/harness.cu", "include/gb_harness.h"])
    nvrtc = load()
    head = f"// Made by ptx/build.sh.\n// sources: {checksum(package, sources)}\n"
    for capability in PTX:
        ptx = compiled(nvrtc, package, sources, f"compute_{capability}").rstrip(b"\0")
        (output / f"compute_{capability}.ptx.z").write_bytes(zlib.compress(ptx, 9))
    for capability in CUBINS:
        cubin = compiled(nvrtc, package, sources, f"sm_{capability}")
        (output / f"sm_{capability}.cubin.z").write_bytes(zlib.compress(cubin, 9))
    (output / "sources.txt").write_text(head)


main()
