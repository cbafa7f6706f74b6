"""Ranks of one job on one machine as torchrun starts them: a process each, with
its variables. They are forked from a process that has imported PyTorch, which
saves ten seconds of imports per crash."""

import multiprocessing
import multiprocessing.connection
import os
import sys


def _start(function, rank, count, port):
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank),
                      WORLD_SIZE=str(count), LOCAL_WORLD_SIZE=str(count),
                      MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    function()


def run(function, count, port):
    """Exits with 1 once a rank has failed; the others are killed, as by
    torchrun."""
    if count == 1:
        function()
        return
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_start, args=(function, rank, count, port))
                 for rank in range(count)]
    for process in processes:
        process.start()
    running = {process.sentinel: process for process in processes}
    while running:
        for sentinel in multiprocessing.connection.wait(list(running)):
            running.pop(sentinel).join()
        if any(process.exitcode for process in processes):
            for process in running.values():
                process.terminate()
                process.join()
            sys.exit(1)


def join():
    """Creates the gloo process group; without ranks, the process is alone."""
    import torch.distributed as distributed
    if "RANK" in os.environ:
        distributed.init_process_group("gloo")
    else:
        distributed.init_process_group("gloo", store=distributed.HashStore(),
                                       rank=0, world_size=1)
