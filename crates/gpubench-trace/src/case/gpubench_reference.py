"""Computes the expected outputs of a case with the reference of its definition.

    python3 gpubench_reference.py call.json INPUTS OUTPUTS

`call.json` describes the parameters of `run` in `reference.py`, which is in the same folder. INPUTS
and OUTPUTS are safetensors files. In INPUTS the outermost dimension of a tensor is the number of
calls, unless the tensor is the same for all of them; in OUTPUTS it always is.
"""

import ast
import contextlib
import importlib.util
import json
import math
import mmap
import os
import sys

# By their names in a definition: the name in a safetensors file, and the bytes of an element.
TYPES = {
    "float64": ("F64", 8),
    "float32": ("F32", 4),
    "float16": ("F16", 2),
    "bfloat16": ("BF16", 2),
    "float8_e4m3fn": ("F8_E4M3", 1),
    "float8_e5m2": ("F8_E5M2", 1),
    "int64": ("I64", 8),
    "int32": ("I32", 4),
    "int16": ("I16", 2),
    "int8": ("I8", 1),
    "bool": ("U8", 1),
}

# The types that NumPy lacks.
NOT_OF_NUMPY = {"bfloat16", "float8_e4m3fn", "float8_e5m2"}


def stop(what):
    sys.exit(f"error: {what}")


class Numpy:
    """Arrays of NumPy."""

    def __init__(self):
        import numpy

        self.numpy = numpy

    def read(self, data, dtype, shape):
        array = self.numpy.frombuffer(data, dtype=dtype)
        return array.reshape(shape).copy()

    def array(self, value, dtype):
        # A number of Python has no type of its own.
        is_number = isinstance(value, (bool, int, float)) and not isinstance(value, self.numpy.generic)
        value = self.numpy.asarray(value, dtype=dtype if is_number else None)
        return value, value.dtype.name, list(value.shape)

    def infinite(self, value):
        if value.dtype.kind != "f":
            return False, False
        return bool((value == math.inf).any()), bool((value == -math.inf).any())

    def bytes(self, value):
        return self.numpy.ascontiguousarray(value).tobytes()

    def context(self):
        return contextlib.nullcontext()


class Torch:
    """Tensors of PyTorch on the CPU."""

    def __init__(self):
        import torch

        self.torch = torch

    def dtype(self, name):
        found = getattr(self.torch, name, None)
        if found is None:
            stop(f"PyTorch {self.torch.__version__} has no type {name}")
        return found

    def read(self, data, dtype, shape):
        if not data:
            return self.torch.empty(shape, dtype=self.dtype(dtype))
        # Writable, since the reference may change its inputs.
        flat = self.torch.frombuffer(bytearray(data), dtype=self.dtype(dtype))
        return flat.reshape(shape)

    def array(self, value, dtype):
        # A number of Python has no type of its own.
        is_number = isinstance(value, (bool, int, float))
        if not isinstance(value, self.torch.Tensor):
            value = self.torch.as_tensor(value, dtype=self.dtype(dtype) if is_number else None)
        return value, str(value.dtype).removeprefix("torch."), list(value.shape)

    def infinite(self, value):
        if not value.dtype.is_floating_point:
            return False, False
        value = value.double()
        return bool((value == math.inf).any()), bool((value == -math.inf).any())

    def bytes(self, value):
        value = value.detach().cpu().contiguous()
        if value.numel() == 0:
            return b""
        return value.reshape(-1).view(self.torch.uint8).numpy().tobytes()

    def context(self):
        return self.torch.no_grad()


def library_for(source, types):
    """The library whose arrays the reference gets."""
    imported = set()
    for node in ast.walk(ast.parse(source, "reference.py")):
        if isinstance(node, ast.Import):
            imported.update(name.name.split(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            imported.add(node.module.split(".")[0])
    lacking = NOT_OF_NUMPY.intersection(types)
    if "torch" not in imported and not lacking and importlib.util.find_spec("numpy"):
        return Numpy()
    if not importlib.util.find_spec("torch"):
        if "torch" in imported:
            name, why = "PyTorch", "the reference imports it"
        elif lacking:
            name, why = "PyTorch", "the tensors need it"
        else:
            name, why = "NumPy", "the reference gets its arrays"
        stop(f"this Python has no {name}, and {why} (hint: install it, or name another Python)")
    return Torch()


def read_file(path):
    """The tensors of a safetensors file, and its metadata."""
    with open(path, "rb") as file:
        whole = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    length = int.from_bytes(whole[:8], "little")
    header = json.loads(bytes(whole[8 : 8 + length]))
    data = whole[8 + length :]
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, tensor in header.items():
        begin, end = tensor["data_offsets"]
        tensors[name] = (tensor["shape"], data[begin:end])
    return tensors, metadata


def import_reference():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "reference.py")
    spec = importlib.util.spec_from_file_location("reference", path)
    module = importlib.util.module_from_spec(spec)
    # Decorators and data classes look their module up.
    sys.modules["reference"] = module
    spec.loader.exec_module(module)
    if not callable(getattr(module, "run", None)):
        stop("the reference has no function `run`")
    return module.run


def named_outputs(returned, names):
    """What `run` returned, by the names of the outputs."""
    if isinstance(returned, dict):
        lacking = [name for name in names if name not in returned]
        if lacking:
            stop(f"`run` returned no output `{lacking[0]}`")
        return [returned[name] for name in names]
    if isinstance(returned, (tuple, list)):
        if len(returned) != len(names):
            stop(f"`run` returned {len(returned)} outputs, and the definition has {len(names)}")
        return list(returned)
    if len(names) != 1:
        stop(f"`run` returned one output, and the definition has {len(names)}")
    return [returned]


def main():
    call_path, inputs_path, outputs_path = sys.argv[1:]
    with open(call_path, encoding="utf-8") as file:
        call = json.load(file)
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "reference.py"), encoding="utf-8") as file:
        source = file.read()
    outputs = call["outputs"]
    types = [tensor["dtype"] for tensor in call["inputs"] + outputs if "dtype" in tensor]
    library = library_for(source, types)
    stored, metadata = read_file(inputs_path)
    calls = int(metadata["gpubench_sets"])
    run = import_reference()

    def argument(parameter, number):
        if parameter["kind"] == "scalar":
            return parameter["value"]
        shape, data = stored[parameter["name"]]
        if not parameter["constant"]:
            shape = shape[1:]
            size = len(data) // calls
            data = data[number * size : (number + 1) * size]
        return library.read(data, parameter["dtype"], shape)

    header, starts, end = {}, [], 0
    for output in outputs:
        dtype, size = TYPES[output["dtype"]]
        begin, end = end, end + calls * math.prod(output["shape"]) * size
        starts.append(begin)
        header[output["name"]] = {
            "dtype": dtype,
            "shape": [calls, *output["shape"]],
            "data_offsets": [begin, end],
        }
    header = json.dumps(header).encode()
    header += b" " * (-len(header) % 8)
    with open(outputs_path, "wb") as file, library.context():
        file.write(len(header).to_bytes(8, "little") + header)
        before = file.tell()
        file.truncate(before + end)
        for number in range(calls):
            returned = run(*[argument(parameter, number) for parameter in call["inputs"]])
            values = named_outputs(returned, [output["name"] for output in outputs])
            for output, start, value in zip(outputs, starts, values):
                name = output["name"]
                value, dtype, shape = library.array(value, output["dtype"])
                if dtype != output["dtype"] or shape != output["shape"]:
                    found = f"{dtype} of the shape {shape}"
                    stop(f"`run` returned {found} for `{name}`, not {output['dtype']} of the shape {output['shape']}")
                above, below = library.infinite(value)
                if above or below and not call["negative_infinity"]:
                    stop(f"`run` returned an infinity for `{name}` in call {number}, which no solution may")
                data = library.bytes(value)
                file.seek(before + start + number * len(data))
                file.write(data)


if __name__ == "__main__":
    main()
