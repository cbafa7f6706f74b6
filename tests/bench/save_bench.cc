#include "tests/bench/save_bench.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/ckpt/state/state_digest.h"
#include "engine/data/dataset.h"
#include "engine/data/sample_schedule.h"
#include "engine/real/real_world.h"
#include "engine/train/loop/job_model.h"
#include "engine/train/save/async_save.h"
#include "tests/bench/only_worker.h"
#include "tests/engine/real/scratch_directory.h"

namespace gauntlet {
namespace {

using Stopwatch = std::chrono::steady_clock;

constexpr Duration kLong = std::chrono::minutes(10);
// Share of the time in which a save is in progress: close to the worst case for
// the disk and the copy link.
constexpr double kBusy = 0.8;

double SecondsSince(Stopwatch::time_point begin) {
  return std::chrono::duration<double>(Stopwatch::now() - begin).count();
}

JobSpec JobOf(const SaveBenchSize& size) {
  JobSpec job = PresetJob("mlp").value();
  job.replicas = 1;
  job.data = {.samples = 4096, .validation_samples = 128};
  job.model.layers = {{.kind = LayerKind::kFlatten},
                      {.kind = LayerKind::kDense, .units = size.units},
                      {.kind = LayerKind::kRelu},
                      {.kind = LayerKind::kDense, .units = size.units},
                      {.kind = LayerKind::kRelu},
                      {.kind = LayerKind::kDense, .units = 10}};
  return job;
}

// The only worker of a run, with asynchronous saves.
class SavingWorker {
 public:
  SavingWorker(World& world, const JobSpec& job, const DataSplit& data,
               const SampleSchedule& schedule, JobModel& built,
               CheckpointStore& store, uint64_t generation)
      : kernels_(*built.kernels),
        worker_(
            world,
            {.job = job, .data = data, .schedule = schedule, .built = built},
            generation),
        save_(world, store, worker_.ring(), JobToJson(job, data.content),
              generation, kLong),
        async_save_(world, save_, kLong, copy_) {}
  // Waits for a save that may still be in progress after an error.
  ~SavingWorker() { async_save_.JoinTask(); }
  SavingWorker(const SavingWorker&) = delete;
  SavingWorker& operator=(const SavingWorker&) = delete;

  // Trains one step like the training loop: a save in progress advances between
  // two steps.
  Status Step() {
    RETURN_IF_ERROR(worker_.Step().status());
    if (!async_save_.MayAdvance(async_save_.Bits())) return OkStatus();
    const std::optional<SaveOutcome> outcome = async_save_.Advance();
    if (!outcome) return OkStatus();
    took_ = std::chrono::duration<double>(outcome->took).count();
    return outcome->status;
  }
  Status Steps(int steps) {
    for (int i = 0; i < steps; ++i) RETURN_IF_ERROR(Step());
    return OkStatus();
  }
  Status BeginSave() { return async_save_.Begin(resident(), ""); }
  Result<int> StepsToTheEndOfTheSave() {
    int steps = 0;
    for (; async_save_.is_in_flight(); ++steps) RETURN_IF_ERROR(Step());
    return steps;
  }
  // Duration of the last save, in seconds.
  double took() const { return took_; }

  TrainState& state() { return worker_.state(); }
  ResidentState& resident() { return worker_.resident(); }
  Memory& memory() { return kernels_.memory(); }
  uint64_t copy_bytes() const { return async_save_.copy_capacity(); }

 private:
  const Kernels& kernels_;
  OnlyWorker worker_;
  CollectiveSave save_;
  StateCopy copy_;
  AsyncSave async_save_;
  double took_ = 0.0;
};

double MedianOf(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// Cost of a save's copy: the time for which the copy blocks training, and its
// rate to the host while steps run.
struct CopyRates {
  double held_seconds = 0.0;
  double bytes_a_second = 0.0;
};
Result<CopyRates> RatesDuringSteps(SavingWorker& worker, int rounds) {
  StateCopy copy;
  std::vector<double> held;
  std::vector<double> took;
  for (int round = 0; round <= rounds; ++round) {
    ASSIGN_OR_RETURN(const Digest then, worker.resident().NewestDigest());
    const std::vector<TensorView> all = worker.state().TensorsOf({});
    const Stopwatch::time_point begin = Stopwatch::now();
    RETURN_IF_ERROR(copy.Take(worker.resident(), all));
    held.push_back(SecondsSince(begin));
    std::atomic<bool> is_here = false;
    Status arrived;
    std::thread waiting([&] {
      arrived = copy.AwaitArrival();
      took.push_back(SecondsSince(begin));
      is_here = true;
    });
    Status stepped;
    while (!is_here && stepped.ok()) stepped = worker.Step();
    waiting.join();
    RETURN_IF_ERROR(stepped);
    RETURN_IF_ERROR(arrived);
    if (StateDigest(copy.tensors()) != then) {
      return DataLoss("the copy is not the state that was to be copied");
    }
    // Drops the first round, which allocates the buffers.
    if (round == 0) held.clear(), took.clear();
  }
  return CopyRates{
      .held_seconds = MedianOf(held),
      .bytes_a_second = static_cast<double>(copy.bytes()) / MedianOf(took)};
}

// Returns the bytes per second of a plain copy into pinned memory.
double RateAlone(Memory& memory, size_t bytes, int rounds) {
  MemoryArray<std::byte> there(memory);
  there.Resize(bytes);
  memory.Clear(there.span().data(), bytes);
  std::vector<std::byte> here(bytes);
  const Pinned pin(memory, std::span(here));
  std::vector<double> took;
  for (int round = 0; round <= rounds; ++round) {
    const Stopwatch::time_point begin = Stopwatch::now();
    memory.Download(here.data(), there.span().data(), bytes);
    if (round > 0) took.push_back(SecondsSince(begin));
  }
  return static_cast<double>(bytes) / MedianOf(took);
}

Status BenchCopy(SavingWorker& worker) {
  constexpr int kRounds = 5;
  ASSIGN_OR_RETURN(const CopyRates during_steps,
                   RatesDuringSteps(worker, kRounds));
  const double alone = RateAlone(worker.memory(), worker.copy_bytes(), kRounds);
  std::printf(
      "a save's copy to the host: training held for %.3f ms; %.1f GB/s beside "
      "the steps, one pinned move alone %.1f GB/s, ratio %.3f (medians of "
      "%d)\n",
      during_steps.held_seconds * 1e3, during_steps.bytes_a_second * 1e-9,
      alone * 1e-9, during_steps.bytes_a_second / alone, kRounds);
  return OkStatus();
}

// Returns the seconds per step without saves.
Result<double> StepsWithout(SavingWorker& worker, int steps) {
  const Stopwatch::time_point begin = Stopwatch::now();
  RETURN_IF_ERROR(worker.Steps(steps));
  return SecondsSince(begin) / steps;
}

struct StepsWithASave {
  double seconds_a_step = 0.0;
  double under_way = 0.0;  // share of the time with a save in progress
  int steps = 0;
};
Result<StepsWithASave> StepsWith(SavingWorker& worker, int every) {
  const Stopwatch::time_point begin = Stopwatch::now();
  RETURN_IF_ERROR(worker.BeginSave());
  RETURN_IF_ERROR(worker.Steps(every));
  // Takes further steps if this save takes longer than earlier ones.
  ASSIGN_OR_RETURN(const int more, worker.StepsToTheEndOfTheSave());
  const double seconds = SecondsSince(begin);
  const int steps = every + more;
  return StepsWithASave{.seconds_a_step = seconds / steps,
                        .under_way = worker.took() / seconds,
                        .steps = steps};
}

// Measures steps with a save and without one, alternating.
Status BenchOverhead(SavingWorker& worker, const SaveBenchSize& size) {
  RETURN_IF_ERROR(worker.Steps(size.warm_up));
  for (int round = 0; round < 2; ++round) {
    RETURN_IF_ERROR(worker.BeginSave());
    RETURN_IF_ERROR(worker.StepsToTheEndOfTheSave().status());
    RETURN_IF_ERROR(worker.Steps(size.warm_up));
  }
  ASSIGN_OR_RETURN(const double step, StepsWithout(worker, size.warm_up));
  const int every = static_cast<int>(std::ceil(worker.took() / kBusy / step));
  std::vector<double> without, with, under_way;
  int steps = 0;
  for (int i = 0; i < size.saves; ++i) {
    ASSIGN_OR_RETURN(without.emplace_back(), StepsWithout(worker, every));
    ASSIGN_OR_RETURN(const StepsWithASave save, StepsWith(worker, every));
    with.push_back(save.seconds_a_step);
    under_way.push_back(save.under_way);
    steps += save.steps;
  }
  const auto [least, most] = std::ranges::minmax(without);
  std::printf(
      "%.3g GB of state, saved each %.0f steps: %.3f ms a step, without saves "
      "%.3f ms (%.3f to %.3f), overhead %.2f %%; a save in flight %.0f %% of "
      "the time (medians of %d, the first saves left out: they make room)\n",
      static_cast<double>(worker.copy_bytes()) * 1e-9,
      static_cast<double>(steps) / size.saves, MedianOf(with) * 1e3,
      MedianOf(without) * 1e3, least * 1e3, most * 1e3,
      (MedianOf(with) / MedianOf(without) - 1) * 100, MedianOf(under_way) * 100,
      size.saves);
  return OkStatus();
}

}  // namespace

Status BenchSaves(const gpu::DeviceApi& api, const SaveBenchSize& size) {
  const ScratchDirectory folder;
  RealWorld parts;
  World world = parts.world();
  const JobSpec job = JobOf(size);
  ASSIGN_OR_RETURN(const auto data, LoadData(world.storage, job.data));
  ASSIGN_OR_RETURN(const SampleSchedule schedule,
                   SampleSchedule::Make(job, {.samples = data->train.samples}));
  ASSIGN_OR_RETURN(JobModel built,
                   BuildJobModel(job, data->train.shape(), 10,
                                 {.device = DeviceKind::kCuda}, {.api = &api}));
  ASSIGN_OR_RETURN(
      CheckpointStore store,
      CheckpointStore::Open(world, {.directory = folder.path(), .keep = 2}));
  ASSIGN_OR_RETURN(const auto claim,
                   store.ClaimGeneration(JobToJson(job, data->content)));
  SavingWorker worker(world, job, *data, schedule, built, store,
                      claim.generation);
  RETURN_IF_ERROR(BenchOverhead(worker, size));
  RETURN_IF_ERROR(BenchCopy(worker));
  return built.kernels->status();
}

}  // namespace gauntlet
