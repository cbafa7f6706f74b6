#include "engine/ckpt/parent_choice.h"

#include <algorithm>

#include "engine/ckpt/checkpoint_reader.h"
#include "engine/job/job.h"
#include "engine/numerics.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {

std::string IgnoredStateFile(const StoreScan& scan) {
  // A start stops at half an edit.
  if (scan.state_file.damage.empty() || scan.state_file.half_edit) return "";
  return fmt::format(
      "{}: {}; ignored: a run goes on from the newest good checkpoint. To go "
      "back to another one, set latest and delete the last line",
      kStateFileName, scan.state_file.damage);
}

std::vector<std::string> MissingNewer(const StoreScan& scan,
                                      const ParentChoice& choice) {
  std::vector<std::string> lines;
  // What a person went back from may be gone.
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
        fmt::format("{}: missing, listed in {}; a run goes on from {}", listed,
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
  return FailedPrecondition(
      fmt::format("{}: of another job: {}", checkpoint.name,
                  DescribeJobDifference(manifest.head.job_json, job_json)));
}

namespace {

// Ok, or kDataLoss with the reason to reject it, or what stops the choice.
Status Verify(World& world, const StoreOptions& options,
              const ScannedCheckpoint& checkpoint,
              const std::string& job_json) {
  if (!checkpoint.manifest) return checkpoint.status;
  RETURN_IF_ERROR(CheckJob(checkpoint, job_json));
  return VerifyCheckpoint(world, options.directory + "/" + checkpoint.name);
}

// True where an edit named a checkpoint that a generation then took: the taking
// gave it another name, and the edit is done with.
bool WasTaken(const StoreScan& scan, const std::string& edit) {
  return std::ranges::any_of(scan.parents, [&](const auto& entry) {
    return entry.second && entry.second->name == edit;
  });
}

// What a person asked for; nullopt: nothing, or it was done already.
Result<std::optional<size_t>> EditedParent(const StoreScan& scan) {
  if (scan.state_file.half_edit) {
    return InvalidArgument(fmt::format(
        "{}: edited, latest: {}, but the last line is of latest: {}; to go "
        "back delete the last line, to go on set latest to that again",
        kStateFileName, *scan.state_file.half_edit,
        scan.state_file.all.back()));
  }
  const std::optional<std::string>& edit = scan.state_file.edit;
  if (!edit) return std::optional<size_t>();
  for (size_t i = 0; i < scan.checkpoints.size(); ++i) {
    if (scan.checkpoints[i].name == *edit) return std::optional(i);
  }
  if (WasTaken(scan, *edit)) return std::optional<size_t>();
  std::vector<std::string> names;
  for (const ScannedCheckpoint& checkpoint : scan.checkpoints) {
    names.push_back(checkpoint.name);
  }
  return InvalidArgument(fmt::format(
      "{}: edited, latest: expected a checkpoint of this directory ({}), found "
      "\"{}\"",
      kStateFileName, fmt::join(names, ", "), edit->substr(0, 200)));
}

// A checkpoint bears the name of a generation that has recorded its claim by
// then: where none has, the claim is lost, and what is void without it may have
// been acknowledged.
void AddThoseOfLostClaims(const StoreScan& scan,
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

// Everything that shows that there were checkpoints, a line each.
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
  AddThoseOfLostClaims(scan, traces);
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

std::string NoneIsValid(const std::string& directory,
                        const std::vector<std::string>& traces) {
  return fmt::format("{}: there are checkpoints and none is valid: {}",
                     directory, fmt::join(traces, "; "));
}

// Of those that the state file lists, none of which is there.
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

// Of which there is a name, however damaged it is or gone.
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
                                  const std::string& job_json) {
  return ChooseParent(world, options, scan, [&](size_t i) {
    return Verify(world, options, scan.checkpoints[i], job_json);
  });
}

Result<ParentChoice> ChooseParent(World& world, const StoreOptions& options,
                                  const StoreScan& scan,
                                  const Verifier& verify) {
  ParentChoice choice;
  ASSIGN_OR_RETURN(const std::optional<size_t> edited, EditedParent(scan));
  if (edited) {
    const ScannedCheckpoint& checkpoint = scan.checkpoints[*edited];
    const Status status = verify(*edited);
    if (status.code() == Code::kDataLoss) {
      return FailedPrecondition(
          fmt::format("{}: edited to {}, which is damaged: {}", kStateFileName,
                      checkpoint.name, status.message()));
    }
    RETURN_IF_ERROR(status);
    choice.parent = *edited;
    return choice;
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
  choice.none_valid = NoneIsValid(options.directory, traces);
  if (options.cold_start == ColdStart::kAllow) return choice;
  if (options.cold_start == ColdStart::kFromMemory) {
    choice.lost = NewestOf(scan);
    if (choice.lost) return choice;
  }
  return FailedPrecondition(choice.none_valid);
}

}  // namespace gauntlet
