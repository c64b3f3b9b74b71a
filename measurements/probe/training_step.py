"""Trains a small network with PyTorch under its profiler and prints how many kernels CUPTI saw, as
the rows that compare.py reads.

usage: training_step.py [STEPS]
"""

import json
import sys
import tempfile
from collections import Counter

import torch
from torch.profiler import ProfilerActivity, profile

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 20
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
    torch.manual_seed(1)
    network = torch.nn.Sequential(
        torch.nn.Linear(512, 1024), torch.nn.GELU(), torch.nn.LayerNorm(1024), torch.nn.Linear(1024, 10)
    ).cuda()
    optimizer = torch.optim.AdamW(network.parameters())
    inputs = torch.randn(256, 512, device="cuda")
    labels = torch.randint(0, 10, (256,), device="cuda")
    for _ in range(steps):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(network(inputs), labels)
        loss.backward()
        optimizer.step()
    torch.cuda.synchronize()
    value = loss.item()

# The list of events has annotations among the kernels; the trace tells them apart.
with tempfile.NamedTemporaryFile(suffix=".json") as trace:
    profiler.export_chrome_trace(trace.name)
    with open(trace.name) as written:
        categories = Counter(event.get("cat") for event in json.load(written)["traceEvents"])
print(f"launches\t{categories['kernel']}")
print(f"loss {value!r}, events {dict(categories)}", file=sys.stderr)
