# SPDX-License-Identifier: BSD-2-Clause
"""Training steps of fptrain beside the same networks in PyTorch, and in PyTorch with QPyTorch, in turns.

    make bench-fptrain [PYTHON=python] [BENCH="quick"] [BENCH="resnet20 charlstm"]
    python bench/python/fptrain_steps.py PROGRAM [quick] [MODEL ...]

PROGRAM is bench/fptrain. Each network is trained by four processes: fptrain in FP32, PyTorch in FP32, fptrain with all
tensors in FP8 and counted, and QPyTorch with all of them in 8-bit numbers and not counted. Round after round each takes
a few steps while the others wait, so that all see the same machine. Printed are medians, and minima in parentheses, of
milliseconds a step; ratios are medians over the rounds, below 1 where fptrain is faster; memory is the largest resident
set of a whole process. What is not installed is left out, with a word. quick: fewer networks, one thread.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field

WAYS = ("fptrain FP32", "torch FP32", "fptrain FP8", "qtorch FP8")


@dataclass(frozen=True)
class Row:
    """A network; `alone`: too large for four of it at a time, so one process runs after another."""
    model: str
    shape: str
    batch: int
    backend: str = "auto"
    threads: tuple[int, ...] = (1, 2)
    alone: bool = False
    quick: bool = False


ROWS = (
    Row("lenet", "1x28x28", 64, quick=True),
    Row("lenet", "1x28x28", 64, "blas", threads=(1,)),
    Row("resnet20", "3x32x32", 128, quick=True),
    Row("resnet20", "3x32x32", 128, "blas", threads=(1,)),
    Row("mobilenetv2", "3x32x32", 64, threads=(2,)),
    Row("charlstm", "64", 32, quick=True),
    Row("charlstm", "128", 64),
    Row("chargpt", "64", 32),
    Row("resnet18", "3x224x224", 8, threads=(2,), alone=True),
)


@dataclass
class Worker:
    """A process that takes steps when asked; `said` is why it ended, if it did."""
    process: subprocess.Popen[str]
    times: list[float] = field(default_factory=list)
    rounds: list[float] = field(default_factory=list)
    peak: float = 0
    said: str = ""

    def steps(self, count: int) -> float:
        """Takes steps and returns the seconds of the turn; 0 where the process has ended."""
        if self.said:
            return 0
        start = time.perf_counter()
        assert self.process.stdin and self.process.stdout and self.process.stderr
        try:
            self.process.stdin.write(f"{count}\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        answer = self.process.stdout.readline().split()
        if len(answer) != count + 1:
            words = self.process.stderr.read().strip().splitlines()
            self.said = words[-1] if words else f"ended with status {self.process.wait()}"
            return 0
        found = [float(word) for word in answer[:-1]]
        self.peak = float(answer[-1])
        self.times += found
        self.rounds.append(statistics.median(found))
        return time.perf_counter() - start

    def forget(self) -> None:
        """What was measured so far was for getting warm."""
        self.times, self.rounds = [], []

    def end(self) -> None:
        assert self.process.stdin
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.process.wait()


def start(program: str, row: Row, way: str, threads: int) -> Worker:
    precision = "fp8" if way.endswith("FP8") else "fp32"
    network = [row.model, row.shape, str(row.batch), str(threads)]
    if way.startswith("fptrain"):
        command = [program, *network, row.backend, precision]
    else:
        peer = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fptrain_peer.py")
        command = [sys.executable, peer, *network, precision]
    environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
    return Worker(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, env=environment))


def measure_in_turns(workers: list[Worker], seconds: float) -> None:
    turn = []
    for worker in workers:
        worker.steps(2)
        taken = worker.steps(1)
        turn.append(max(1, round(0.2 / taken)) if taken else 1)
        worker.forget()
    end = time.perf_counter() + seconds
    while not workers[0].rounds or len(workers[0].rounds) < 3 or time.perf_counter() < end:
        for worker, count in zip(workers, turn):
            worker.steps(count)
        if all(worker.said for worker in workers):
            break


def ratio(a: Worker, b: Worker) -> str:
    pairs = [x / y for x, y in zip(a.rounds, b.rounds)]
    return f"{statistics.median(pairs):.2f}" if pairs else "-"


def measure(program: str, row: Row, threads: int, seconds: float) -> None:
    workers: list[Worker] = []
    if row.alone:
        for way in WAYS:
            workers.append(start(program, row, way, threads))
            workers[-1].steps(1)
            workers[-1].forget()
            workers[-1].steps(1)
            workers[-1].end()
    else:
        workers = [start(program, row, way, threads) for way in WAYS]
        measure_in_turns(workers, seconds)
        for worker in workers:
            worker.end()
    cells = [f"{1e3 * statistics.median(w.times):.2f} ({1e3 * min(w.times):.2f})" if w.times else "-" for w in workers]
    ours, theirs, ours8, theirs8 = workers
    memory = "/".join(f"{w.peak / 1e6:.0f}" if w.peak else "-" for w in workers)
    name = f"{row.model} {row.shape}, {row.batch}" + ("" if row.backend == "auto" else f", {row.backend}")
    print(f"| {name} | {threads} | {' | '.join(cells)} | {ratio(ours, theirs)} | {ratio(ours8, theirs8)} | {memory} |",
          flush=True)
    for way, worker in zip(WAYS, workers):
        if worker.said:
            print(f"  {way}: not measured: {worker.said[:90]}", flush=True)


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    program, *words = sys.argv[1:]
    quick = "quick" in words
    wanted = [word for word in words if word != "quick"]
    unknown = [word for word in wanted if word not in {row.model for row in ROWS}]
    if unknown:
        print(f"fptrain_steps.py: no network {unknown[0]!r}; there are "
              f"{', '.join(dict.fromkeys(row.model for row in ROWS))}", file=sys.stderr)
        return 2
    print("| network, shape, batch | threads | " + " | ".join(f"{way}, ms" for way in WAYS)
          + " | FP32: ratio | FP8: ratio | memory, MB |")
    print("|" + 9 * "---|")
    for row in ROWS:
        if wanted and row.model not in wanted or quick and not wanted and not row.quick:
            continue
        for threads in row.threads[:1] if quick else row.threads:
            measure(program, row, threads, 4 if quick else 12)
    return 0


if __name__ == "__main__":
    sys.exit(main())
