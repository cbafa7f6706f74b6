#include "harness/scenario/format/keys.h"

#include <algorithm>
#include <array>
#include <deque>
#include <iterator>

#include "chaos/inject/plan/fault_parameters.h"
#include "engine/job/job.h"
#include "engine/job/layer_kinds.h"
#include "engine/train/options.h"
#include "engine/world/fault_point.h"
#include "harness/record/invariants.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

// Lower bound of time limits, in nanoseconds: no process can meet a shorter
// one.
constexpr uint64_t kLeastTime = 1'000'000;

using T = KeyType;

constexpr KeySpec kKeys[] = {
    {.path = "schema",
     .type = T::kChoice,
     .doc = "version of this format; required",
     .listed = "gauntlet/v2"},
    {.path = "name",
     .doc =
         "name of the claim, of letters, digits, '-', '_' and '.'; required"},
    {.path = "labels",
     .type = T::kNames,
     .doc = "labels to select the scenario by"},
    {.path = "preset",
     .type = T::kChoice,
     .doc = "preset that the job starts from",
     .fallback = "tiny",
     .names = Names::kPresets},
    {.path = "seed",
     .type = T::kCount,
     .doc = "seed of all randomness of the job and the faults",
     .fallback = "1",
     .high = ~uint64_t{0}},
    {.path = "planted_bugs",
     .type = T::kNames,
     .doc = "known bugs to run the engine with, for a mutation test",
     .names = Names::kBugs},

    {.path = "requires",
     .type = T::kMap,
     .doc = "requirements on the machine and the world; the case is skipped if "
            "one is not met"},
    {.path = "requires.gpus",
     .type = T::kCount,
     .doc = "number of GPUs",
     .fallback = "0",
     .high = 1024},
    {.path = "requires.disk",
     .type = T::kSize,
     .doc = "free disk space for the run's files, such as 1GiB",
     .fallback = "0"},
    {.path = "requires.features",
     .type = T::kNames,
     .doc = "features of the world",
     .names = Names::kFeatures},

    {.path = "timeout", .type = T::kMap, .doc = "limits of time"},
    {.path = "timeout.slow",
     .type = T::kDuration,
     .doc = "real time after which a running case is reported as slow",
     .fallback = "30s",
     .low = kLeastTime},
    {.path = "timeout.hang",
     .type = T::kDuration,
     .doc = "time without an event from any worker after which the case counts "
            "as hung; real world only",
     .fallback = "15s, or more if a step or a planned fault may take longer",
     .low = kLeastTime},
    {.path = "timeout.total",
     .type = T::kDuration,
     .doc = "time after which the case is stopped and fails: in the real "
            "world, time of the whole case; in the simulated world, virtual "
            "time since the last start of the job. The reference run may take "
            "as long in real time, at least 5 minutes",
     .fallback = "120s, or `hang` plus 60s if that is more",
     .low = kLeastTime},

    {.path = "job", .type = T::kMap, .doc = "job to train"},
    {.path = "job.model",
     .type = T::kChoice,
     .doc = "preset whose layers replace those of `preset`",
     .names = Names::kPresets},
    {.path = "job.layers",
     .type = T::kMaps,
     .doc = "list of layers that replaces those of the preset"},
    {.path = "job.layers.kind",
     .type = T::kChoice,
     .doc = "kind of the layer; conv2d comes before flatten, dense after it, "
            "and dense is the last; gelu is the exact one, by erf; required"},
    {.path = "job.seed",
     .type = T::kCount,
     .doc = "seed of the job alone",
     .fallback = "`seed`",
     .high = ~uint64_t{0}},
    {.path = "job.data", .type = T::kMap, .doc = "data set to train on"},
    {.path = "job.data.kind",
     .type = T::kChoice,
     .doc = "kind of the data set: generated digits, or files of MNIST (idx), "
            "CIFAR-10 or NumPy (npy)",
     .fallback = "digits",
     .listed = "digits|idx|cifar10|npy"},
    {.path = "job.data.path", .doc = "idx, cifar10, npy: folder of the files"},
    {.path = "job.data.validation_path",
     .doc = "folder of the validation files",
     .fallback = "`path`"},
    {.path = "job.data.classes",
     .type = T::kCount,
     .doc = "npy: number of classes; labels count from 0",
     .fallback = "10",
     .low = 2,
     .high = kMaxClasses},
    {.path = "job.data.samples",
     .type = T::kCount,
     .doc = "digits: number of training samples",
     .fallback = "the preset's",
     .low = 1,
     .high = kMaxSamples},
    {.path = "job.data.validation_samples",
     .type = T::kCount,
     .doc = "digits: number of validation samples",
     .fallback = "the preset's",
     .low = 1,
     .high = kMaxSamples},
    {.path = "job.data.side",
     .type = T::kCount,
     .doc = "digits: width and height of an image in pixels, 28 or 7",
     .fallback = "the preset's",
     .low = 7,
     .high = 28},
    {.path = "job.data.shuffle",
     .type = T::kChoice,
     .doc = "shuffle the samples of each epoch",
     .fallback = "on",
     .listed = "on|off"},
    {.path = "job.data.shard",
     .type = T::kChoice,
     .doc = "split of the samples over the replicas: by sample (data), by file "
            "(file), by file if each replica has one and else by sample "
            "(auto), or none, so that each replica takes all (off)",
     .fallback = "data",
     .listed = "data|file|auto|off"},
    {.path = "job.data.steps_per_epoch",
     .type = T::kCount,
     .doc = "number of steps after which an epoch ends",
     .fallback = "as many as the samples give",
     .low = 1,
     .high = kMaxSamples},
    {.path = "job.data.validation_steps",
     .type = T::kCount,
     .doc = "largest number of global batches in an evaluation",
     .fallback = "all samples",
     .low = 1,
     .high = kMaxSamples},
    {.path = "job.optimizer", .type = T::kMap, .doc = "optimizer of the job"},
    {.path = "job.optimizer.name",
     .type = T::kChoice,
     .doc = "algorithm of the optimizer",
     .fallback = "the preset's",
     .listed = "sgd|adam"},
    {.path = "job.optimizer.lr",
     .type = T::kNumber,
     .doc = "learning rate",
     .fallback = "the preset's"},
    {.path = "job.optimizer.momentum",
     .type = T::kNumber,
     .doc = "sgd: momentum"},
    {.path = "job.optimizer.beta1",
     .type = T::kNumber,
     .doc = "adam: decay rate of the first moment"},
    {.path = "job.optimizer.beta2",
     .type = T::kNumber,
     .doc = "adam: decay rate of the second moment"},
    {.path = "job.optimizer.epsilon",
     .type = T::kNumber,
     .doc = "adam: constant in the denominator"},
    {.path = "job.optimizer.schedule",
     .type = T::kMap,
     .doc = "learning-rate schedule over the updates, which count from 0"},
    {.path = "job.optimizer.schedule.kind",
     .type = T::kChoice,
     .doc = "kind of the schedule after the warm-up",
     .fallback = "constant",
     .listed = "constant|exponential_decay|cosine_decay|piecewise"},
    {.path = "job.optimizer.schedule.warmup",
     .type = T::kCount,
     .doc = "number of updates in which the learning rate rises in equal parts "
            "to `lr`",
     .fallback = "0"},
    {.path = "job.optimizer.schedule.steps",
     .type = T::kCount,
     .doc = "exponential_decay, cosine_decay: number of updates of the decay",
     .fallback = "1",
     .low = 1},
    {.path = "job.optimizer.schedule.rate",
     .type = T::kNumber,
     .doc =
         "exponential_decay: factor on the learning rate after `steps` updates",
     .fallback = "1"},
    {.path = "job.optimizer.schedule.staircase",
     .type = T::kFlag,
     .doc = "exponential_decay: decay only at multiples of `steps`",
     .fallback = "false"},
    {.path = "job.optimizer.schedule.alpha",
     .type = T::kNumber,
     .doc = "cosine_decay: fraction of `lr` that remains at the end",
     .fallback = "0"},
    {.path = "job.optimizer.schedule.boundaries",
     .type = T::kCounts,
     .doc = "piecewise: last update of each learning rate except the last one"},
    {.path = "job.optimizer.schedule.values",
     .type = T::kNumbers,
     .doc = "piecewise: learning rates, one more than boundaries"},
    {.path = "job.optimizer.clip",
     .type = T::kMap,
     .doc = "gradient clipping, after the sum over all replicas"},
    {.path = "job.optimizer.clip.by",
     .type = T::kChoice,
     .doc = "quantity to clip: each element (value), the norm of each tensor "
            "(norm), or the norm of all tensors together (global_norm)",
     .fallback = "none",
     .listed = "none|value|norm|global_norm"},
    {.path = "job.optimizer.clip.limit",
     .type = T::kNumber,
     .doc = "limit of that quantity",
     .fallback = "1"},
    {.path = "job.epochs",
     .type = T::kCount,
     .doc = "number of epochs to train",
     .fallback = "3",
     .low = 1,
     .high = 1'000'000},
    {.path = "job.max_steps",
     .type = T::kCount,
     .doc =
         "number of steps after which training ends, if the epochs have more",
     .fallback = "none",
     .low = 1},
    {.path = "job.steps_per_execution",
     .type = T::kCount,
     .doc =
         "save and stop only after each so many steps, at the end of an epoch "
         "and at the end of the run; the results are bitwise identical",
     .fallback = "1",
     .low = 1,
     .high = 1'000'000},
    {.path = "job.stop_on_nan",
     .type = T::kFlag,
     .doc = "stop at the first infinite or NaN loss with exit code 9; that "
            "state is not saved",
     .fallback = "false"},
    {.path = "job.batch",
     .type = T::kCount,
     .doc = "samples of each replica in a step",
     .fallback = "the preset's",
     .low = 1,
     .high = kMaxBatch},
    {.path = "job.accumulate",
     .type = T::kCount,
     .doc = "gradient accumulation: number of steps whose gradients are "
            "averaged for one update",
     .fallback = "1",
     .low = 1,
     .high = kMaxAccumulate},
    {.path = "job.replicas",
     .type = T::kCount,
     .doc = "number of data-parallel parts of the global batch",
     .fallback = "the number of workers",
     .low = 1,
     .high = kMaxReplicas},
    {.path = "job.remainder",
     .type = T::kChoice,
     .doc = "last partial batch of an epoch: drop or keep it",
     .fallback = "drop",
     .listed = "drop|keep"},

    {.path = "warm_start",
     .type = T::kMap,
     .doc = "train and export a model of the same job first, without faults, "
            "and start this job from its weights"},
    {.path = "warm_start.workers",
     .type = T::kCount,
     .doc =
         "number of worker processes of the first run, with one replica each",
     .fallback = "1",
     .low = 1,
     .high = 64},
    {.path = "warm_start.epochs",
     .type = T::kCount,
     .doc = "number of epochs of the first run",
     .fallback = "1",
     .low = 1,
     .high = 1'000'000},
    {.path = "warm_start.steps_per_epoch",
     .type = T::kCount,
     .doc = "number of steps after which an epoch of the first run ends",
     .fallback = "as many as the samples give",
     .low = 1,
     .high = kMaxSamples},

    {.path = "launches",
     .type = T::kMaps,
     .doc = "changes to `job` in each start of the launcher. The next launch "
            "follows when one is done, has stopped or refuses a changed job. "
            "The last entry counts for all later launches",
     .fallback = "none: all launches are alike"},
    {.path = "launches.epochs",
     .type = T::kCount,
     .doc = "end this launch after so many epochs, fewer than `job` has",
     .low = 1,
     .high = 1'000'000},
    {.path = "launches.max_steps",
     .type = T::kCount,
     .doc = "end this launch after so many steps, fewer than `job` has",
     .low = 1},
    {.path = "launches.stop_at_step",
     .type = T::kCount,
     .doc = "save and stop after this step; a launch that is past it trains on",
     .low = 1},
    {.path = "launches.lr",
     .type = T::kNumber,
     .doc = "changed job, which must be refused: another learning rate"},
    {.path = "launches.batch",
     .type = T::kCount,
     .doc = "changed job, which must be refused: another number of samples of "
            "each replica in a step",
     .low = 1,
     .high = kMaxBatch},

    {.path = "cluster",
     .type = T::kMap,
     .doc = "workers of the job and the connections between them"},
    {.path = "cluster.workers",
     .type = T::kCount,
     .doc = "number of worker processes",
     .fallback = "2",
     .low = 1,
     .high = kMaxReplicas},
    {.path = "cluster.min_workers",
     .type = T::kCount,
     .doc = "fewest workers to scale down to if others keep failing",
     .fallback = "`workers`",
     .low = 1,
     .high = kMaxReplicas},
    {.path = "cluster.workers_per_attempt",
     .type = T::kCounts,
     .doc = "number of workers, one entry for each attempt (the time from the "
            "start of all workers until none runs) in order; a rejoin within "
            "an attempt uses up an entry, too; the last entry counts for all "
            "later attempts",
     .fallback = "`workers`",
     .low = 1,
     .high = kMaxReplicas},
    {.path = "cluster.device",
     .type = T::kChoice,
     .doc = "device of the workers: the CPU, a GPU (cuda, in real processes "
            "only), a GPU's kernels on the CPU (emulated), or a GPU if there "
            "is one and else the CPU (auto)",
     .fallback = "cpu",
     .listed = "cpu|cuda|emulated|auto"},
    {.path = "cluster.device_per_attempt",
     .type = T::kNames,
     .doc = "device of each attempt (the time from the start of all workers "
            "until none runs), in order; a rejoin within an attempt uses up an "
            "entry, too, for the workers that it restarts; the last entry "
            "counts for all later attempts",
     .fallback = "`device`",
     .listed = "cpu|cuda|emulated"},
    {.path = "cluster.collective",
     .type = T::kChoice,
     .doc = "gradient sum: over the network (ring), from GPU to GPU (nccl), or "
            "nccl if each worker has a GPU of its own and else ring (auto)",
     .fallback = "auto",
     .listed = "auto|ring|nccl"},
    {.path = "cluster.transport",
     .type = T::kChoice,
     .doc = "transport between the workers",
     .fallback = "auto",
     .listed = "auto|grpc"},
    {.path = "cluster.topology",
     .type = T::kChoice,
     .doc =
         "all workers on the launcher's host, or each worker on a host of its "
         "own with shared storage (simulated world only); a partition then "
         "cuts off the launcher too",
     .fallback = "one_host",
     .listed = "one_host|one_host_per_worker"},
    {.path = "cluster.link",
     .type = T::kMap,
     .doc = "links between two hosts; simulated world only"},
    {.path = "cluster.link.latency",
     .type = T::kDuration,
     .doc = "least time from sending to receiving",
     .fallback = "50us"},
    {.path = "cluster.link.jitter",
     .type = T::kDuration,
     .doc = "time that is added to it, drawn from 0 to this for each message",
     .fallback = "450us"},
    {.path = "cluster.link.bandwidth",
     .type = T::kSize,
     .doc = "bytes in a second, in each direction of a connection",
     .fallback = "1000000000B",
     .low = 1},
    {.path = "cluster.step_time",
     .type = T::kDuration,
     .doc = "time that a worker takes to compute a step, beside what it waits "
            "for others; simulated world only",
     .fallback = "0"},
    {.path = "cluster.heartbeat",
     .type = T::kMap,
     .doc = "heartbeats, which show that a worker runs"},
    {.path = "cluster.heartbeat.every",
     .type = T::kDuration,
     .doc = "time between two heartbeats",
     .fallback = "200ms",
     .low = kLeastTime},
    {.path = "cluster.heartbeat.lost_after",
     .type = T::kDuration,
     .doc = "time without a heartbeat after which a worker counts as lost",
     .fallback = "5s",
     .low = kLeastTime},
    {.path = "cluster.step_timeout",
     .type = T::kDuration,
     .doc = "time after which a step counts as hung, even if heartbeats arrive",
     .fallback = "30s",
     .low = kLeastTime},
    {.path = "cluster.save_timeout",
     .type = T::kDuration,
     .doc = "time after which a save counts as hung",
     .fallback = "300s",
     .low = kLeastTime},
    {.path = "cluster.start_timeout",
     .type = T::kDuration,
     .doc = "time for the chief to read its data and open its device, after "
            "which it counts as hung",
     .fallback = "10m",
     .low = kLeastTime},
    {.path = "cluster.restart",
     .type = T::kMap,
     .doc = "reaction of the launcher to a lost worker"},
    {.path = "cluster.restart.policy",
     .type = T::kChoice,
     .doc = "after a lost worker the run ends (none), all workers restart from "
            "a checkpoint (whole-job), or the worker restarts alone and takes "
            "the state of the others (rejoin)",
     .fallback = "whole-job",
     .listed = "none|whole-job|rejoin"},
    {.path = "cluster.restart.max",
     .type = T::kCount,
     .doc = "number of restarts after which the launcher gives up; it also "
            "gives up after 10 restarts in a row that reach no new step",
     .fallback = "3",
     .high = 1000},
    {.path = "cluster.restart.backoff",
     .type = T::kDuration,
     .doc = "pause before the first restart; later pauses are longer",
     .fallback = "100ms"},

    {.path = "preemption", .type = T::kMap, .doc = "preemption notices"},
    {.path = "preemption.grace",
     .type = T::kDuration,
     .doc = "time from a preemption notice to the kill; training continues "
            "while enough of it is left for a save. 0s: save and exit at once",
     .fallback = "0s"},
    {.path = "preemption.poll_every",
     .type = T::kDuration,
     .doc = "time between two polls for notices by file or http",
     .fallback = "1s",
     .low = kLeastTime},

    {.path = "preemption.requeue",
     .type = T::kCount,
     .doc = "number of times the job starts again, as in a queue: after a stop "
            "on a notice, after exit code 75, or after its launcher was killed",
     .fallback = "8",
     .high = 1000},

    {.path = "disk", .type = T::kMap, .doc = "disk that holds the checkpoints"},
    {.path = "disk.profile",
     .type = T::kChoice,
     .doc = "durability of the disk: ordered as ext4 does it, all that POSIX "
            "permits (weak), weak with fsyncs that take effect late "
            "(lying-fsync), or a file server with caches (shared); all but "
            "ext4 in the simulated world only",
     .fallback = "ext4",
     .listed = "ext4|weak|lying-fsync|shared"},
    {.path = "disk.capacity",
     .type = T::kSize,
     .doc = "capacity of the disk, such as 64MiB; simulated world only",
     .fallback = "unlimited"},

    {.path = "checkpoint", .type = T::kMap, .doc = "checkpoints of the job"},
    {.path = "checkpoint.directory",
     .type = T::kChoice,
     .doc = "place of the checkpoints: a folder of the run (own), or none, so "
            "that every restart begins at step 0",
     .fallback = "own",
     .listed = "own|none"},
    {.path = "checkpoint.every",
     .type = T::kEvery,
     .doc = "time between two saves: {steps: n}, {epochs: n}, {seconds: n} or "
            "never",
     .fallback = "{epochs: 1}",
     .low = 1},
    {.path = "checkpoint.mode",
     .type = T::kChoice,
     .doc = "training waits for each save (sync), or continues while a copy of "
            "the state is written (async), or while the state itself is "
            "written and updates go to a second set of its arrays (zero-copy)",
     .fallback = "sync",
     .listed = "sync|async|zero-copy"},
    {.path = "checkpoint.shards",
     .type = T::kCount,
     .doc = "number of workers that write a checkpoint, each a shard of it",
     .fallback = "all workers, as far as there are tensors",
     .low = 1,
     .high = kMaxReplicas},
    {.path = "checkpoint.keep",
     .type = T::kCount,
     .doc = "number of newest checkpoints to keep",
     .fallback = "5",
     .low = 1,
     .high = 1'000'000},
    {.path = "checkpoint.keep_every_hours",
     .type = T::kCount,
     .doc = "also keep one checkpoint each so many hours for good; 0: none",
     .fallback = "0",
     .high = kMaxKeepHours},
    {.path = "checkpoint.on_success",
     .type = T::kChoice,
     .doc =
         "after a successful run, save its final state and keep the "
         "checkpoints (keep), delete them (delete) or change nothing (leave)",
     .fallback = "keep",
     .listed = "keep|delete|leave"},
    {.path = "checkpoint.allow_cold_start",
     .type = T::kFlag,
     .doc = "start from step 0 if checkpoints exist and none can be loaded",
     .fallback = "false"},

    {.path = "outputs",
     .type = T::kMap,
     .doc = "files that the job writes besides its checkpoints"},
    {.path = "outputs.curves_every",
     .type = T::kCount,
     .doc = "number of steps between two points of the TensorBoard loss curve; "
            "0: no curves",
     .fallback = "0",
     .high = 1'000'000},
    {.path = "outputs.export",
     .type = T::kFlag,
     .doc = "export the trained model",
     .fallback = "false"},

    {.path = "faults", .type = T::kFaults, .doc = "faults to inject"},
    {.path = "faults.id",
     .doc = "name of the fault in `after`, events and reports",
     .fallback = "fault-1, fault-2, …"},
    {.path = "faults.do",
     .type = T::kChoice,
     .doc = "kind of the fault; required",
     .names = Names::kFaultKinds},
    {.path = "faults.at",
     .type = T::kMap,
     .doc = "place of the fault in logical time; required"},
    {.path = "faults.at.worker",
     .type = T::kWorker,
     .doc = "worker that the fault hits: its number, all, chief, or any (the "
            "first to reach the point)",
     .fallback = "any"},
    {.path = "faults.at.incarnation",
     .type = T::kCountOrAny,
     .doc = "incarnation of the worker (one run of its process, counted from "
            "1), or any",
     .fallback = "1; any, if the fault has `after`",
     .low = 1,
     .high = 1000},
    {.path = "faults.at.step",
     .type = T::kCount,
     .doc =
         "step that training has reached, counted from 1; in an asynchronous "
         "save, and at ckpt.state.*, ckpt.retire.* and ckpt.end, it may be "
         "later than that of the checkpoint, so give `save` there",
     .fallback = "any"},
    {.path = "faults.at.epoch",
     .type = T::kCount,
     .doc = "epoch, counted from 0; a save at its end belongs to it",
     .fallback = "any"},
    {.path = "faults.at.point",
     .type = T::kChoice,
     .doc = "fault point, a place in the engine",
     .fallback = "step.begin",
     .names = Names::kPoints},
    {.path = "faults.at.occurrence",
     .type = T::kCount,
     .doc = "N: the N-th time in an incarnation that everything else in `at` "
            "matches; at a point that ends in .write, the N-th file",
     .fallback = "1",
     .low = 1},
    {.path = "faults.at.save",
     .type = T::kCount,
     .doc =
         "save of the incarnation, counted from 1; a retried save counts again",
     .fallback = "any",
     .low = 1},
    {.path = "faults.at.block",
     .type = T::kCountOrAny,
     .doc =
         "at a point that ends in .write: block of the file before which the "
         "fault happens, counted from 0; any: each block is an occurrence",
     .fallback = "0",
     .high = 1'000'000},
    {.path = "faults.at.offset",
     .type = T::kOffset,
     .doc = "at a point that ends in .write, instead of `block`: offset in the "
            "file (bytes or a percentage) at which the write is hit"},
    {.path = "faults.after",
     .doc = "id of a fault that must fire before this one"},
    {.path = "faults.with",
     .type = T::kWith,
     .doc = "parameters of the fault kind, directly: {latency: 2s}"},
    {.path = "faults.until",
     .type = T::kMap,
     .doc = "end of a fault with `repeat: always`"},
    {.path = "faults.until.step",
     .type = T::kCount,
     .doc = "first step without the fault"},

    {.path = "trainer",
     .type = T::kMap,
     .doc = "training program of your own, which is crashed in place of a job; "
            "real world only"},
    {.path = "trainer.command",
     .type = T::kTexts,
     .doc = "program and arguments, with {out} for the directory that it "
            "writes to; required"},
    {.path = "trainer.resume",
     .type = T::kTexts,
     .doc = "program and arguments that resume",
     .fallback = "`command`"},
    {.path = "trainer.result",
     .type = T::kNames,
     .doc = "patterns of the files below {out} that are the result",
     .fallback = "all files"},
    {.path = "trainer.result_command",
     .doc = "shell command that prints the result, in place of files"},
    {.path = "trainer.checkpoint",
     .type = T::kNames,
     .doc = "patterns of the files below {out} that are checkpoints",
     .fallback = "those that a resumed run reads"},
    {.path = "trainer.step_regex",
     .doc = "regular expression with one group: the step in the output of a "
            "resumed run"},
    {.path = "trainer.network",
     .type = T::kChoice,
     .doc = "network of the program: a loopback of its own, or this machine's",
     .fallback = "private",
     .listed = "private|shared"},
    {.path = "trainer.grace",
     .type = T::kDuration,
     .doc = "sigterm: time until SIGKILL",
     .fallback = "5s",
     .low = kLeastTime},
    {.path = "trainer.pause",
     .type = T::kDuration,
     .doc = "pause: its length",
     .fallback = "1s",
     .low = kLeastTime},
    {.path = "trainer.trial_limit",
     .type = T::kDuration,
     .doc = "time after which a run hangs",
     .fallback = "ten times the recorded run's, at least 20s",
     .low = kLeastTime},
    {.path = "trainer.faults",
     .type = T::kMaps,
     .doc = "crashes to come back from; required"},
    {.path = "trainer.faults.do",
     .type = T::kChoice,
     .doc = "fault, as crash-test --faults names it; required",
     .listed = "kill|torn|power|enospc|eio|sigterm|pause|rank"},
    {.path = "trainer.faults.profile",
     .type = T::kChoice,
     .doc = "power: file system that loses what was not synced",
     .fallback = "both",
     .listed = "ext4|weak"},
    {.path = "trainer.faults.at",
     .type = T::kMap,
     .doc = "operation of the program on its files at which it happens; "
            "required"},
    {.path = "trainer.faults.at.file",
     .doc = "pattern of the path below {out}",
     .fallback = "'*'"},
    {.path = "trainer.faults.at.operation",
     .type = T::kChoice,
     .doc = "kind of the operation",
     .fallback = "any that changes or syncs a file",
     .listed = "create|write|truncate|allocate|punch_hole|zero_range|"
               "collapse_range|insert_range|rename|exchange|link|symlink|"
               "unlink|mkdir|rmdir|leave|chmod|set_times|sync|sync_data|"
               "sync_range|sync_directory|sync_file_system|map_shared"},
    {.path = "trainer.faults.at.occurrence",
     .type = T::kCount,
     .doc = "number of the operation among those that match",
     .fallback = "1",
     .low = 1},
    {.path = "trainer.faults.at.rank",
     .type = T::kCount,
     .doc = "rank that does it",
     .fallback = "any",
     .high = 1'000'000},

    {.path = "matrix",
     .type = T::kAxes,
     .doc = "dotted paths of keys, each with a list of values; each "
            "combination is one case"},

    {.path = "expect",
     .type = T::kMap,
     .doc = "expected result of the run; required"},
    {.path = "expect.outcome",
     .type = T::kChoice,
     .doc = "end of the run (gauntlet help NAME describes one); required",
     .listed = "completes|recovers|stops-cleanly|refuses|violates|fails|"
               "stops-on-nan|retry-later"},
    {.path = "expect.invariants",
     .type = T::kNames,
     .doc = "invariants to check; with `violates`, the invariants that must be "
            "broken",
     .fallback = "all",
     .names = Names::kInvariants},
    {.path = "expect.restarts",
     .type = T::kMap,
     .doc = "number of restarts by the launcher"},
    {.path = "expect.restarts.exactly",
     .type = T::kCount,
     .doc = "exact number",
     .high = 1'000'000},
    {.path = "expect.restarts.max", .type = T::kCount, .doc = "largest number"},
    {.path = "expect.resumed_from",
     .type = T::kMap,
     .doc = "first checkpoint from which workers resume"},
    {.path = "expect.resumed_from.step",
     .type = T::kCount,
     .doc = "step of that checkpoint"},
    {.path = "expect.recomputed_steps",
     .type = T::kMap,
     .doc = "number of steps that a restart recomputes; without a restart the "
            "case is inconclusive"},
    {.path = "expect.recomputed_steps.max",
     .type = T::kCount,
     .doc = "largest number"},
    {.path = "expect.detected_in",
     .type = T::kMap,
     .doc = "time from the loss of a worker to its detection; without a loss "
            "the case is inconclusive"},
    {.path = "expect.detected_in.max",
     .type = T::kDuration,
     .doc = "longest time"},
    {.path = "expect.failed_saves",
     .type = T::kMap,
     .doc = "number of saves that end with an error"},
    {.path = "expect.failed_saves.exactly",
     .type = T::kCount,
     .doc = "exact number"},
    {.path = "expect.ends_at",
     .type = T::kMap,
     .doc = "position of training at the end of the run"},
    {.path = "expect.ends_at.epoch",
     .type = T::kCount,
     .doc = "number of complete epochs",
     .high = 1'000'000},
    {.path = "expect.ends_at.step",
     .type = T::kCount,
     .doc = "number of steps; a recomputed step counts once"},
    {.path = "expect.saves",
     .type = T::kMap,
     .doc = "number of acknowledged saves"},
    {.path = "expect.saves.exactly", .type = T::kCount, .doc = "exact number"},
    {.path = "expect.checkpoints",
     .type = T::kCounts,
     .doc = "steps of the checkpoints that remain, oldest first; []: none"},
    {.path = "expect.epochs_after_restart",
     .type = T::kMap,
     .doc = "number of epochs that end after the first restart; without a "
            "restart the case is inconclusive"},
    {.path = "expect.epochs_after_restart.exactly",
     .type = T::kCount,
     .doc = "exact number"},
    {.path = "expect.loss",
     .type = T::kChoice,
     .doc = "loss of the last epoch, compared with the first",
     .fallback = "any",
     .listed = "any|falls"},
    {.path = "expect.accuracy",
     .type = T::kChoice,
     .doc = "accuracy of the last epoch, compared with the first",
     .fallback = "any",
     .listed = "any|rises"},
    {.path = "expect.exit_code",
     .type = T::kCount,
     .doc = "exit code of the launcher",
     .high = 255},
};

constexpr std::array kFeatures = {
    FeatureInfo{"power_loss", "data that was not synced can be lost"},
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

// Keeps the text of a generated row as long as the program runs.
std::string_view Stored(std::string text) {
  static std::deque<std::string> texts;
  return texts.emplace_back(std::move(text));
}

KeySpec RowOf(const LayerKindInfo& kind, const LayerField& field) {
  KeySpec row = {.path = Stored(fmt::format("job.layers.{}", field.name)),
                 .type = T::kNumber,
                 .doc = Stored(fmt::format("{}: {}", kind.name, field.doc))};
  if (field.count != nullptr) {
    row.type = T::kCount;
    row.low = 1;
    row.high = static_cast<uint64_t>(field.high);
  }
  return row;
}

// Completes the row job.layers.kind with the names of all kinds of layers, and
// adds a row for each of their fields.
void AddRowsOfLayers(std::vector<KeySpec>& rows) {
  const auto kind = std::ranges::find(rows, "job.layers.kind", &KeySpec::path);
  kind->listed =
      Stored(fmt::format("{}", fmt::join(NamesOf(AllLayerKinds()), "|")));
  std::vector<KeySpec> fields;
  for (const LayerKindInfo& info : AllLayerKinds()) {
    for (const LayerField& field : info.fields) {
      fields.push_back(RowOf(info, field));
    }
  }
  rows.insert(kind + 1, fields.begin(), fields.end());
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

// Adds the rows below "with": a map for each fault kind, with its parameters.
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
                      .doc = "cluster manager whose grace period to use: "
                             "slurm, k8s and gcp 30s, aws-spot 120s",
                      .listed = "slurm|k8s|aws-spot|gcp"});
    }
    rows.push_back({.path = Stored(fmt::format("{}.repeat", map)),
                    .type = T::kChoice,
                    .doc = "the fault happens once in the run, or at its "
                           "occurrence and each later one",
                    .fallback = "once; with `until` always",
                    .listed = "once|always"});
  }
}

}  // namespace

std::span<const KeySpec> AllKeys() {
  static const std::vector<KeySpec> kAll = [] {
    std::vector<KeySpec> all(std::begin(kKeys), std::end(kKeys));
    AddRowsOfLayers(all);
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
