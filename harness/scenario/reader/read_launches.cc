#include "harness/scenario/reader/read_launches.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "harness/scenario/save_schedule.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr size_t kMostLaunches = 16;

// A launch, and the map in the file from which it was read.
struct PlacedLaunch {
  const MapReader& map;
  const LaunchSetup& setup;
};

void CheckBelow(const PlacedLaunch& launch, std::string_view key,
                std::optional<uint64_t> found, std::optional<uint64_t> most) {
  if (!found || !most || *found < *most) return;
  launch.map.Error(launch.map.PlaceOf(key),
                   fmt::format("expected less than the job has ({}), found {}",
                               *most, *found));
}

void CheckHorizon(const PlacedLaunch& launch, const Case& one) {
  const std::optional<uint64_t> steps = TotalSteps(one);
  CheckBelow(launch, "epochs", launch.setup.epochs, one.train.horizon.epochs);
  CheckBelow(launch, "max_steps", launch.setup.max_steps, steps);
  CheckBelow(launch, "stop_at_step", launch.setup.stop_at_step, steps);
}

// Refuses a launch with a changed job unless there will be checkpoints of the
// case's job. Without them, the engine would have no reason to refuse the
// launch, and would train the changed job.
void CheckJob(const PlacedLaunch& launch, const Case& one) {
  const LaunchSetup& setup = launch.setup;
  const std::string_view key = setup.batch ? "batch" : "lr";
  const JobSpec& job = one.train.job;
  const auto refuse = [&](std::string message) {
    launch.map.Error(launch.map.PlaceOf(key), std::move(message));
  };
  if (setup.batch == job.batch ||
      setup.learning_rate == job.optimizer.learning_rate) {
    refuse("expected another value than the job's own");
  } else if (one.launches.empty()) {
    refuse(
        "expected the job itself in the first launch: no checkpoint is there "
        "yet that could refuse another one");
  } else if (one.store == StoreChoice::kNone) {
    refuse(
        "a changed job needs a checkpoint to be refused: expected "
        "checkpoint.directory own");
  } else if (one.train.checkpoint.at_success != AtSuccess::kSaveFinalState) {
    refuse(
        "a changed job needs a checkpoint to be refused: expected "
        "checkpoint.on_success keep");
  } else if (one.train.checkpoint.allow_cold_start) {
    refuse(
        "a changed job is not refused with checkpoint.allow_cold_start true");
  } else if (setup.shortens() || setup.stop_at_step) {
    refuse(
        "a launch with a changed job trains nothing: expected lr and batch "
        "alone");
  }
}

// Returns the number of steps of the launch; nullopt if it depends on data that
// are not read yet.
std::optional<uint64_t> StepsOf(const LaunchSetup& launch, const Case& one) {
  Case launched = one;
  launched.train = OptionsOfLaunch(one.train, launch);
  return TotalSteps(launched);
}

// Reports an error if the launch trains for fewer steps than an earlier one.
void CheckStepOrder(const PlacedLaunch& launch, const Case& one) {
  const std::optional<uint64_t> steps = StepsOf(launch.setup, one);
  for (const LaunchSetup& before : one.launches) {
    const std::optional<uint64_t> least = StepsOf(before, one);
    if (before.changes_job() || !steps || !least || *steps >= *least) continue;
    launch.map.Error(
        launch.map.PlaceOf(launch.setup.epochs ? "epochs" : "max_steps"),
        fmt::format(
            "expected at least {} steps, as an earlier launch has (without "
            "its stop_at_step), found {}",
            *least, *steps),
        "each launch trains on from the one before");
    return;
  }
}

}  // namespace

void ReadLaunches(const MapReader& document, Case& one) {
  if (document.Find("launches") == nullptr) return;
  const std::vector<MapReader> maps = document.Maps("launches", kMostLaunches);
  const YamlNode& list = *document.Find("launches");
  if (list.kind == YamlKind::kList && list.items.empty()) {
    document.Error(list.place, "expected at least one launch");
  }
  if (one.before) {
    document.Error(document.PlaceOf("launches"),
                   "launches cannot be combined with warm_start");
  }
  // True if the last launch with the case's job trains to the job's horizon.
  bool ends = false;
  for (const MapReader& map : maps) {
    LaunchSetup setup;
    map.Count("epochs", setup.epochs);
    map.Count("max_steps", setup.max_steps);
    map.Count("stop_at_step", setup.stop_at_step);
    float rate = 0;
    if (map.Number("lr", rate)) setup.learning_rate = rate;
    int batch = 0;
    if (map.Count("batch", batch)) setup.batch = batch;
    const PlacedLaunch launch = {.map = map, .setup = setup};
    CheckHorizon(launch, one);
    if (setup.changes_job()) {
      CheckJob(launch, one);
    } else {
      CheckStepOrder(launch, one);
      ends = !setup.shortens();
    }
    one.launches.push_back(setup);
  }
  if (ends || maps.empty()) return;
  document.Error(document.PlaceOf("launches"),
                 "expected the last launch of the job to train all of it: "
                 "without epochs and max_steps",
                 "launches: [{epochs: 1}, {}]");
}

TrainOptions OptionsOfLaunch(const TrainOptions& train,
                             const LaunchSetup& launch) {
  TrainOptions options = train;
  Horizon& horizon = options.horizon;
  horizon.epochs = launch.epochs.value_or(horizon.epochs);
  if (launch.max_steps) horizon.max_steps = launch.max_steps;
  horizon.stop_at_step = launch.stop_at_step;
  JobSpec& job = options.job;
  job.optimizer.learning_rate =
      launch.learning_rate.value_or(job.optimizer.learning_rate);
  job.batch = launch.batch.value_or(job.batch);
  return options;
}

}  // namespace gauntlet
