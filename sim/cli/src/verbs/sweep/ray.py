"""Runs the shards of a sweep as Ray tasks: python3 ray.py PROGRAM PLAN FOLDER SHARDS"""
import subprocess
import sys

import ray

program, plan, folder, shards = sys.argv[1:]
# The cluster that RAY_ADDRESS names; without it, this machine.
ray.init(log_to_driver=False)


@ray.remote(num_cpus=1, max_retries=5, retry_exceptions=True)
def run(shard):
    command = [program, "sweep", "run", plan, "--out", folder, "--shard", f"{shard}/{shards}", "--jobs", "1", "--quiet"]
    # A failed shard is retried like a lost worker: parts that exist are not run again.
    subprocess.run(command, check=True)


ray.get([run.remote(shard) for shard in range(int(shards))])
