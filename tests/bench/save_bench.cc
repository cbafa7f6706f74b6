#include "tests/bench/save_bench.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/data/dataset.h"
#include "engine/data/row_schedule.h"
#include "engine/real/real_world.h"
#include "engine/train/async_save.h"
#include "engine/train/job_model.h"
#include "engine/train/trainer.h"

namespace gauntlet {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr Duration kLong = std::chrono::minutes(10);
// How busy the disk is to be.
constexpr double kBusy = 0.8;

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
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

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = fs::temp_directory_path() / "gauntlet-bench-XXXXXX";
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  // Empty: there is none.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// The only worker of a run.
class SavingWorker {
 public:
  SavingWorker(World& world, const JobSpec& job, const DataSplit& data,
               const RowSchedule& schedule, JobModel& built,
               CheckpointStore& store, uint64_t generation)
      : state_(*built.model, *built.optimizer, job),
        kernels_(*built.kernels),
        ring_(world, built.for_host(), {.generation = generation}, nullptr,
              nullptr),
        trainer_(world, ring_,
                 {.job = job,
                  .data = data,
                  .schedule = schedule,
                  .optimizer = *built.optimizer,
                  .model = *built.model,
                  .kernels = *built.kernels}),
        save_(world, store, ring_, JobToJson(job, data.content), generation,
              kLong),
        beside_(world, save_, kLong) {}

  // As the training loop does it: a save that is under way goes on between two
  // steps. The epoch never ends.
  Status Step() {
    if (state_.position.phase_of() != Phase::kInEpoch) {
      state_.position.phase = static_cast<uint64_t>(Phase::kInEpoch);
      state_.position.sample = 0;
    }
    RETURN_IF_ERROR(trainer_.Step(state_, nullptr, kLong).status());
    if (!beside_.MayAdvance(beside_.Bits())) return OkStatus();
    const std::optional<SaveOutcome> outcome = beside_.Advance();
    if (!outcome) return OkStatus();
    took_ = std::chrono::duration<double>(outcome->took).count();
    return outcome->status;
  }
  Status Steps(int steps) {
    for (int i = 0; i < steps; ++i) RETURN_IF_ERROR(Step());
    return OkStatus();
  }
  Status BeginSave() { return beside_.Begin(state_, ""); }
  Result<int> StepsToTheEndOfTheSave() {
    int steps = 0;
    for (; beside_.is_under_way(); ++steps) RETURN_IF_ERROR(Step());
    return steps;
  }
  // Of the last save, from its begin to its end, in seconds.
  double took() const { return took_; }

  TrainState& state() { return state_; }
  Memory& memory() { return kernels_.memory(); }
  uint64_t copy_bytes() const { return beside_.copy_capacity(); }

 private:
  TrainState state_;
  const Kernels& kernels_;
  Ring ring_;
  Trainer trainer_;
  CollectiveSave save_;
  AsyncSave beside_;
  double took_ = 0.0;
};

Result<double> SecondsOfAStep(SavingWorker& worker, int steps) {
  const Clock::time_point begin = Clock::now();
  RETURN_IF_ERROR(worker.Steps(steps));
  return SecondsSince(begin) / steps;
}

// Bytes a second of the copy that a save fetches, while steps are made.
Result<double> RateBesideSteps(SavingWorker& worker) {
  StateCopy copy;
  const std::vector<TensorView> all = worker.state().TensorsOf({});
  double seconds = 0.0;
  for (int round = 0; round < 2; ++round) {  // the first one makes room
    RETURN_IF_ERROR(copy.Take(worker.state(), all));
    const Clock::time_point begin = Clock::now();
    std::atomic<bool> here = false;
    Status arrived;
    std::thread waiting([&] {
      arrived = copy.Arrive();
      seconds = SecondsSince(begin);
      here = true;
    });
    Status stepped;
    while (!here && stepped.ok()) stepped = worker.Step();
    waiting.join();
    RETURN_IF_ERROR(stepped);
    RETURN_IF_ERROR(arrived);
  }
  return static_cast<double>(copy.bytes()) / seconds;
}

Result<double> RateAlone(Memory& memory, size_t bytes) {
  MemoryArray<std::byte> there(memory);
  there.Resize(bytes);
  memory.Clear(there.span().data(), bytes);
  std::vector<std::byte> here(bytes);
  const Pinned pin(memory, std::span(here));
  double seconds = 0.0;
  for (int round = 0; round < 2; ++round) {
    memory.Fetch(here.data(), there.span().data(), 0);
    RETURN_IF_ERROR(memory.AwaitFetch());
    const Clock::time_point begin = Clock::now();
    memory.Fetch(here.data(), there.span().data(), bytes);
    RETURN_IF_ERROR(memory.AwaitFetch());
    seconds = SecondsSince(begin);
  }
  return static_cast<double>(bytes) / seconds;
}

Status BenchCopy(SavingWorker& worker) {
  ASSIGN_OR_RETURN(const double beside, RateBesideSteps(worker));
  ASSIGN_OR_RETURN(const double alone,
                   RateAlone(worker.memory(), worker.copy_bytes()));
  std::printf(
      "a save's copy to the host: %.1f GB/s beside the steps, pinned and alone "
      "%.1f GB/s, ratio %.3f\n",
      beside * 1e-9, alone * 1e-9, beside / alone);
  return OkStatus();
}

Status BenchOverhead(SavingWorker& worker, const SaveBenchSize& size) {
  RETURN_IF_ERROR(worker.Steps(3));
  ASSIGN_OR_RETURN(const double before, SecondsOfAStep(worker, size.steps));
  for (int round = 0; round < 2; ++round) {  // the first one makes room
    RETURN_IF_ERROR(worker.Step());
    RETURN_IF_ERROR(worker.BeginSave());
    RETURN_IF_ERROR(worker.StepsToTheEndOfTheSave().status());
  }
  const int every = static_cast<int>(std::ceil(worker.took() / kBusy / before));
  double busy = 0.0;
  int steps = 0;
  const Clock::time_point begin = Clock::now();
  for (int i = 0; i < size.saves; ++i) {
    RETURN_IF_ERROR(worker.BeginSave());
    RETURN_IF_ERROR(worker.Steps(every));
    // What takes longer than the others did.
    ASSIGN_OR_RETURN(const int more, worker.StepsToTheEndOfTheSave());
    steps += every + more;
    busy += worker.took();
  }
  const double seconds = SecondsSince(begin);
  ASSIGN_OR_RETURN(const double after, SecondsOfAStep(worker, size.steps));
  const double without = (before + after) / 2;
  const double with = seconds / steps;
  std::printf(
      "%.3f GB of state, saved each %.0f steps: %.3f ms a step, without saves "
      "%.3f ms (%.3f before, %.3f after), overhead %.2f %%, disk %.0f %% "
      "busy\n",
      static_cast<double>(worker.copy_bytes()) * 1e-9,
      static_cast<double>(steps) / size.saves, with * 1e3, without * 1e3,
      before * 1e3, after * 1e3, (with / without - 1) * 100,
      busy / seconds * 100);
  return OkStatus();
}

}  // namespace

Status BenchSaves(const gpu::DeviceApi& api, const SaveBenchSize& size) {
  const TemporaryFolder folder;
  if (folder.path().empty()) return IoError("no folder for temporary files");
  RealWorld parts;
  World world = parts.world();
  const JobSpec job = JobOf(size);
  ASSIGN_OR_RETURN(const auto data, LoadData(world.storage, job.data));
  ASSIGN_OR_RETURN(const RowSchedule schedule,
                   RowSchedule::Make(job, {.rows = data->train.rows}));
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
