#!/usr/bin/env python3
"""Measures the time to create a GPU context and to kill its process, by number of hardware queues
and with other variables of the driver.

usage: contexts.py
"""
import ctypes
import json
import os
import subprocess
import sys
import time

MS = 1e3


def make():
    cuda = ctypes.CDLL("libcuda.so.1")
    device, context = ctypes.c_int(), ctypes.c_void_p()
    code = cuda.cuInit(0) or cuda.cuDeviceGet(ctypes.byref(device), 0)
    began = time.monotonic()
    code = code or cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
    print(json.dumps([code, MS * (time.monotonic() - began)]), flush=True)
    sys.stdin.read()


OTHER_VARIABLES = (
    {"CUDA_MODULE_LOADING": "LAZY"},
    {"CUDA_MODULE_LOADING": "EAGER"},
    {"CUDA_SCALE_LAUNCH_QUEUES": "0.25x"},
    {"CUDA_DEVICE_MAX_COPY_CONNECTIONS": "1"},
    {"CUDA_DISABLE_PERF_BOOST": "1"},
    {"CUDA_VISIBLE_DEVICES": "0"},
)


def measure(queues, processes, others={}):
    variables = dict(os.environ, CUDA_DEVICE_MAX_CONNECTIONS=str(queues), **others)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    children = [subprocess.Popen([sys.executable, __file__, "make"], env=variables, **pipes) for _ in range(processes)]
    made = [json.loads(child.stdout.readline()) for child in children]
    if any(code for code, _ in made):
        sys.exit(f"error: the driver answered {made}")
    killed = []
    for child in children:
        began = time.monotonic()
        child.kill()
        child.wait()
        killed.append(MS * (time.monotonic() - began))
    figures = ["/".join(f"{figure:.0f}" for figure in figures) for figures in ([ms for _, ms in made], killed)]
    named = "".join(f", {name}={value}" for name, value in others.items())
    print(f"{queues} queues{named}, {processes} at once: made in {figures[0]} ms, killed in {figures[1]} ms", flush=True)


if sys.argv[1:] == ["make"]:
    make()
else:
    measure(8, 1)
    for queues in (8, 3, 1):
        for processes in (1, 5):
            measure(queues, processes)
    for others in OTHER_VARIABLES:
        measure(1, 5, others)
