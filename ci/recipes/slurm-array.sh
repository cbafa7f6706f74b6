#!/bin/sh
#SBATCH --job-name=gauntlet --array=1-8 --cpus-per-task=2 --open-mode=append
# A sharded campaign as a Slurm array: each task runs a part of the scenarios,
# then explores a part of the random plans. In a folder of its own, on a file
# system that all nodes share:
#   id=$(sbatch --parsable slurm-array.sh)
#   sbatch --dependency="afterany:$id" slurm-merge.sh
# A case that failed is a result: the merge ends with its exit code.
part=$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT
rm -rf "shards/$SLURM_ARRAY_TASK_ID" "findings/$SLURM_ARRAY_TASK_ID"
mkdir -p shards findings
code=0
gauntlet run "${SCENARIOS:-scenarios}" --world "${WORLD:-both}" --shard "$part" \
  --no-tests pass --runs "runs/$SLURM_ARRAY_TASK_ID" || code=$?
[ ! -e "runs/$SLURM_ARRAY_TASK_ID/latest" ] ||
  cp -rL "runs/$SLURM_ARRAY_TASK_ID/latest" "shards/$SLURM_ARRAY_TASK_ID"
[ "$code" -le 1 ] || exit "$code"

code=0
gauntlet explore --mode random --shard "$part" --cases "${CASES:-100000}" -j 2 \
  --out "findings/$SLURM_ARRAY_TASK_ID" || code=$?
exit "$code"
