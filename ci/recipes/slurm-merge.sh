#!/bin/sh
#SBATCH --job-name=gauntlet-report
# One report of all tasks of slurm-array.sh, in merged/.
rm -rf merged
gauntlet report --merge shards/* --out merged
