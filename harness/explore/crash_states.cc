#include "harness/explore/crash_states.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "engine/ckpt/store_names.h"
#include "engine/job/job.h"
#include "harness/explore/crash_image_id.h"
#include "harness/explore/crash_recovery.h"
#include "harness/explore/crash_window.h"
#include "harness/run/case_runner.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr uint64_t kReportEvery = 1024;  // recoveries

struct HashOfDigest {
  size_t operator()(const Digest& digest) const { return digest.low; }
};

// What became of an image; the message is had by doing it again.
struct Outcome {
  RecoveryEnd end = RecoveryEnd::kFailed;
  int index = Trajectory::kNowhere;  // kState
  bool had_checkpoint = false;       // a committed one was on the disk
};

enum class MayBeginAnew : uint8_t { kNo, kWithoutCheckpoint, kYes };

// What is owed after a cut.
struct Owed {
  int at_least = 0;  // index in the trajectory
  bool may_refuse = false;
  MayBeginAnew cold_start = MayBeginAnew::kNo;
};

bool Holds(const Outcome& outcome, const Owed& owed) {
  switch (outcome.end) {
    case RecoveryEnd::kState:
      return outcome.index != Trajectory::kNowhere &&
             outcome.index >= owed.at_least;
    case RecoveryEnd::kColdStart:
      return owed.cold_start == MayBeginAnew::kYes ||
             (owed.cold_start == MayBeginAnew::kWithoutCheckpoint &&
              !outcome.had_checkpoint);
    case RecoveryEnd::kRefused:
      return owed.may_refuse;
    case RecoveryEnd::kFailed:
      return false;
  }
  return false;
}

ImageDirectory* DirectoryAt(ImageDirectory& root, std::string_view path) {
  ImageDirectory* here = &root;
  while (here != nullptr && !path.empty()) {
    const size_t slash = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, slash);
    path.remove_prefix(std::min(slash + 1, path.size()));
    if (part.empty()) continue;
    const auto entry =
        std::ranges::find(here->entries, part, &ImageEntry::name);
    here = entry == here->entries.end() ? nullptr : entry->directory.get();
  }
  return here;
}

int CommittedCheckpoints(ImageDirectory& root, std::string_view store) {
  ImageDirectory* const directory = DirectoryAt(root, store);
  if (directory == nullptr) return 0;
  return static_cast<int>(
      std::ranges::count_if(directory->entries, [](const ImageEntry& entry) {
        return entry.directory != nullptr && CheckpointName::Parse(entry.name);
      }));
}

class Exploration {
 public:
  Exploration(const RunPlan& plan, const DataSplit& data,
              const Trajectory& trajectory, const CrashStateOptions& options)
      : plan_(plan),
        trajectory_(trajectory),
        options_(options),
        recovery_({.directory = plan.train.checkpoint.directory,
                   .keep = plan.train.checkpoint.keep,
                   .cold_start = plan.train.checkpoint.allow_cold_start
                                     ? ColdStart::kAllow
                                     : ColdStart::kRefuse},
                  JobToJson(plan.train.job, data.content), plan.faults.bugs) {}

  // Looks at nothing else.
  void Only(std::optional<ImageId> id) { only_ = std::move(id); }
  // All windows under all profiles.
  Status Explore(const RunInputs& inputs);
  bool stopped() const { return !report_.complete; }
  CrashStateReport TakeReport() { return std::move(report_); }

 private:
  Status CutAll(const CrashWindowLog& window, CrashWindow kind);
  Status Cut(const CrashWindowLog& window, CrashWindow kind,
             DurabilityProfile profile);
  Status Rot(const CrashWindowLog& window);
  void RotAt(size_t file, size_t bit, const CrashImages& images,
             const Owed& owed);
  Owed OwedAt(const CrashWindowLog& window, DurabilityProfile profile,
              size_t operation) const;
  void CutAfter(const CrashWindowLog& window, size_t operation,
                const CrashImages& images, const DiskLog& log);
  Outcome Recover(ImageDirectory& image);
  bool Judge(const Outcome& outcome, const Owed& owed);
  void Report(CrashStateFinding finding, ImageDirectory& image,
              const Owed& owed);
  bool GoesOn();

  const RunPlan& plan_;
  const Trajectory& trajectory_;
  const CrashStateOptions& options_;
  CrashRecovery recovery_;
  CrashStateReport report_;
  std::optional<ImageId> only_;
  std::unordered_map<Digest, Outcome, HashOfDigest> seen_;
  uint64_t recoveries_ = 0;
  ImageDirectory image_;
};

bool Exploration::GoesOn() {
  if (++recoveries_ % kReportEvery != 0 || !options_.on_progress) return true;
  if (options_.on_progress(report_) == Proceed::kGoOn) return true;
  report_.complete = false;
  return false;
}

Outcome Exploration::Recover(ImageDirectory& image) {
  Outcome outcome;
  outcome.had_checkpoint =
      CommittedCheckpoints(image, plan_.train.checkpoint.directory) > 0;
  const Recovered recovered = recovery_.Run(image);
  outcome.end = recovered.end;
  if (recovered.end == RecoveryEnd::kState) {
    outcome.index = trajectory_.IndexOf(recovered.state_digest, recovered.step);
  }
  return outcome;
}

bool Exploration::Judge(const Outcome& outcome, const Owed& owed) {
  if (outcome.end == RecoveryEnd::kRefused && owed.may_refuse) {
    ++report_.counts.back().refusals;
  }
  return Holds(outcome, owed);
}

Owed Exploration::OwedAt(const CrashWindowLog& window,
                         DurabilityProfile profile, size_t operation) const {
  if (profile == DurabilityProfile::kLyingFsync) {
    return {.may_refuse = true, .cold_start = MayBeginAnew::kWithoutCheckpoint};
  }
  const int newest = window.NewestBefore(operation);
  return {.at_least = newest,
          .cold_start = newest == 0 ? MayBeginAnew::kYes : MayBeginAnew::kNo};
}

std::string DescribeOwed(const Owed& owed, const Trajectory& trajectory) {
  std::string text = owed.at_least > 0
                         ? "the state of " + trajectory.NameOf(owed.at_least) +
                               " or a later one"
                         : "a state of the reference run";
  if (owed.cold_start != MayBeginAnew::kNo) text += ", or a cold start";
  if (owed.may_refuse) text += ", or a refusal";
  return text;
}

std::string DescribeFound(const Recovered& found, const Outcome& outcome,
                          const Trajectory& trajectory) {
  switch (found.end) {
    case RecoveryEnd::kState:
      return outcome.index == Trajectory::kNowhere
                 ? fmt::format("{}: state {} is not the reference's at step {}",
                               found.detail, found.state_digest.ToString(),
                               found.step)
                 : fmt::format("{}: {}", found.detail,
                               trajectory.NameOf(outcome.index));
    case RecoveryEnd::kColdStart:
      return "a cold start";
    case RecoveryEnd::kRefused:
      return "a refusal: " + found.detail;
    case RecoveryEnd::kFailed:
      return "an error: " + found.detail;
  }
  return "";
}

// The image has been through no recovery yet.
void Exploration::Report(CrashStateFinding finding, ImageDirectory& image,
                         const Owed& owed) {
  ++report_.images_failed;
  if (report_.findings.size() >= options_.max_findings) return;
  const Recovered found = recovery_.Run(image);
  Outcome outcome{.end = found.end};
  if (found.end == RecoveryEnd::kState) {
    outcome.index = trajectory_.IndexOf(found.state_digest, found.step);
  }
  finding.expected = DescribeOwed(owed, trajectory_);
  finding.found = DescribeFound(found, outcome, trajectory_);
  report_.findings.push_back(std::move(finding));
}

void Exploration::CutAfter(const CrashWindowLog& window, size_t operation,
                           const CrashImages& images, const DiskLog& log) {
  CrashStateCounts& counts = report_.counts.back();
  const Owed owed = OwedAt(window, counts.profile, operation);
  ++counts.points;
  counts.images_left_out += images.left_out();
  images.ForEach([&](const CrashImage& image) {
    const ImageId id = {.profile = counts.profile,
                        .window = counts.window,
                        .operation = operation,
                        .names = image.names,
                        .files = image.files};
    if (only_ && (only_->names != id.names || only_->files != id.files)) {
      return true;
    }
    ++counts.images_enumerated;
    const auto [known, is_new] = seen_.try_emplace(image.hash);
    if (is_new) {
      ++counts.images_distinct;
      images.Build(image, image_);
      known->second = Recover(image_);
    }
    if (!Judge(known->second, owed)) {
      images.Build(image, image_);
      Report({.id = IdOf(id),
              .point = DescribeMicroOp(log.operations[operation]),
              .survived = images.Describe(image, log)},
             image_, owed);
    }
    return !is_new || GoesOn();
  });
}

Status Exploration::Cut(const CrashWindowLog& window, CrashWindow kind,
                        DurabilityProfile profile) {
  report_.counts.push_back({.profile = profile, .window = kind});
  seen_.clear();
  DiskLog log;
  DiskOptions disk_options = plan_.disk;
  disk_options.profile = profile;
  disk_options.log = &log;
  SimDisk disk(disk_options);
  DiskReplay replay(disk);
  FileOutcomesCache cache;
  for (size_t i = 0; i < window.end && !stopped(); ++i) {
    RETURN_IF_ERROR(replay.Play(window.log.operations[i]));
    if (i < window.begin || (only_ && only_->operation != i)) continue;
    CutAfter(window, i, CrashImages(disk, options_.bound, cache), log);
  }
  return OkStatus();
}

// Every file of the image, in the order of their paths.
void ListFiles(ImageDirectory& directory, const std::string& path,
               std::vector<std::pair<std::string, ImageEntry*>>& files) {
  for (ImageEntry& entry : directory.entries) {
    const std::string here = path + "/" + entry.name;
    if (entry.directory != nullptr) {
      ListFiles(*entry.directory, here, files);
    } else {
      files.emplace_back(here, &entry);
    }
  }
}

std::vector<std::pair<std::string, ImageEntry*>> ListFiles(
    ImageDirectory& root) {
  std::vector<std::pair<std::string, ImageEntry*>> files;
  ListFiles(root, "", files);
  return files;
}

// All bits of the first, middle and last byte of each block, by number.
std::vector<size_t> BitsOfRot(size_t bytes) {
  std::vector<size_t> bits;
  for (size_t begin = 0; begin < bytes; begin += SimDisk::kBlockBytes) {
    const size_t size = std::min<size_t>(SimDisk::kBlockBytes, bytes - begin);
    for (const size_t place : {size_t{0}, size / 2, size - 1}) {
      const size_t first = (begin + place) * 8;
      if (!bits.empty() && bits.back() >= first) continue;
      for (size_t bit = 0; bit < 8; ++bit) bits.push_back(first + bit);
    }
  }
  return bits;
}

// The whole image, but for one bit.
void Exploration::RotAt(size_t file, size_t bit, const CrashImages& images,
                        const Owed& owed) {
  CrashStateCounts& counts = report_.counts.back();
  std::string path;
  const auto make = [&] {
    images.Build(images.Everything(), image_);
    const auto files = ListFiles(image_);
    const auto& [name, entry] = files[file];
    path = name;
    ImageFile rotten{.data = entry->file->data};
    char& byte = rotten.data[bit / 8];
    byte = static_cast<char>(byte ^ (1 << bit % 8));
    entry->file = std::make_shared<ImageFile>(std::move(rotten));
  };
  make();
  ++counts.points;
  ++counts.images_enumerated;
  ++counts.images_distinct;
  if (Judge(Recover(image_), owed)) return;
  make();
  Report(
      {.id =
           IdOf({.window = CrashWindow::kRot, .operation = file, .names = bit}),
       .point = fmt::format("bit {} of byte {} of {}", bit % 8, bit / 8, path)},
      image_, owed);
}

Status Exploration::Rot(const CrashWindowLog& window) {
  report_.counts.push_back({.window = CrashWindow::kRot});
  SimDisk disk({});
  DiskReplay replay(disk);
  for (size_t i = 0; i < window.end; ++i) {
    RETURN_IF_ERROR(replay.Play(window.log.operations[i]));
  }
  FileOutcomesCache cache;
  const CrashImages images(disk, options_.bound, cache);
  images.Build(images.Everything(), image_);
  const int checkpoints =
      CommittedCheckpoints(image_, plan_.train.checkpoint.directory);
  const Owed owed = {.at_least = window.SecondNewestBefore(window.end),
                     .may_refuse = checkpoints < 2};
  std::vector<size_t> sizes;
  for (const auto& [path, entry] : ListFiles(image_)) {
    sizes.push_back(entry->file->data.size());
  }
  for (size_t file = 0; file < sizes.size(); ++file) {
    for (const size_t bit : BitsOfRot(sizes[file])) {
      if (only_ && (only_->operation != file || only_->names != bit)) {
        continue;
      }
      RotAt(file, bit, images, owed);
      if (!GoesOn()) return OkStatus();
    }
  }
  return OkStatus();
}

Status Exploration::CutAll(const CrashWindowLog& window, CrashWindow kind) {
  for (const DurabilityProfile profile : options_.profiles) {
    if (!stopped()) RETURN_IF_ERROR(Cut(window, kind, profile));
  }
  return OkStatus();
}

Status Exploration::Explore(const RunInputs& inputs) {
  std::optional<CrashWindowLog> save;
  for (const CrashWindow window : options_.windows) {
    if (stopped()) break;
    if (window == CrashWindow::kRecovery) {
      ASSIGN_OR_RETURN(const CrashWindowLog recovery, LogOfRecovery(inputs));
      RETURN_IF_ERROR(CutAll(recovery, window));
      continue;
    }
    if (!save) {
      ASSIGN_OR_RETURN(save, LogOfSave(inputs, options_.save));
    }
    RETURN_IF_ERROR(window == CrashWindow::kRot ? Rot(*save)
                                                : CutAll(*save, window));
  }
  return OkStatus();
}

}  // namespace

Result<CrashStateReport> ExploreCrashStates(const Case& base,
                                            References& references,
                                            const CrashStateOptions& options) {
  RunPlan plan = PlanOf(base);
  plan.faults.faults.clear();
  ASSIGN_OR_RETURN(const auto golden, references.GoldenFor(plan));
  ASSIGN_OR_RETURN(const auto data, references.DataOf(plan.train.job.data));
  const Trajectory trajectory(*golden);
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
  }
  FiberPool pool;
  Exploration exploration(plan, *data, trajectory, chosen);
  exploration.Only(only);
  RETURN_IF_ERROR(exploration.Explore({pool, plan, *data, trajectory}));
  CrashStateReport report = exploration.TakeReport();
  const bool found = std::ranges::any_of(
      report.counts,
      [](const CrashStateCounts& c) { return c.images_enumerated > 0; });
  if (!only || found) return report;
  return InvalidArgument("no crash state of this case has the id " +
                         options.only);
}

}  // namespace gauntlet
