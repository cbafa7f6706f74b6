"""An example of the ckpt-chaos package, as a job that restarts itself: trains
from the beginning, or resumes if there is a checkpoint.

    package_example.py NAME --out DIR
"""

import os
import runpy
import sys


def main():
    name, out = sys.argv[1], sys.argv[3]
    has_checkpoint = os.path.isdir(out) and any(
        one.startswith("checkpoint-") and not one.endswith(".tmp")
        for one in os.listdir(out))
    sys.argv = [name, "resume" if has_checkpoint else "reference", "--out", out]
    runpy.run_module(f"ckpt_chaos.targets.{name}", run_name="__main__",
                     alter_sys=True)


if __name__ == "__main__":
    main()
