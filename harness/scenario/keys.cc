#include "harness/scenario/keys.h"

#include <algorithm>
#include <array>
#include <deque>
#include <iterator>

#include "chaos/inject/fault_parameters.h"
#include "engine/job/job.h"
#include "engine/world/fault_point.h"
#include "harness/record/invariants.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

// Of what bounds a wait: shorter than any that a process can keep.
constexpr uint64_t kLeastTime = 1'000'000;

using T = KeyType;

constexpr KeySpec kKeys[] = {
    {.path = "schema",
     .type = T::kChoice,
     .doc = "the version of this format; required",
     .listed = "gauntlet/v2"},
    {.path = "name",
     .doc = "the claim, as a name: letters, digits, '-', '_', '.'; required"},
    {.path = "labels", .type = T::kNames, .doc = "to select scenarios by"},
    {.path = "preset",
     .type = T::kChoice,
     .doc = "the preset that the job starts from",
     .fallback = "tiny",
     .names = Names::kPresets},
    {.path = "seed",
     .type = T::kCount,
     .doc = "all randomness of job and faults comes from it",
     .fallback = "1",
     .high = ~uint64_t{0}},
    {.path = "planted_bugs",
     .type = T::kNames,
     .doc = "known bugs that the engine runs with, for mutation tests",
     .names = Names::kBugs},

    {.path = "requires",
     .type = T::kMap,
     .doc = "what the machine and world must have; unmet: SKIP"},
    {.path = "requires.gpus",
     .type = T::kCount,
     .doc = "how many GPUs",
     .fallback = "0",
     .high = 1024},
    {.path = "requires.disk",
     .type = T::kSize,
     .doc = "free space for the run's files",
     .fallback = "0"},
    {.path = "requires.features",
     .type = T::kNames,
     .doc = "what the world must be able to do",
     .names = Names::kFeatures},

    {.path = "timeout", .type = T::kMap, .doc = "limits of time"},
    {.path = "timeout.slow",
     .type = T::kDuration,
     .doc = "a case that still runs after so long on the wall clock is named",
     .fallback = "30s",
     .low = kLeastTime},
    {.path = "timeout.hang",
     .type = T::kDuration,
     .doc = "no event from any worker for so long is a hang, in the real "
            "world",
     .fallback = "15s, or longer than the engine waits for a step, or for what "
                 "the plan brings to a stand",
     .low = kLeastTime},
    {.path = "timeout.total",
     .type = T::kDuration,
     .doc = "a case that takes longer is stopped, and fails; in the simulated "
            "world by its own clock, from each start of the job on",
     .fallback = "120s, or a minute above hang",
     .low = kLeastTime},

    {.path = "job", .type = T::kMap, .doc = "what is trained"},
    {.path = "job.model",
     .type = T::kChoice,
     .doc = "the layers of this preset instead of those of `preset`",
     .names = Names::kPresets},
    {.path = "job.layers",
     .type = T::kMaps,
     .doc = "the layers one by one, instead of a preset's"},
    {.path = "job.layers.kind",
     .type = T::kChoice,
     .doc = "conv2d before flatten, dense behind it and at the end; required",
     .listed = "flatten|dense|relu|dropout|conv2d|center"},
    {.path = "job.layers.units",
     .type = T::kCount,
     .doc = "dense: outputs",
     .low = 1,
     .high = 65536},
    {.path = "job.layers.rate",
     .type = T::kNumber,
     .doc = "dropout: the share that is zeroed"},
    {.path = "job.layers.filters",
     .type = T::kCount,
     .doc = "conv2d: channels of the output",
     .low = 1,
     .high = 4096},
    {.path = "job.layers.kernel",
     .type = T::kCount,
     .doc = "conv2d: pixels a side",
     .low = 1,
     .high = 64},
    {.path = "job.layers.momentum",
     .type = T::kNumber,
     .doc = "center: the share of a replica's moving mean that a step leaves"},
    {.path = "job.seed",
     .type = T::kCount,
     .doc = "of the job alone; as `seed` if not given",
     .high = ~uint64_t{0}},
    {.path = "job.data", .type = T::kMap, .doc = "what it is trained on"},
    {.path = "job.data.kind",
     .type = T::kChoice,
     .doc = "generated digits, MNIST's files, CIFAR-10's or NumPy's",
     .fallback = "digits",
     .listed = "digits|idx|cifar10|npy"},
    {.path = "job.data.path",
     .doc = "idx, cifar10, npy: the directory of the files"},
    {.path = "job.data.validation_path",
     .doc = "of the validation files; `path` if not given"},
    {.path = "job.data.classes",
     .type = T::kCount,
     .doc = "npy: labels are below",
     .fallback = "10",
     .low = 2,
     .high = 256},
    {.path = "job.data.samples",
     .type = T::kCount,
     .doc = "digits: training rows",
     .low = 1,
     .high = 10'000'000},
    {.path = "job.data.validation_samples",
     .type = T::kCount,
     .doc = "digits: validation rows",
     .low = 1,
     .high = 10'000'000},
    {.path = "job.data.side",
     .type = T::kCount,
     .doc = "digits: pixels a side, 28 or 7",
     .low = 7,
     .high = 28},
    {.path = "job.data.shuffle",
     .type = T::kChoice,
     .doc = "an epoch's order of the rows is another each time",
     .fallback = "on",
     .listed = "on|off"},
    {.path = "job.data.shard",
     .type = T::kChoice,
     .doc = "who takes which rows",
     .fallback = "data",
     .listed = "data|file|auto|off"},
    {.path = "job.data.steps_per_epoch",
     .type = T::kCount,
     .doc = "fewer than the rows give",
     .low = 1,
     .high = 10'000'000},
    {.path = "job.data.validation_steps",
     .type = T::kCount,
     .doc = "global batches that an evaluation takes; all rows if not given, "
            "or if there are fewer",
     .low = 1,
     .high = 10'000'000},
    {.path = "job.optimizer", .type = T::kMap, .doc = "how it learns"},
    {.path = "job.optimizer.name",
     .type = T::kChoice,
     .doc = "the algorithm",
     .listed = "sgd|adam"},
    {.path = "job.optimizer.lr",
     .type = T::kNumber,
     .doc = "the learning rate"},
    {.path = "job.optimizer.momentum", .type = T::kNumber, .doc = "sgd only"},
    {.path = "job.optimizer.beta1", .type = T::kNumber, .doc = "adam only"},
    {.path = "job.optimizer.beta2", .type = T::kNumber, .doc = "adam only"},
    {.path = "job.optimizer.epsilon", .type = T::kNumber, .doc = "adam only"},
    {.path = "job.optimizer.schedule",
     .type = T::kMap,
     .doc = "the learning rate as a function of the update, from 0"},
    {.path = "job.optimizer.schedule.kind",
     .type = T::kChoice,
     .doc = "its form, behind the warm-up",
     .fallback = "constant",
     .listed = "constant|exponential_decay|cosine_decay|piecewise"},
    {.path = "job.optimizer.schedule.warmup",
     .type = T::kCount,
     .doc = "updates in which it rises in equal parts to `lr`",
     .fallback = "0"},
    {.path = "job.optimizer.schedule.steps",
     .type = T::kCount,
     .doc = "exponential_decay, cosine_decay: updates that it takes",
     .fallback = "1",
     .low = 1},
    {.path = "job.optimizer.schedule.rate",
     .type = T::kNumber,
     .doc = "exponential_decay: what is left after `steps`",
     .fallback = "1"},
    {.path = "job.optimizer.schedule.staircase",
     .type = T::kFlag,
     .doc = "exponential_decay: only at multiples of `steps`",
     .fallback = "false"},
    {.path = "job.optimizer.schedule.alpha",
     .type = T::kNumber,
     .doc = "cosine_decay: the share of `lr` that is left",
     .fallback = "0"},
    {.path = "job.optimizer.schedule.boundaries",
     .type = T::kCounts,
     .doc = "piecewise: the last update of each value but the last"},
    {.path = "job.optimizer.schedule.values",
     .type = T::kNumbers,
     .doc = "piecewise: learning rates, one more than boundaries"},
    {.path = "job.optimizer.clip",
     .type = T::kMap,
     .doc = "bounds for the gradient of all replicas"},
    {.path = "job.optimizer.clip.by",
     .type = T::kChoice,
     .doc = "each element, each tensor's norm, or that of all tensors",
     .fallback = "none",
     .listed = "none|value|norm|global_norm"},
    {.path = "job.optimizer.clip.limit",
     .type = T::kNumber,
     .doc = "the bound",
     .fallback = "1"},
    {.path = "job.epochs",
     .type = T::kCount,
     .doc = "how many epochs to train",
     .fallback = "3",
     .low = 1,
     .high = 1'000'000},
    {.path = "job.max_steps",
     .type = T::kCount,
     .doc = "stop after so many steps in all",
     .low = 1},
    {.path = "job.steps_per_execution",
     .type = T::kCount,
     .doc = "save and stop only after each so many steps, at an epoch's end "
            "and at the run's; same bits",
     .fallback = "1",
     .low = 1,
     .high = 1'000'000},
    {.path = "job.stop_on_nan",
     .type = T::kFlag,
     .doc = "stop at the step whose loss is infinite or NaN, and save no such "
            "state; exit code 9",
     .fallback = "false"},
    {.path = "job.batch",
     .type = T::kCount,
     .doc = "rows that a replica takes in a step",
     .low = 1,
     .high = 65536},
    {.path = "job.accumulate",
     .type = T::kCount,
     .doc = "steps whose gradients are averaged for one update",
     .fallback = "1",
     .low = 1,
     .high = 65536},
    {.path = "job.replicas",
     .type = T::kCount,
     .doc = "parts of the global batch; as many as workers if not given",
     .low = 1,
     .high = 1024},
    {.path = "job.remainder",
     .type = T::kChoice,
     .doc = "rows that do not fill a global batch at an epoch's end",
     .fallback = "drop",
     .listed = "drop|keep"},

    {.path = "warm_start",
     .type = T::kMap,
     .doc = "an undisturbed run of the same job comes first, and this one "
            "starts from the model that it exports"},
    {.path = "warm_start.workers",
     .type = T::kCount,
     .doc = "its worker processes, with a replica each",
     .fallback = "1",
     .low = 1,
     .high = 64},
    {.path = "warm_start.epochs",
     .type = T::kCount,
     .doc = "how many epochs it trains",
     .fallback = "1",
     .low = 1,
     .high = 1'000'000},
    {.path = "warm_start.steps_per_epoch",
     .type = T::kCount,
     .doc = "fewer than the rows give",
     .low = 1,
     .high = 10'000'000},

    {.path = "launches",
     .type = T::kMaps,
     .doc = "how each start of the launcher differs from `job`; the next one "
            "comes once a launch is done, has stopped or refuses a changed "
            "job, and the last counts for all later ones; all are alike if not "
            "given"},
    {.path = "launches.epochs",
     .type = T::kCount,
     .doc = "train fewer epochs than `job` for now",
     .low = 1,
     .high = 1'000'000},
    {.path = "launches.max_steps",
     .type = T::kCount,
     .doc = "train fewer steps than `job` for now",
     .low = 1},
    {.path = "launches.stop_at_step",
     .type = T::kCount,
     .doc = "save and stop after this step; past it, train on",
     .low = 1},
    {.path = "launches.lr",
     .type = T::kNumber,
     .doc = "a changed job, to be refused: another learning rate"},
    {.path = "launches.batch",
     .type = T::kCount,
     .doc = "a changed job, to be refused: another number of rows that a "
            "replica takes in a step",
     .low = 1,
     .high = 65536},

    {.path = "cluster", .type = T::kMap, .doc = "where it is trained"},
    {.path = "cluster.workers",
     .type = T::kCount,
     .doc = "worker processes",
     .fallback = "2",
     .low = 1,
     .high = 64},
    {.path = "cluster.min_workers",
     .type = T::kCount,
     .doc = "the fewest to go on with where others fail again and again; as "
            "many as workers if not given",
     .low = 1,
     .high = 64},
    {.path = "cluster.workers_per_attempt",
     .type = T::kCounts,
     .doc = "how many workers each attempt (run of the whole job) has; the "
            "last number counts for all later ones; `workers` if not given",
     .low = 1,
     .high = 64},
    {.path = "cluster.device",
     .type = T::kChoice,
     .doc = "what the workers compute on: cuda in real processes where there "
            "is a GPU, emulated (a GPU's kernels on the CPU) anywhere; auto is "
            "a GPU where there is one, else the CPU",
     .fallback = "cpu",
     .listed = "cpu|cuda|emulated|auto"},
    {.path = "cluster.device_per_attempt",
     .type = T::kNames,
     .doc = "the device of each attempt (run of the whole job); the last one "
            "counts for all later ones; `device` if not given",
     .listed = "cpu|cuda|emulated"},
    {.path = "cluster.collective",
     .type = T::kChoice,
     .doc = "what sums gradients: the ring over the network, NCCL between "
            "devices, or NCCL where each worker has a GPU of its own",
     .fallback = "auto",
     .listed = "auto|ring|nccl"},
    {.path = "cluster.transport",
     .type = T::kChoice,
     .doc = "how the workers talk",
     .fallback = "auto",
     .listed = "auto|grpc"},
    {.path = "cluster.topology",
     .type = T::kChoice,
     .doc = "all workers on the launcher's host, or each on its own with "
            "shared storage; a partition then cuts off the launcher too",
     .fallback = "one_host",
     .listed = "one_host|one_host_per_worker"},
    {.path = "cluster.heartbeat",
     .type = T::kMap,
     .doc = "messages that show that a worker runs"},
    {.path = "cluster.heartbeat.every",
     .type = T::kDuration,
     .doc = "between two heartbeats",
     .fallback = "200ms",
     .low = kLeastTime},
    {.path = "cluster.heartbeat.lost_after",
     .type = T::kDuration,
     .doc = "silence for so long means that a worker is lost",
     .fallback = "5s",
     .low = kLeastTime},
    {.path = "cluster.step_timeout",
     .type = T::kDuration,
     .doc = "a step that takes longer is a hang, heartbeats or not",
     .fallback = "30s",
     .low = kLeastTime},
    {.path = "cluster.save_timeout",
     .type = T::kDuration,
     .doc = "a save that takes longer is a hang",
     .fallback = "300s",
     .low = kLeastTime},
    {.path = "cluster.start_timeout",
     .type = T::kDuration,
     .doc = "a chief that has not begun to meet the others by then hangs: it "
            "reads its data and opens its device first",
     .fallback = "10m",
     .low = kLeastTime},
    {.path = "cluster.restart",
     .type = T::kMap,
     .doc = "what the launcher does when a worker is lost"},
    {.path = "cluster.restart.policy",
     .type = T::kChoice,
     .doc = "give up, start all workers again, or the lost one alone, which "
            "takes the others' state",
     .fallback = "whole-job",
     .listed = "none|whole-job|rejoin"},
    {.path = "cluster.restart.max",
     .type = T::kCount,
     .doc = "restarts before it gives up",
     .fallback = "3",
     .high = 1000},
    {.path = "cluster.restart.backoff",
     .type = T::kDuration,
     .doc = "wait before a restart",
     .fallback = "100ms"},

    {.path = "preemption", .type = T::kMap, .doc = "what a notice means"},
    {.path = "preemption.grace",
     .type = T::kDuration,
     .doc = "from a notice to the end of the process: training goes on while "
            "it is enough for a save; 0s: save and leave at once",
     .fallback = "0s"},
    {.path = "preemption.poll_every",
     .type = T::kDuration,
     .doc = "how often workers look for notices by file or http",
     .fallback = "1s",
     .low = kLeastTime},

    {.path = "preemption.requeue",
     .type = T::kCount,
     .doc = "how often the job is started again, as a queue would: after it "
            "stopped on a notice, after exit code 75, or when its launcher was "
            "killed",
     .fallback = "8",
     .high = 1000},

    {.path = "disk", .type = T::kMap, .doc = "what is under the store"},
    {.path = "disk.profile",
     .type = T::kChoice,
     .doc = "what the disk promises; all but ext4 in the simulated world only",
     .fallback = "ext4",
     .listed = "ext4|weak|lying-fsync|shared"},
    {.path = "disk.capacity",
     .type = T::kSize,
     .doc = "capacity of the disk; simulation only",
     .fallback = "unlimited"},

    {.path = "checkpoint", .type = T::kMap, .doc = "how it is saved"},
    {.path = "checkpoint.directory",
     .type = T::kChoice,
     .doc = "where: in a directory of the run's own, or nowhere: then every "
            "restart begins from the start",
     .fallback = "own",
     .listed = "own|none"},
    {.path = "checkpoint.every",
     .type = T::kEvery,
     .doc = "{steps: n}, {epochs: n}, {seconds: n}, or never",
     .fallback = "{epochs: 1}",
     .low = 1},
    {.path = "checkpoint.mode",
     .type = T::kChoice,
     .doc = "whether training waits for a save, or goes on while a copy is "
            "written",
     .fallback = "sync",
     .listed = "sync|async"},
    {.path = "checkpoint.keep",
     .type = T::kCount,
     .doc = "checkpoints that retention leaves",
     .fallback = "5",
     .low = 1,
     .high = 1'000'000},
    {.path = "checkpoint.keep_every_hours",
     .type = T::kCount,
     .doc = "beside them one checkpoint every so many hours is kept for good; "
            "0: none",
     .fallback = "0",
     .high = 1'000'000},
    {.path = "checkpoint.on_success",
     .type = T::kChoice,
     .doc = "a finished run saves its end beside its checkpoints, deletes "
            "them, or leaves them as they are",
     .fallback = "keep",
     .listed = "keep|delete|leave"},
    {.path = "checkpoint.allow_cold_start",
     .type = T::kFlag,
     .doc = "start afresh where no checkpoint can be loaded",
     .fallback = "false"},

    {.path = "outputs",
     .type = T::kMap,
     .doc = "what the job writes beside its checkpoints"},
    {.path = "outputs.curves_every",
     .type = T::kCount,
     .doc = "TensorBoard event files, with a point of the loss every so many "
            "steps; 0: none",
     .fallback = "0",
     .high = 1'000'000},
    {.path = "outputs.export",
     .type = T::kFlag,
     .doc = "export the model once it is trained",
     .fallback = "false"},

    {.path = "faults", .type = T::kFaults, .doc = "what goes wrong"},
    {.path = "faults.id",
     .doc = "its name, for `after`, events and reports",
     .fallback = "fault-1, fault-2, …"},
    {.path = "faults.do",
     .type = T::kChoice,
     .doc = "what happens; required",
     .names = Names::kFaultKinds},
    {.path = "faults.at",
     .type = T::kMap,
     .doc = "where, in logical time; required"},
    {.path = "faults.at.worker",
     .type = T::kWorker,
     .doc = "a worker's number, all, any (who gets there first) or chief",
     .fallback = "any"},
    {.path = "faults.at.incarnation",
     .type = T::kCountOrAny,
     .doc = "which run of that worker's process, or any",
     .fallback = "1, with `after` any",
     .low = 1,
     .high = 1000},
    {.path = "faults.at.step",
     .type = T::kCount,
     .doc = "in this step of training only, the first is 1; a save written "
            "beside it meets "
            "its points in later steps: say `save` there"},
    {.path = "faults.at.epoch",
     .type = T::kCount,
     .doc = "in this epoch only, the first is 0; a save at its end is in it"},
    {.path = "faults.at.point",
     .type = T::kChoice,
     .doc = "the place in the engine",
     .fallback = "step.begin",
     .names = Names::kPoints},
    {.path = "faults.at.occurrence",
     .type = T::kCount,
     .doc = "the N-th time that the worker is there while all else of `at` "
            "holds, counted in each incarnation; at a point that ends in "
            ".write: the N-th file",
     .fallback = "1",
     .low = 1},
    {.path = "faults.at.save",
     .type = T::kCount,
     .doc = "only in the N-th save that this incarnation begins; a save that "
            "is tried again counts again",
     .low = 1},
    {.path = "faults.at.block",
     .type = T::kCountOrAny,
     .doc = "at a point that ends in .write: before this block of the file, "
            "the first is 0; any: each block is an occurrence",
     .fallback = "0",
     .high = 1'000'000},
    {.path = "faults.at.offset",
     .type = T::kOffset,
     .doc = "at a point that ends in .write, instead of `block`: within the "
            "write that reaches this offset of the file"},
    {.path = "faults.after", .doc = "the id of a fault that has to fire first"},
    {.path = "faults.with", .type = T::kWith, .doc = "parameters of the kind"},
    {.path = "faults.until",
     .type = T::kMap,
     .doc = "when a fault with `repeat: always` ends"},
    {.path = "faults.until.step",
     .type = T::kCount,
     .doc = "not from this step on"},

    {.path = "matrix",
     .type = T::kAxes,
     .doc = "dotted paths, each with a list of values: a case for each "
            "combination"},

    {.path = "expect",
     .type = T::kMap,
     .doc = "what must come of it; required"},
    {.path = "expect.outcome",
     .type = T::kChoice,
     .doc =
         "how the run ends; stops-cleanly: saved and stopped on a notice, "
         "not restarted (preemption: {requeue: 0}); retry-later: exit code 75 "
         "because there was no room for the last state or for a claim, to the "
         "last requeue; `violates`: a mutation test, the named invariants must "
         "find the planted bug; required",
     .listed = "completes|recovers|stops-cleanly|refuses|violates|fails|"
               "stops-on-nan|retry-later"},
    {.path = "expect.invariants",
     .type = T::kNames,
     .doc = "all that apply, or these (for `violates`: those to be broken)",
     .fallback = "all",
     .names = Names::kInvariants},
    {.path = "expect.restarts", .type = T::kMap, .doc = "by the launcher"},
    {.path = "expect.restarts.exactly", .type = T::kCount, .doc = "this many"},
    {.path = "expect.restarts.max", .type = T::kCount, .doc = "at most"},
    {.path = "expect.resumed_from",
     .type = T::kMap,
     .doc = "where the first restart goes on"},
    {.path = "expect.resumed_from.step",
     .type = T::kCount,
     .doc = "the step of its checkpoint"},
    {.path = "expect.recomputed_steps",
     .type = T::kMap,
     .doc = "steps that a restart recomputes; no restart: inconclusive"},
    {.path = "expect.recomputed_steps.max",
     .type = T::kCount,
     .doc = "at most"},
    {.path = "expect.detected_in",
     .type = T::kMap,
     .doc = "until the loss of a worker is noticed; none: inconclusive"},
    {.path = "expect.detected_in.max", .type = T::kDuration, .doc = "at most"},
    {.path = "expect.failed_saves",
     .type = T::kMap,
     .doc = "saves that ended with an error"},
    {.path = "expect.failed_saves.exactly",
     .type = T::kCount,
     .doc = "this many"},
    {.path = "expect.ends_at",
     .type = T::kMap,
     .doc = "where training stands at the end"},
    {.path = "expect.ends_at.epoch",
     .type = T::kCount,
     .doc = "complete epochs"},
    {.path = "expect.ends_at.step",
     .type = T::kCount,
     .doc = "steps, each counted once"},
    {.path = "expect.saves",
     .type = T::kMap,
     .doc = "saves that were acknowledged"},
    {.path = "expect.saves.exactly", .type = T::kCount, .doc = "this many"},
    {.path = "expect.checkpoints",
     .type = T::kCounts,
     .doc = "steps of the checkpoints that are left, oldest first; []: none"},
    {.path = "expect.epochs_after_restart",
     .type = T::kMap,
     .doc = "epochs that end after the first restart; none: inconclusive"},
    {.path = "expect.epochs_after_restart.exactly",
     .type = T::kCount,
     .doc = "this many"},
    {.path = "expect.loss",
     .type = T::kChoice,
     .doc = "of the last epoch, against the first",
     .fallback = "any",
     .listed = "any|falls"},
    {.path = "expect.accuracy",
     .type = T::kChoice,
     .doc = "of the last epoch, against the first",
     .fallback = "any",
     .listed = "any|rises"},
    {.path = "expect.exit_code",
     .type = T::kCount,
     .doc = "of the launcher",
     .high = 255},
};

constexpr std::array kFeatures = {
    FeatureInfo{"power_loss", "what was not synced can be lost"},
    FeatureInfo{"simulation", "virtual time and a simulated cluster"},
    FeatureInfo{"processes", "real worker processes"},
};

template <typename Infos>
std::vector<std::string> NamesOf(const Infos& infos) {
  std::vector<std::string> names;
  for (const auto& info : infos) names.emplace_back(info.name);
  return names;
}

std::vector<std::string> Split(std::string_view listed) {
  std::vector<std::string> names;
  while (!listed.empty()) {
    const size_t end = listed.find('|');
    names.emplace_back(listed.substr(0, end));
    if (end == std::string_view::npos) break;
    listed.remove_prefix(end + 1);
  }
  return names;
}

// Texts of generated rows, which live as long as the table.
std::string_view Stored(std::string text) {
  static std::deque<std::string> texts;
  return texts.emplace_back(std::move(text));
}

KeyType TypeOf(const ParameterPlace& place) {
  return std::visit(
      OnPlace{[](Duration FaultParameters::*) { return T::kDuration; },
              [](std::optional<Duration> FaultParameters::*) {
                return T::kDuration;
              },
              [](FileOffset FaultParameters::*) { return T::kOffset; },
              [](const BytesPlace&) { return T::kSize; },
              [](const ChoicePlace&) { return T::kChoice; },
              [](const BlocksPlace&) { return T::kCounts; },
              [](const GroupsPlace&) { return T::kGroups; },
              [](auto) { return T::kCount; }},
      place);
}

KeySpec RowOf(std::string_view map, const FaultParameterInfo& parameter) {
  KeySpec row = {.path = Stored(fmt::format("{}.{}", map, parameter.name)),
                 .type = TypeOf(parameter.place),
                 .doc = parameter.doc,
                 .fallback = parameter.fallback,
                 .low = parameter.low,
                 .high = parameter.high};
  if (const auto* choice = std::get_if<ChoicePlace>(&parameter.place)) {
    row.listed = Stored(fmt::format("{}", fmt::join(choice->names(), "|")));
  }
  return row;
}

// The rows below "with": a map for each fault kind, with its parameters.
void AddRowsOfFaults(std::vector<KeySpec>& rows) {
  for (const FaultKindInfo& kind : AllFaultKinds()) {
    const std::string_view map = Stored(fmt::format("with.{}", kind.name));
    rows.push_back({.path = map, .type = T::kMap, .doc = kind.description});
    for (const FaultParameterInfo& parameter : ParametersOf(kind.kind)) {
      rows.push_back(RowOf(map, parameter));
    }
    if (kind.kind == FaultKind::kPreempt) {
      rows.push_back({.path = Stored(fmt::format("{}.profile", map)),
                      .type = T::kChoice,
                      .doc = "whose grace: slurm, k8s and gcp 30s, aws-spot "
                             "120s",
                      .listed = "slurm|k8s|aws-spot|gcp"});
    }
    rows.push_back(
        {.path = Stored(fmt::format("{}.repeat", map)),
         .type = T::kChoice,
         .doc = "once in the run, or at every occurrence from the first on",
         .fallback = "once; with `until` always",
         .listed = "once|always"});
  }
}

}  // namespace

std::span<const KeySpec> AllKeys() {
  static const std::vector<KeySpec> kAll = [] {
    std::vector<KeySpec> all(std::begin(kKeys), std::end(kKeys));
    AddRowsOfFaults(all);
    return all;
  }();
  return kAll;
}

const KeySpec* FindKey(std::string_view path) {
  const auto all = AllKeys();
  const auto found = std::ranges::find(all, path, &KeySpec::path);
  return found == all.end() ? nullptr : &*found;
}

std::vector<std::string> KeysOf(std::string_view map_path) {
  std::vector<std::string> names;
  for (const KeySpec& key : AllKeys()) {
    const size_t dot = key.path.rfind('.');
    const bool top = dot == std::string_view::npos;
    const std::string_view parent = top ? "" : key.path.substr(0, dot);
    if (parent == map_path) {
      names.emplace_back(top ? key.path : key.path.substr(dot + 1));
    }
  }
  return names;
}

std::vector<std::string> ChoicesOf(const KeySpec& key) {
  switch (key.names) {
    case Names::kListed:
      return Split(key.listed);
    case Names::kPresets:
      return NamesOf(AllPresets());
    case Names::kPoints:
      return NamesOf(AllPoints());
    case Names::kFaultKinds:
      return NamesOf(AllFaultKinds());
    case Names::kBugs:
      return NamesOf(AllPlantedBugs());
    case Names::kInvariants:
      return NamesOf(AllInvariants());
    case Names::kFeatures:
      return NamesOf(kFeatures);
  }
  return {};
}

std::span<const FeatureInfo> AllFeatures() { return kFeatures; }

}  // namespace gauntlet
