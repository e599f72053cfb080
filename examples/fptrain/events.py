# SPDX-License-Identifier: BSD-2-Clause
"""What `fptrain report --csv` tells, as files of events for TensorBoard, by the package tensorboard.

    fptrain report runs/* --csv log.csv
    python3 events.py log.csv board
    tensorboard --logdir board

A directory for each run. Names are those of the log; a histogram has a bin from e to e + 1 for the exponent e.
"""
import csv
import os
import sys
from collections import defaultdict

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter


def histogram(counts):
    """Of counts by exponent."""
    return HistogramProto(min=min(counts), max=max(counts) + 1, num=sum(counts.values()),
                          sum=sum(e * n for e, n in counts.items()),
                          sum_squares=sum(e * e * n for e, n in counts.items()),
                          bucket_limit=[e + 1 for e in counts], bucket=list(counts.values()))


def summary(values):
    """Of the names and numbers of one step; and the seconds since the run began."""
    told, counts, seconds = Summary(), defaultdict(dict), 0.0
    for name, value in values:
        tag, _, last = name.rpartition("/")
        if name.startswith("histogram/") or tag == "updates/ratio":
            counts[tag][int(last)] = value
        else:
            told.value.add(tag=name, simple_value=value)
            seconds = value if name == "seconds" else seconds
    for tag, bins in counts.items():
        told.value.add(tag=tag, histo=histogram(bins))
    return told, seconds


def main(table, board):
    steps = defaultdict(lambda: defaultdict(list))
    with open(table, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            steps[row["run"]][int(row["step"])].append((row["name"], float(row["value"])))
    for run, of_run in steps.items():
        writer = EventFileWriter(os.path.join(board, os.path.normpath(run).replace("..", "_").lstrip("/")))
        for step, values in sorted(of_run.items()):
            told, seconds = summary(values)
            writer.add_event(Event(wall_time=os.path.getmtime(table) + seconds, step=step, summary=told))
        writer.close()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("Usage: events.py LOG.csv DIRECTORY")
    main(*sys.argv[1:])
