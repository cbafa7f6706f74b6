#include "engine/ckpt/protocol/parent_choice.h"

#include <algorithm>
#include <utility>

#include "engine/ckpt/io/checkpoint_reader.h"
#include "engine/job/job.h"
#include "engine/numerics.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {

namespace {

bool IsInStore(const StoreScan& scan, const std::string& checkpoint) {
  return std::ranges::find(scan.checkpoints, checkpoint,
                           &ScannedCheckpoint::name) != scan.checkpoints.end();
}

// Returns the newest generation that resumed from the checkpoint `name`; 0 if
// none did. (In an earlier version of the engine, that generation then renamed
// the checkpoint to its own suffix.)
uint64_t NewestResumerOf(const StoreScan& scan, const std::string& name) {
  const auto taken = std::find_if(
      scan.parents.rbegin(), scan.parents.rend(), [&](const auto& entry) {
        return entry.second && entry.second->name == name;
      });
  return taken == scan.parents.rend() ? 0 : taken->first;
}

// Returns true iff an earlier version of the engine has applied the edit, but
// stopped before it rewrote the state file. Such a version renamed the
// checkpoint to the suffix of the new generation. If it stopped there, the
// state file lists no checkpoint of that generation or a later one.
bool IsEditApplied(const StoreScan& scan, const std::string& latest) {
  const uint64_t resumed_by = NewestResumerOf(scan, latest);
  const auto later = [&](const std::string& name) {
    const auto parsed = CheckpointName::Parse(name);
    return parsed && parsed->generation >= resumed_by;
  };
  return resumed_by > 0 && !IsInStore(scan, latest) &&
         std::ranges::none_of(scan.state_file.all, later);
}

}  // namespace

std::string IgnoredStateFile(const StoreScan& scan) {
  const StateFile& file = scan.state_file;
  if (file.edit && file.edit->may_be_truncated &&
      IsInStore(scan, file.edit->latest)) {
    return fmt::format(
        "{}: line {}: no checksum line: read as an edit to {} (used if it is "
        "valid)",
        kStateFileName, file.edit->line, file.edit->latest);
  }
  if (file.edit && IsEditApplied(scan, file.edit->latest)) {
    return fmt::format(
        "{}: line {}: latest: {}: already applied by generation {}; ignored",
        kStateFileName, file.edit->line, file.edit->latest,
        NewestResumerOf(scan, file.edit->latest));
  }
  if (file.damage.empty()) return "";
  return fmt::format(
      "{}: {}; ignored: a run resumes from the newest good checkpoint{}",
      kStateFileName, file.damage,
      file.damage == kStateFileMissing
          ? ""
          : ". To go back to another one, set latest to its name and delete "
            "the last line");
}

std::vector<std::string> MissingNewer(const StoreScan& scan,
                                      const ParentChoice& choice) {
  std::vector<std::string> lines;
  // After an edit, newer checkpoints may be missing because the person who went
  // back to `latest` removed them.
  if (!choice.parent || scan.state_file.edit) return lines;
  const ScannedCheckpoint& parent = scan.checkpoints[*choice.parent];
  const auto is_there = [&](const CheckpointName& name) {
    return std::ranges::any_of(scan.entries, [&](const ScannedEntry& entry) {
      const bool whole = entry.parsed.kind == EntryKind::kCheckpoint &&
                         entry.kind == FileKind::kDirectory;
      return (whole || entry.parsed.kind == EntryKind::kRejected) &&
             entry.parsed.checkpoint.step == name.step &&
             entry.parsed.checkpoint.phase == name.phase;
    });
  };
  for (const std::string& listed : scan.state_file.all) {
    const auto name = CheckpointName::Parse(listed);
    if (!name || name->step <= parent.parsed.step || is_there(*name)) continue;
    lines.push_back(
        fmt::format("{}: missing, listed in {}; a run resumes from {}", listed,
                    kStateFileName, parent.name));
  }
  return lines;
}

Status CheckJob(const ScannedCheckpoint& checkpoint,
                const std::string& job_json) {
  const Manifest& manifest = *checkpoint.manifest;
  if (manifest.numerics_version != numerics::kVersion) {
    return FailedPrecondition(fmt::format(
        "{}: numerics version {} in the checkpoint, {} now", checkpoint.name,
        manifest.numerics_version, numerics::kVersion));
  }
  if (manifest.job_digest == JobDigest(job_json)) return OkStatus();
  if (DiffersOnlyInUnrecordedCallbacks(manifest.head.job_json, job_json)) {
    return OkStatus();
  }
  return OtherJob(fmt::format(
      "{} was written by another job: use another checkpoint directory "
      "(--ckpt), or the original settings. {}",
      checkpoint.name,
      DescribeJobDifference(manifest.head.job_json, job_json)));
}

namespace {

// Returns the verified checkpoint. kDataLoss: the checkpoint must be rejected;
// the message is the reason. After other errors no parent can be chosen.
Result<LoadedCheckpoint> ReadAndVerify(World& world,
                                       const StoreOptions& options,
                                       const ScannedCheckpoint& checkpoint,
                                       const std::string& job_json,
                                       const TensorPlaces& places) {
  if (!checkpoint.manifest) return checkpoint.status;
  RETURN_IF_ERROR(CheckJob(checkpoint, job_json));
  return ReadCheckpoint(world, options.directory + "/" + checkpoint.name,
                        places);
}

// Returns the reason why the checkpoint that the edit names is not in the
// directory; "" if unknown.
std::string MissingReason(const StoreScan& scan, const std::string& latest) {
  if (const uint64_t resumed_by = NewestResumerOf(scan, latest);
      resumed_by > 0) {
    CheckpointName now =
        CheckpointName::Parse(latest).value_or(CheckpointName{});
    now.generation = resumed_by;
    if (IsInStore(scan, now.ToString())) {
      return fmt::format(", renamed to {} when a run resumed from it",
                         now.ToString());
    }
  }
  const std::string aside = std::string(kRejectedPrefix) + latest;
  const bool rejected = std::ranges::any_of(
      scan.entries,
      [&](const ScannedEntry& entry) { return entry.name == aside; });
  return rejected ? ", which was set aside as damaged" : "";
}

std::string StateFilePath(const StoreOptions& options) {
  return fmt::format("{}/{}", options.directory, kStateFileName);
}

std::string StateFileAdvice(const std::string& state_file) {
  return fmt::format(
      "To go back to another checkpoint, set latest in {} to its name and "
      "delete the last line; to resume from the newest good one, remove the "
      "file {}",
      state_file, state_file);
}

// Returns the checkpoint that a person's edit names. nullopt: there is no edit;
// or the edit was already applied; or it may be a truncation and names no
// existing checkpoint. kInvalidArgument: the edit cannot be applied.
Result<std::optional<size_t>> EditedParent(const StoreOptions& options,
                                           const StoreScan& scan) {
  const StateFile& file = scan.state_file;
  const std::string path = StateFilePath(options);
  if (!file.refusal.empty()) {
    return InvalidArgument(fmt::format("{}: edited: {}. {}", path, file.refusal,
                                       StateFileAdvice(path)));
  }
  if (!file.edit) return std::optional<size_t>();
  const std::string& latest = file.edit->latest;
  for (size_t i = 0; i < scan.checkpoints.size(); ++i) {
    if (scan.checkpoints[i].name == latest) return std::optional(i);
  }
  if (file.edit->may_be_truncated || IsEditApplied(scan, latest)) {
    return std::optional<size_t>();
  }
  std::vector<std::string> names;
  for (const ScannedCheckpoint& checkpoint : scan.checkpoints) {
    names.push_back(checkpoint.name);
  }
  return InvalidArgument(fmt::format(
      "{}: edited: line {}: latest: expected a checkpoint of this directory "
      "({}), found \"{}\"{}. {}",
      path, file.edit->line, fmt::join(names, ", "), latest.substr(0, 200),
      MissingReason(scan, latest), StateFileAdvice(path)));
}

// Adds the checkpoints whose claim is lost. A generation records its parent in
// its claim before it saves. So if a checkpoint's name has a generation above
// all recorded claims, its claim was lost. Such a checkpoint is fenced only for
// that reason, and may have been acknowledged.
void AddCheckpointsOfLostClaims(const StoreScan& scan,
                                std::vector<std::string>& traces) {
  const uint64_t newest =
      scan.parents.empty() ? 0 : scan.parents.rbegin()->first;
  for (size_t i = 0; i < scan.checkpoints.size(); ++i) {
    const ScannedCheckpoint& checkpoint = scan.checkpoints[i];
    if (checkpoint.parsed.generation <= newest ||
        std::ranges::find(scan.lineage.members, i) !=
            scan.lineage.members.end()) {
      continue;
    }
    traces.push_back(fmt::format("{}: the claim of generation {} is lost",
                                 checkpoint.name,
                                 checkpoint.parsed.generation));
  }
}

// Returns all evidence that the directory once had checkpoints, one line each.
std::vector<std::string> TracesOfCheckpoints(
    World& world, const StoreOptions& options, const StoreScan& scan,
    const std::vector<Rejection>& rejected) {
  std::vector<std::string> traces;
  for (const Rejection& rejection : rejected) {
    traces.push_back(fmt::format("{}: {}",
                                 scan.checkpoints[rejection.checkpoint].name,
                                 rejection.reason));
  }
  for (const ScannedEntry& entry : scan.entries) {
    if (entry.parsed.kind != EntryKind::kRejected) continue;
    const Status status =
        VerifyCheckpoint(world, options.directory + "/" + entry.name);
    traces.push_back(fmt::format(
        "{}: {}", entry.name,
        status.ok() ? "set aside by an earlier run" : status.message()));
  }
  AddCheckpointsOfLostClaims(scan, traces);
  const auto newest = scan.parents.rbegin();
  if (newest != scan.parents.rend() && newest->second && rejected.empty()) {
    traces.push_back(fmt::format("{}: missing, the parent of generation {}",
                                 newest->second->name, newest->first));
  }
  for (const std::string& name : scan.state_file.all) {
    const bool there = std::ranges::any_of(
        scan.checkpoints,
        [&](const ScannedCheckpoint& c) { return c.name == name; });
    if (!there && traces.empty()) {
      traces.push_back(
          fmt::format("{}: missing, listed in {}", name, kStateFileName));
    }
  }
  return traces;
}

std::string ReasonIfNoneIsValid(const std::string& directory,
                                const std::vector<std::string>& traces) {
  return fmt::format("{}{}{}", directory, kNoneIsValid,
                     fmt::join(traces, "; "));
}

// Returns the newest checkpoint that the state file lists. Used if no
// checkpoint of the lineage exists, so that only names are left.
std::optional<ParentRecord> NewestListed(const StoreScan& scan) {
  std::optional<ParentRecord> newest;
  for (const std::string& name : scan.state_file.all) {
    const auto parsed = CheckpointName::Parse(name);
    if (!parsed || (newest && parsed->step < newest->step)) continue;
    newest = {.name = name,
              .step = parsed->step,
              .phase = parsed->phase.value_or(Phase::kInEpoch),
              .written_by = parsed->generation};
  }
  return newest;
}

// Returns the newest checkpoint that the directory still names, even if the
// checkpoint is damaged or gone.
std::optional<ParentRecord> NewestOf(const StoreScan& scan) {
  if (scan.lineage.members.empty()) {
    const auto newest = scan.parents.rbegin();
    if (newest != scan.parents.rend() && newest->second) return newest->second;
    return NewestListed(scan);
  }
  const ScannedCheckpoint& checkpoint =
      scan.checkpoints[scan.lineage.members.front()];
  ParentRecord lost = {.name = checkpoint.name,
                       .step = checkpoint.parsed.step,
                       .phase = checkpoint.GetPhase(),
                       .written_by = checkpoint.WrittenBy()};
  if (checkpoint.manifest) {
    lost.state_digest = checkpoint.manifest->head.state_digest;
  }
  return lost;
}

}  // namespace

Result<ParentChoice> ChooseParent(World& world, const StoreOptions& options,
                                  const StoreScan& scan,
                                  const std::string& job_json,
                                  const TensorPlaces& places) {
  std::optional<LoadedCheckpoint> verified;
  const auto verify = [&](size_t i) {
    Result<LoadedCheckpoint> read =
        ReadAndVerify(world, options, scan.checkpoints[i], job_json, places);
    if (read.ok()) verified = std::move(read).value();
    return read.status();
  };
  ASSIGN_OR_RETURN(ParentChoice choice,
                   ChooseParent(world, options, scan, verify));
  // `verify` succeeded only for the chosen checkpoint.
  choice.verified = std::move(verified);
  return choice;
}

Result<ParentChoice> ChooseParent(World& world, const StoreOptions& options,
                                  const StoreScan& scan,
                                  const Verifier& verify) {
  ParentChoice choice;
  ASSIGN_OR_RETURN(const std::optional<size_t> edited,
                   EditedParent(options, scan));
  if (edited) {
    const ScannedCheckpoint& checkpoint = scan.checkpoints[*edited];
    const Status status = verify(*edited);
    const StateFileEdit& edit = *scan.state_file.edit;
    if (status.code() == Code::kDataLoss && !edit.may_be_truncated) {
      const std::string path = StateFilePath(options);
      return FailedPrecondition(fmt::format(
          "{}: edited: line {}: latest: {} is damaged: {}. {}", path, edit.line,
          checkpoint.name, status.message(), StateFileAdvice(path)));
    }
    if (status.code() != Code::kDataLoss) {
      RETURN_IF_ERROR(status);
      choice.parent = *edited;
      choice.chosen_by_edit = true;
      return choice;
    }
  }
  for (const size_t i : scan.lineage.members) {
    const Status status = verify(i);
    if (status.ok()) {
      choice.parent = i;
      return choice;
    }
    if (status.code() != Code::kDataLoss) return status;
    choice.rejected.push_back({.checkpoint = i, .reason = status.message()});
  }
  const auto traces =
      TracesOfCheckpoints(world, options, scan, choice.rejected);
  if (traces.empty()) return choice;
  choice.all_invalid_reason = ReasonIfNoneIsValid(options.directory, traces);
  if (options.cold_start == ColdStart::kAllow) return choice;
  if (options.cold_start == ColdStart::kFromMemory) {
    choice.lost_parent = NewestOf(scan);
    if (choice.lost_parent) return choice;
  }
  return FailedPrecondition(choice.all_invalid_reason);
}

}  // namespace gauntlet
