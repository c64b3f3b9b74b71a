"""FlashInfer's `bench_gpu_time_with_cudagraph` of add1, from the file `flashinfer/testing/utils.py`.

usage: flashinfer_peer.py UTILS N..

Only that file is loaded. FlashInfer's package would need its own kernels.
"""

import importlib.util
import sys
import time
import types

import torch

from add1 import launch, row


def load(path):
    names = {"einops": ["rearrange", "reduce", "repeat"], "flashinfer.utils": ["round_up"], "flashinfer": []}
    for name, functions in names.items():
        module = types.ModuleType(name)
        for function in functions:
            setattr(module, function, None)
        sys.modules[name] = module
    spec = importlib.util.spec_from_file_location("flashinfer_testing", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def call(x, y):
    # CuPy's current stream must be the one that PyTorch captures.
    import cupy as cp

    with cp.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
        launch(x.data_ptr(), y.data_ptr(), x.numel())


testing = load(sys.argv[1])
for n in map(int, sys.argv[2:]):
    x, y = torch.rand(n, device="cuda"), torch.empty(n, device="cuda")
    started = time.time()
    times = testing.bench_gpu_time_with_cudagraph(call, input_args=(x, y), cold_l2_cache=True)
    times.sort()
    row("FlashInfer, graph with its cold option", n, 1e3 * times[len(times) // 2], time.time() - started, "nothing")
