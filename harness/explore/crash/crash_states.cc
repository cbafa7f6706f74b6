#include "harness/explore/crash/crash_states.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "engine/job/job.h"
#include "harness/explore/crash/crash_image_id.h"
#include "harness/explore/crash/crash_outcome.h"
#include "harness/explore/crash/crash_recovery.h"
#include "harness/explore/crash/crash_window.h"
#include "harness/explore/crash/image_files.h"
#include "harness/run/case_runner.h"
#include "harness/run/crash_notice.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr uint64_t kReportEvery = 128;  // recoveries
// Number of recoveries in one part's turn. It is small, so that each part has a
// turn within the first seconds.
constexpr uint64_t kTurn = 16;

// Result for a crash state from which a recovery was run before.
struct Seen {
  CrashOutcome outcome;
  bool failed = false;  // the outcome was not allowed at some cut
};

// One bit of a file of the image.
struct RotPlace {
  size_t file = 0;
  size_t bit = 0;
};

// A part in progress. `disk` has the effect of the operations before `next`;
// for kRot, of all operations before the window's end.
struct PartRun {
  PartRun(const CrashStatePart& part_of_it, const CrashWindowLog& its_window,
          const DiskOptions& options)
      : part(part_of_it),
        window(its_window),
        disk(WithLog(options, log)),
        replay(disk) {}
  PartRun(const PartRun&) = delete;
  PartRun& operator=(const PartRun&) = delete;

  static DiskOptions WithLog(DiskOptions options, DiskLog& log) {
    options.log = &log;
    return options;
  }
  bool done() const {
    return next ==
           (part.window == CrashWindow::kRot ? places.size() : window.end);
  }

  const CrashStatePart part;
  const CrashWindowLog& window;
  size_t counts = 0;  // index into CrashStateReport::counts
  DiskLog log;
  SimDisk disk;
  DiskReplay replay;
  FileOutcomesCache cache;
  size_t next = 0;  // index of the next operation; kRot: of the next place
  std::unordered_map<Digest, Seen, DigestHash> seen;
  std::vector<RotPlace> places;        // kRot
  std::optional<CrashImages> at_rest;  // kRot: image whose bits are flipped
  AllowedCrashOutcome allowed;         // kRot
};

std::vector<CrashStatePart> PartsOf(const CrashStateOptions& options) {
  std::vector<CrashStatePart> parts = options.parts;
  if (!parts.empty()) return parts;
  for (const CrashWindow window : options.windows) {
    if (window == CrashWindow::kRot) {
      parts.push_back({.window = window});
      continue;
    }
    for (const DurabilityProfile profile : options.profiles) {
      parts.push_back({.profile = profile, .window = window});
    }
  }
  return parts;
}

class Exploration {
 public:
  Exploration(const RunPlan& plan, const DataSplit& data,
              const Trajectory& trajectory, const CrashStateOptions& options)
      : plan_(plan),
        trajectory_(trajectory),
        options_(options),
        parts_(PartsOf(options)),
        recovery_({.directory = plan.train.checkpoint.directory,
                   .keep = plan.train.checkpoint.keep,
                   .cold_start = plan.train.checkpoint.allow_cold_start
                                     ? ColdStart::kAllow
                                     : ColdStart::kRefuse},
                  JobToJson(plan.train.job, data.content), plan.faults.bugs) {}

  // Restricts the search to this crash state.
  void Only(std::optional<ImageId> id) { only_ = std::move(id); }
  // Takes a turn of the next part. A part's first turn also prepares the part.
  Status NextTurn(const RunInputs& inputs);
  bool ended() const;
  const CrashStateReport& report() const { return report_; }
  CrashStateReport TakeReport();

 private:
  Status BeginNext(const RunInputs& inputs);
  Status Begin(const CrashStatePart& part, const CrashWindowLog& window);
  Status PrepareRot(PartRun& run);
  // Runs until the part is done, the search is stopped, or the turn is over.
  Status TakeTurn(PartRun& run);
  Status CutNext(PartRun& run);
  void RotNext(PartRun& run);
  CrashStateCounts& CountsOf(const PartRun& run) {
    return report_.counts[run.counts];
  }
  // Returns `allowed`. With --allow-cold-start, the result also allows a cold
  // start if `allowed` allows a refusal.
  AllowedCrashOutcome Allowed(AllowedCrashOutcome allowed) const;
  AllowedCrashOutcome AllowedAt(const PartRun& run, size_t operation) const;
  void CutAfter(PartRun& run, size_t operation, const CrashImages& images);
  CrashOutcome RecoverOnce(ImageDirectory& image);
  template <typename Build>
  CrashOutcome Recover(const std::string& id, const Build& build);
  bool Judge(PartRun& run, const CrashOutcome& outcome,
             const AllowedCrashOutcome& allowed);
  template <typename Build, typename Describe>
  void Report(const Build& build, const Describe& describe,
              const AllowedCrashOutcome& allowed);
  // Counts a recovery. Returns true iff the exploration continues.
  bool CountRecovery();
  // Sets stopped_ once options_.stop returns true. Returns stopped_.
  bool IsStopped();

  const RunPlan& plan_;
  const Trajectory& trajectory_;
  const CrashStateOptions& options_;
  const std::vector<CrashStatePart> parts_;
  CrashRecovery recovery_;
  CrashStateReport report_;
  std::optional<ImageId> only_;
  // Parts that have begun, in their order.
  std::vector<std::unique_ptr<PartRun>> runs_;
  size_t next_run_ = 0;  // part with the next turn, once all have begun
  // The log of a window is made when its first part begins.
  std::map<CrashWindow, Result<CrashWindowLog>> logs_;
  uint64_t recoveries_ = 0;
  bool stopped_ = false;
  ImageDirectory image_;
};

bool Exploration::CountRecovery() {
  ++recoveries_;
  if (options_.stop_after > 0 && report_.images_failed >= options_.stop_after) {
    stopped_ = true;
  } else if (options_.max_images > 0 && recoveries_ >= options_.max_images) {
    stopped_ = true;
  } else if (recoveries_ % kReportEvery == 0 && options_.on_progress) {
    stopped_ = options_.on_progress(report_) == Proceed::kStop || stopped_;
  }
  return !stopped_;
}

bool Exploration::IsStopped() {
  stopped_ = stopped_ || options_.stop();
  return stopped_;
}

CrashOutcome Exploration::RecoverOnce(ImageDirectory& image) {
  CrashOutcome outcome;
  outcome.had_checkpoint =
      CommittedCheckpoints(image, plan_.train.checkpoint.directory) > 0;
  const Recovered recovered = recovery_.Run(image);
  outcome.end = recovered.end;
  if (recovered.end == RecoveryEnd::kState) {
    outcome.index = trajectory_.IndexOf(recovered.state_digest, recovered.step);
    outcome.finite_index =
        trajectory_.IndexOf(recovered.finite_digest, recovered.finite_step);
  }
  return outcome;
}

// Makes the image with `build`, then runs a recovery on it. The recovery
// changes the image, so `build` is called again if the recovery is run twice.
template <typename Build>
CrashOutcome Exploration::Recover(const std::string& id, const Build& build) {
  const AtWork at(options_.name_of(id));
  build();
  const CrashOutcome outcome = RecoverOnce(image_);
  if (options_.twice_every == 0 || recoveries_ % options_.twice_every != 0) {
    return outcome;
  }
  ++report_.ran_twice;
  build();
  if (RecoverOnce(image_) != outcome) ++report_.nondeterministic;
  return outcome;
}

bool Exploration::Judge(PartRun& run, const CrashOutcome& outcome,
                        const AllowedCrashOutcome& allowed) {
  if (outcome.end == RecoveryEnd::kRefused && allowed.may_refuse) {
    ++CountsOf(run).refusals;
  }
  return IsAllowed(outcome, allowed);
}

AllowedCrashOutcome Exploration::Allowed(AllowedCrashOutcome allowed) const {
  if (allowed.may_refuse && plan_.train.checkpoint.allow_cold_start) {
    allowed.cold_start = ColdStartAllowed::kYes;
  }
  return allowed;
}

AllowedCrashOutcome Exploration::AllowedAt(const PartRun& run,
                                           size_t operation) const {
  if (run.part.profile == DurabilityProfile::kLyingFsync) {
    return Allowed({.may_refuse = true,
                    .cold_start = ColdStartAllowed::kWithoutCheckpoint});
  }
  const int newest = run.window.NewestBefore(operation);
  if (run.part.window == CrashWindow::kDeletion) {
    return {.at_least = newest,
            .cold_start = ColdStartAllowed::kWithoutCheckpoint};
  }
  return {.at_least = newest,
          .finite_at_least = run.window.NewestFiniteBefore(operation),
          .cold_start =
              newest == 0 ? ColdStartAllowed::kYes : ColdStartAllowed::kNo};
}

template <typename Build, typename Describe>
void Exploration::Report(const Build& build, const Describe& describe,
                         const AllowedCrashOutcome& allowed) {
  ++report_.images_failed;
  if (report_.findings.size() >= options_.max_findings) return;
  CrashStateFinding finding = describe();
  build();
  finding.expected = DescribeAllowed(allowed, trajectory_);
  finding.found = DescribeFound(recovery_.Run(image_), trajectory_);
  report_.findings.push_back(std::move(finding));
}

void Exploration::CutAfter(PartRun& run, size_t operation,
                           const CrashImages& images) {
  CrashStateCounts& counts = CountsOf(run);
  const AllowedCrashOutcome allowed = AllowedAt(run, operation);
  ++counts.points;
  counts.images_left_out += images.left_out();
  images.ForEach([&](const CrashImage& image) {
    // Checks at each image if the search must stop. To check between crash
    // points is not enough: one point may have many images, and they take time
    // even if all are known and none needs a recovery.
    if (IsStopped()) return false;
    const ImageId id = {.profile = counts.profile,
                        .window = counts.window,
                        .operation = operation,
                        .names = image.names,
                        .files = image.files};
    if (only_ && (only_->names != id.names || only_->files != id.files)) {
      return true;
    }
    if (!options_.shard.Takes(image.hash.high)) return true;
    ++counts.images_enumerated;
    const auto build = [&] { images.Build(image, image_); };
    const auto [known, is_new] = run.seen.try_emplace(image.hash);
    if (is_new) {
      ++counts.images_distinct;
      known->second.outcome = Recover(IdOf(id), build);
    }
    if (!Judge(run, known->second.outcome, allowed)) {
      ++report_.outcomes_failed;
      const auto describe = [&] {
        return CrashStateFinding{
            .id = IdOf(id),
            .event =
                fmt::format("power lost after {}",
                            DescribeMicroOp(run.log.operations[operation])),
            .survived = images.Describe(image, run.log),
            .expected = "",
            .found = ""};
      };
      if (!std::exchange(known->second.failed, true)) {
        Report(build, describe, allowed);
      }
    }
    return !is_new || CountRecovery();
  });
}

Status Exploration::Begin(const CrashStatePart& part,
                          const CrashWindowLog& window) {
  const bool rots = part.window == CrashWindow::kRot;
  DiskOptions disk = rots ? DiskOptions() : plan_.disk;
  if (!rots) disk.profile = part.profile;
  PartRun& run =
      *runs_.emplace_back(std::make_unique<PartRun>(part, window, disk));
  run.counts = report_.counts.size();
  report_.counts.push_back({.profile = part.profile, .window = part.window});
  return rots ? PrepareRot(run) : OkStatus();
}

Status Exploration::TakeTurn(PartRun& run) {
  const uint64_t until = recoveries_ + kTurn;
  while (!run.done() && recoveries_ < until && !IsStopped()) {
    if (run.part.window == CrashWindow::kRot) {
      RotNext(run);
    } else {
      RETURN_IF_ERROR(CutNext(run));
    }
  }
  return OkStatus();
}

Status Exploration::CutNext(PartRun& run) {
  const size_t i = run.next;
  RETURN_IF_ERROR(run.replay.Play(run.window.log.operations[i]));
  if (i >= run.window.begin && (!only_ || only_->operation == i)) {
    const bool lies = run.part.profile == DurabilityProfile::kLyingFsync;
    CutAfter(run, i,
             CrashImages(run.disk, lies ? options_.lying_bound : options_.bound,
                         run.cache));
  }
  if (!stopped_) ++run.next;
  return OkStatus();
}

// Flips the next bit of run.places in the disk's final state, without a power
// loss, and judges the recovery from it.
void Exploration::RotNext(PartRun& run) {
  const RotPlace place = run.places[run.next];
  const CrashImages& images = *run.at_rest;
  CrashStateCounts& counts = CountsOf(run);
  std::string path;
  const auto build = [&] {
    images.Build(images.Everything(), image_);
    const auto files = ListFiles(image_);
    const auto& [name, entry] = files[place.file];
    path = name;
    ImageFile rotten{.data = entry->file->data};
    char& byte = rotten.data[place.bit / 8];
    byte = static_cast<char>(byte ^ (1 << place.bit % 8));
    entry->file = std::make_shared<ImageFile>(std::move(rotten));
  };
  ++counts.points;
  ++counts.images_enumerated;
  ++counts.images_distinct;
  const std::string id = IdOf({.window = CrashWindow::kRot,
                               .operation = place.file,
                               .names = place.bit,
                               .files = {}});
  if (!Judge(run, Recover(id, build), run.allowed)) {
    ++report_.outcomes_failed;
    const auto describe = [&] {
      return CrashStateFinding{
          .id = id,
          .event = fmt::format("bit {} of byte {} of {} is flipped",
                               place.bit % 8, place.bit / 8, path),
          .survived = {},
          .expected = "",
          .found = ""};
    };
    Report(build, describe, run.allowed);
  }
  ++run.next;
  static_cast<void>(CountRecovery());
}

Status Exploration::PrepareRot(PartRun& run) {
  for (size_t i = 0; i < run.window.end; ++i) {
    RETURN_IF_ERROR(run.replay.Play(run.window.log.operations[i]));
  }
  run.at_rest.emplace(run.disk, options_.bound, run.cache);
  run.at_rest->Build(run.at_rest->Everything(), image_);
  const int checkpoints =
      CommittedCheckpoints(image_, plan_.train.checkpoint.directory);
  run.allowed =
      Allowed({.at_least = run.window.SecondNewestBefore(run.window.end),
               .may_refuse = checkpoints < 2});
  if (run.allowed.cold_start == ColdStartAllowed::kYes)
    run.allowed.may_refuse = false;
  const auto files = ListFiles(image_);
  uint64_t place = 0;
  for (size_t file = 0; file < files.size(); ++file) {
    for (const size_t bit : BitsOfRot(files[file].second->file->data.size())) {
      const bool wanted =
          !only_ || (only_->operation == file && only_->names == bit);
      if (wanted && options_.shard.Takes(place++)) {
        run.places.push_back({.file = file, .bit = bit});
      }
    }
  }
  return OkStatus();
}

// Returns the log for a window. kRot flips a bit on the disk that a save
// leaves, so it uses the log of kSave.
Result<CrashWindowLog> LogOf(CrashWindow window, const RunInputs& inputs,
                             uint64_t save) {
  switch (window) {
    case CrashWindow::kSave:
    case CrashWindow::kRot:
      return LogOfSave(inputs, save);
    case CrashWindow::kRecovery:
      return LogOfRecovery(inputs);
    case CrashWindow::kClaim:
      return LogOfRetriedClaim(inputs);
    case CrashWindow::kRejection:
      return LogOfRejection(inputs);
    case CrashWindow::kDeletion:
      return LogOfDeletion(inputs);
  }
  CheckFailed(__FILE__, __LINE__, "window", "no such crash window");
}

// Returns true iff the status says that the run was interrupted. The search
// then ends with its findings so far.
bool WasInterrupted(const RunInputs& inputs, const Status& status) {
  return status.code() == Code::kUnavailable && inputs.plan.interrupted &&
         inputs.plan.interrupted();
}

Status Exploration::BeginNext(const RunInputs& inputs) {
  const CrashStatePart& part = parts_[runs_.size()];
  const CrashWindow window =
      part.window == CrashWindow::kRot ? CrashWindow::kSave : part.window;
  auto found = logs_.find(window);
  if (found == logs_.end()) {
    found = logs_.emplace(window, LogOf(window, inputs, options_.save)).first;
  }
  const Result<CrashWindowLog>& log = found->second;
  stopped_ = WasInterrupted(inputs, log.status());
  if (stopped_) return OkStatus();
  RETURN_IF_ERROR(log.status());
  return Begin(part, *log);
}

Status Exploration::NextTurn(const RunInputs& inputs) {
  CHECK(!ended(), "a search that has ended takes no turn");
  if (runs_.size() < parts_.size()) {
    RETURN_IF_ERROR(BeginNext(inputs));
    return stopped_ ? OkStatus() : TakeTurn(*runs_.back());
  }
  while (runs_[next_run_]->done()) next_run_ = (next_run_ + 1) % runs_.size();
  PartRun& run = *runs_[next_run_];
  next_run_ = (next_run_ + 1) % runs_.size();
  return TakeTurn(run);
}

bool Exploration::ended() const {
  return stopped_ ||
         (runs_.size() == parts_.size() &&
          std::ranges::all_of(runs_, [](const auto& r) { return r->done(); }));
}

CrashStateReport Exploration::TakeReport() {
  for (size_t i = 0; i < parts_.size(); ++i) {
    const bool done = i < runs_.size() && runs_[i]->done();
    if (!done) report_.unfinished.push_back(parts_[i]);
  }
  return std::move(report_);
}

}  // namespace

struct CrashStateSearch::State {
  State(RunPlan its_plan, std::shared_ptr<const DataSplit> its_data,
        const GoldenTrajectory& golden, CrashStateOptions its_options)
      : plan(std::move(its_plan)),
        data(std::move(its_data)),
        trajectory(golden),
        options(std::move(its_options)),
        exploration(plan, *data, trajectory, options) {}

  RunInputs inputs() { return {pool, plan, *data, trajectory}; }

  const RunPlan plan;
  const std::shared_ptr<const DataSplit> data;
  const Trajectory trajectory;
  const CrashStateOptions options;
  FiberPool pool;
  Exploration exploration;
};

CrashStateSearch::CrashStateSearch(std::unique_ptr<State> state)
    : state_(std::move(state)) {}
CrashStateSearch::CrashStateSearch(CrashStateSearch&&) noexcept = default;
CrashStateSearch::~CrashStateSearch() = default;

Result<CrashStateSearch> CrashStateSearch::Make(
    const Case& base, References& references,
    const CrashStateOptions& options) {
  RunPlan plan = PlanOf(base);
  plan.faults.faults.clear();
  plan.interrupted = references.interrupted();
  ASSIGN_OR_RETURN(const auto golden, references.GoldenFor(plan));
  ASSIGN_OR_RETURN(auto data, references.DataOf(plan.train.job.data));
  CrashStateOptions chosen = options;
  std::optional<ImageId> only;
  if (!options.only.empty()) {
    only = ParseId(options.only);
    if (!only) {
      return InvalidArgument(fmt::format(
          "expected the id of a crash state, such as weak-save-17-3-0.2, found "
          "\"{}\"",
          options.only.substr(0, 80)));
    }
    chosen.profiles = {only->profile};
    chosen.windows = {only->window};
    chosen.parts.clear();
  }
  auto state = std::make_unique<State>(std::move(plan), std::move(data),
                                       *golden, std::move(chosen));
  state->exploration.Only(std::move(only));
  return CrashStateSearch(std::move(state));
}

Status CrashStateSearch::TakeTurn() {
  return state_->exploration.NextTurn(state_->inputs());
}

bool CrashStateSearch::ended() const { return state_->exploration.ended(); }

const CrashStateReport& CrashStateSearch::report() const {
  return state_->exploration.report();
}

CrashStateReport CrashStateSearch::TakeReport() {
  return state_->exploration.TakeReport();
}

Result<CrashStateReport> ExploreCrashStates(const Case& base,
                                            References& references,
                                            const CrashStateOptions& options) {
  ASSIGN_OR_RETURN(CrashStateSearch search,
                   CrashStateSearch::Make(base, references, options));
  while (!search.ended()) RETURN_IF_ERROR(search.TakeTurn());
  CrashStateReport report = search.TakeReport();
  const bool found = std::ranges::any_of(
      report.counts,
      [](const CrashStateCounts& c) { return c.images_enumerated > 0; });
  if (options.only.empty() || found) return report;
  return InvalidArgument("no crash state of this case has the id " +
                         options.only);
}

}  // namespace gauntlet
