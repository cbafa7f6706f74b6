"""The environment of a command in a document, a recipe or a help page."""

import os
import pathlib
import re

# Variables that would assign a worker, a shard or a CI job another place.
_PLACES = re.compile(
    r"^(RANK|WORLD_SIZE|LOCAL_.*|MASTER_.*|TORCHELASTIC_.*|TF_CONFIG|SLURM_.*|"
    r"OMPI_.*|PMIX?_.*|PRTE_.*|JOB_COMPLETION_INDEX|GAUNTLET_.*|GITHUB_.*|"
    r"TEST_.*|GTEST_.*|CI_.*|ENVIRONMENT)$")


def environment_with(program, folder):
    """Returns this process's environment, with `gauntlet` linked in folder."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True)
    (folder / "gauntlet").symlink_to(program)
    kept = {name: value for name, value in os.environ.items()
            if not _PLACES.match(name)}
    return {**kept, "PATH": f"{folder}:{os.environ['PATH']}",
            "NO_COLOR": "1", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
