#include "harness/run/failure/lost_checkpoints.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/worker_exit_code.h"
#include "harness/record/base_name.h"
#include "harness/record/checkpoint_loss.h"
#include "harness/record/fault_occurrence.h"
#include "harness/record/fault_traits.h"
#include "harness/record/finding_kind.h"
#include "harness/record/text/joined_texts.h"
#include "harness/record/text/number_list.h"
#include "harness/run/failure/history/begun_saves.h"
#include "harness/run/failure/history/deletions.h"
#include "harness/run/failure/history/worker_events.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr std::string_view kRename = "ckpt.rename";

// Returns the power loss of the machine between the acknowledgement of the
// checkpoint and the discovery that it is lost; null if there was none. A power
// loss on a lying disk does not count.
const RecordEvent* PowerCutOf(const Record& record, const LostCheckpoint& one) {
  for (const RecordEvent& event : record.machine) {
    if (event.kind == RecordKind::kPowerCut && !event.about &&
        event.detail != kLyingDisk && event.t_ns >= one.acknowledged_ns &&
        event.t_ns <= one.found_ns) {
      return &event;
    }
  }
  return nullptr;
}

// Returns the event of the fault that caused the power loss; null if there is
// none.
const RecordEvent* FaultOfCut(const Record& record, const RecordEvent& cut) {
  const RecordEvent* newest = nullptr;
  ForEachEvent(record, [&](const RecordEvent& event) {
    if (event.kind != RecordKind::kFaultFired || event.t_ns > cut.t_ns) return;
    const RecordFault* const fault = FindFault(record, event.detail);
    if (fault == nullptr || !TraitsOf(*fault).cuts_power) return;
    if (newest == nullptr || event.t_ns >= newest->t_ns) newest = &event;
  });
  return newest;
}

bool IsTakenForFenced(const Record& record, const LostCheckpoint& one) {
  bool is_fenced = false;
  ForEachEvent(record, [&](const RecordEvent& event) {
    is_fenced = is_fenced || (event.kind == RecordKind::kFencedFound &&
                              BaseName(event.path) == one.name);
  });
  return is_fenced;
}

// Returns the event of a fault that fired before the rename of the checkpoint,
// but after the acknowledgement of its save; null if there is none. The save
// was then acknowledged too early.
const RecordEvent* FaultBeforeRename(const Record& record,
                                     const LostCheckpoint& one) {
  const RecordEvent* found = nullptr;
  ForEachEvent(record, [&](const RecordEvent& event) {
    if (event.kind == RecordKind::kFaultFired && event.path == kRename &&
        event.step == one.step && event.t_ns >= one.acknowledged_ns &&
        event.t_ns <= one.found_ns) {
      found = &event;
    }
  });
  return found;
}

// Returns true iff the text has the name, and not only as the start of a longer
// name: step-000000010-g1 is not in step-000000010-g12.
bool Mentions(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != text.npos;
       at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    if (end == text.size() || text[end] < '0' || text[end] > '9') return true;
  }
  return false;
}

bool IsAbout(const Finding& finding, const LostCheckpoint& one) {
  return Mentions(finding.message, one.name);
}

// Returns true iff every violation of `store` is about one of the checkpoints.
bool AreAbout(const std::vector<LostCheckpoint>& lost,
              const InvariantReport& report) {
  return report.violations == report.findings.size() &&
         std::ranges::all_of(report.findings, [&](const Finding& finding) {
           return std::ranges::any_of(lost, [&](const LostCheckpoint& one) {
             return IsAbout(finding, one);
           });
         });
}

// Returns true iff a finding shows that the oracle required the checkpoint to
// be loadable. Other checkpoints are excused, for example if their removal had
// begun.
bool IsOwed(const LostCheckpoint& one, const Verdict& verdict) {
  for (const InvariantReport& report : verdict.invariants) {
    for (const Finding& finding : report.findings) {
      const bool is_owed = one.is_gone
                               ? IsOf(FindingKind::kStaleResume, finding) ||
                                     IsOf(FindingKind::kLostCheckpoint, finding)
                               : IsOf(FindingKind::kDoesNotVerify, finding);
      if (is_owed && IsAbout(finding, one)) return true;
    }
  }
  return false;
}

// Returns "is lost too": the state of all lost checkpoints but the first.
std::string_view StateOfOthers(const Record& record,
                               const std::vector<LostCheckpoint>& lost) {
  const bool is_one = lost.size() == 2;
  if (lost.front().is_gone) return is_one ? "is lost too" : "are lost too";
  if (PowerCutOf(record, lost.front()) != nullptr) {
    return "the power cut damaged too";
  }
  return is_one ? "does not verify either" : "do not verify either";
}

std::string WhyStore(const Record& record,
                     const std::vector<LostCheckpoint>& lost) {
  const LostCheckpoint& first = lost.front();
  std::vector<std::string_view> others;
  for (size_t i = 1; i < lost.size(); ++i) others.push_back(lost[i].name);
  std::string why =
      others.empty()
          ? fmt::format("all violations are about {}", first.name)
          : fmt::format("besides {}, the violations are about {}, which {}",
                        first.name, fmt::join(others, ", "),
                        StateOfOthers(record, lost));
  if (first.is_gone) {
    why +=
        "; a new generation finds nothing of it, so it can neither resume from "
        "it nor report it";
  }
  const bool any_fenced = std::ranges::any_of(
      lost,
      [&](const LostCheckpoint& one) { return IsTakenForFenced(record, one); });
  if (any_fenced) {
    why +=
        "; a new generation takes a checkpoint for fenced if it cannot read "
        "its manifest";
  }
  return why;
}

// Returns the reason why the violations of `clean-refusal` follow from the lost
// checkpoints; "" unless each violation is about one that does not verify.
std::string WhyRefusal(const Record& record,
                       const std::vector<LostCheckpoint>& lost,
                       const InvariantReport& report) {
  std::vector<LostCheckpoint> invalid = lost;
  std::erase_if(invalid, [&](const LostCheckpoint& one) {
    return one.is_gone ||
           IntegrityOf(record, one.name) != Integrity::kDamaged ||
           std::ranges::none_of(report.findings, [&](const Finding& finding) {
             return IsAbout(finding, one);
           });
  });
  if (invalid.empty() || !AreAbout(invalid, report)) return "";
  std::vector<std::string_view> names;
  names.reserve(invalid.size());
  for (const LostCheckpoint& one : invalid) names.push_back(one.name);
  return fmt::format(
      "all violations are about {}; training refuses to start if no checkpoint "
      "verifies",
      fmt::join(names, ", "));
}

// Returns "the power cut at step 51".
std::string CutText(const Record& record, const RecordEvent& cut) {
  const RecordEvent* const fault = FaultOfCut(record, cut);
  return fault == nullptr
             ? "the power cut"
             : fmt::format("the power cut at step {}", fault->step);
}

std::string CauseOfGone(const Record& record, const LostCheckpoint& one) {
  const RecordEvent* const cut = PowerCutOf(record, one);
  if (const RecordEvent* const fault = FaultBeforeRename(record, one)) {
    return fmt::format(
        "step {0} was acknowledged before its rename; {1} came before the "
        "rename; no checkpoint of step {0} remained ({2})",
        one.step,
        cut != nullptr ? "the power cut"
                       : fmt::format("fault {}", fault->detail),
        one.name);
  }
  return fmt::format("{} was acknowledged, but nothing of it remained{}",
                     one.name,
                     cut == nullptr ? ", though no process removed it"
                                    : " after " + CutText(record, *cut));
}

std::string CauseText(const Record& record, const LostCheckpoint& one) {
  if (one.is_gone) return CauseOfGone(record, one);
  if (const RecordEvent* const cut = PowerCutOf(record, one)) {
    return fmt::format(
        "{} damaged {}, although its save had been acknowledged ({})",
        CutText(record, *cut), one.name, one.reason);
  }
  return fmt::format(
      "{} was acknowledged and does not verify ({}), though no fault damaged "
      "it",
      one.name, one.reason);
}

// Returns the saves, rejections and deletions of checkpoints until `until_ns`,
// in the order of time.
std::vector<const RecordEvent*> StoreEventsUntil(const Record& record,
                                                 int64_t until_ns) {
  std::vector<const RecordEvent*> events;
  ForEachEvent(record, [&](const RecordEvent& event) {
    if (event.t_ns <= until_ns &&
        (event.kind == RecordKind::kSaveAcknowledged ||
         event.kind == RecordKind::kRejected || ShowsDeletion(record, event))) {
      events.push_back(&event);
    }
  });
  std::ranges::stable_sort(events, {}, [](const RecordEvent* event) {
    return std::tuple(event->t_ns, event->order);
  });
  return events;
}

struct DeletedCheckpoints {
  std::set<uint64_t> steps;
  // True iff, before each deletion, there were more checkpoints than retention
  // keeps. False: one was deleted to make room on the disk.
  bool by_retention = true;
};

DeletedCheckpoints DeletedUntil(const Record& record, int64_t until_ns) {
  DeletedCheckpoints deleted;
  std::set<std::string_view> there;
  for (const RecordEvent* event : StoreEventsUntil(record, until_ns)) {
    const std::string_view name = BaseName(event->path);
    if (event->kind == RecordKind::kSaveAcknowledged) {
      if (event->reason != RecordReason::kKeptPermanently) there.insert(name);
      continue;
    }
    if (event->kind != RecordKind::kRejected) {
      if (const auto step = StepInName(name)) deleted.steps.insert(*step);
      if (std::cmp_less_equal(there.size(), record.setup.keep)) {
        deleted.by_retention = false;
      }
    }
    there.erase(name);
  }
  return deleted;
}

// Returns "the checkpoint of step 5 was deleted by retention (keep: 1)"; "" if
// none was deleted until `until_ns`.
std::string DeletedText(const Record& record, int64_t until_ns) {
  constexpr size_t kMostSteps = 4;
  const DeletedCheckpoints deleted = DeletedUntil(record, until_ns);
  const std::set<uint64_t>& steps = deleted.steps;
  if (steps.empty()) return "";
  const std::string by =
      deleted.by_retention && record.setup.keep > 0
          ? fmt::format(" by retention (keep: {})", record.setup.keep)
          : "";
  if (steps.size() == 1) {
    return fmt::format("the checkpoint of step {} was deleted{}",
                       *steps.begin(), by);
  }
  if (steps.size() > kMostSteps) {
    return fmt::format("{} checkpoints of steps {} to {} were deleted{}",
                       steps.size(), *steps.begin(), *steps.rbegin(), by);
  }
  return fmt::format("the checkpoints of {} were deleted{}",
                     NumberedText("step", steps), by);
}

// Returns the acknowledged checkpoints that had not been deleted until
// `until_ns`. Rejected ones are included.
std::set<std::string_view> SavedUntil(const Record& record, int64_t until_ns) {
  std::set<std::string_view> names;
  for (const RecordEvent* event : StoreEventsUntil(record, until_ns)) {
    const std::string_view name = BaseName(event->path);
    if (event->kind == RecordKind::kSaveAcknowledged) {
      names.insert(name);
    } else if (event->kind != RecordKind::kRejected) {
      names.erase(name);
    }
  }
  return names;
}

// Returns true iff an acknowledged checkpoint was missing after the run,
// although no process had begun to remove it or to set it aside, and none had
// reported it as fenced.
bool IsGone(const Record& record, std::string_view checkpoint) {
  if (!record.left.store_listed ||
      IntegrityOf(record, checkpoint) != Integrity::kNotVerified) {
    return false;
  }
  bool is_removed = false;
  ForEachEvent(record, [&](const RecordEvent& event) {
    is_removed = is_removed || event.kind == RecordKind::kDeleteBegin ||
                 ((event.kind == RecordKind::kRetireBegin ||
                   event.kind == RecordKind::kRejectBegin ||
                   event.kind == RecordKind::kFencedFound) &&
                  BaseName(event.path) == checkpoint);
  });
  return !is_removed;
}

// Returns "step-000000015-g1 was acknowledged, but only step-000000015-g1.tmp
// is left". REQUIRES: IsGone.
std::string GoneText(const Record& record, std::string_view checkpoint) {
  const std::string temporary = fmt::format("{}.tmp", checkpoint);
  const auto& left = record.left.temporary;
  if (std::ranges::find(left, temporary) != left.end()) {
    return fmt::format("{} was acknowledged, but only {} is left", checkpoint,
                       temporary);
  }
  return fmt::format("{} was acknowledged, but nothing of it remained",
                     checkpoint);
}

// Returns "the power cut at step 15 (fault dark) lost data that fsyncs had
// reported as durable (disk.profile is lying-fsync); "; "" if no lying disk
// lost its power until `until_ns`.
std::string LyingDiskText(const Record& record, int64_t until_ns) {
  const RecordEvent* newest = nullptr;
  for (const RecordEvent& event : record.machine) {
    if (event.kind == RecordKind::kPowerCut && !event.about &&
        event.detail == kLyingDisk && event.t_ns <= until_ns) {
      newest = &event;
    }
  }
  if (newest == nullptr) return "";
  const RecordEvent* const fault = FaultOfCut(record, *newest);
  return fmt::format(
      "{}{} lost data that fsyncs had reported as durable (disk.profile is "
      "{}); ",
      CutText(record, *newest),
      fault == nullptr ? "" : fmt::format(" (fault {})", fault->detail),
      kLyingDisk);
}

}  // namespace

LossExplanation ExplainLoss(const Record& record, const Verdict& verdict) {
  std::vector<LostCheckpoint> lost = LostCheckpointsOf(record);
  std::erase_if(lost, [&](const LostCheckpoint& one) {
    return one.by_fault || !IsOwed(one, verdict);
  });
  if (lost.empty()) return {};
  LossExplanation explanation = {.cause = CauseText(record, lost.front()),
                                 .why_store = "",
                                 .why_refusal = ""};
  const auto find = [&verdict](Invariant invariant) {
    return std::ranges::find_if(
        verdict.invariants, [invariant](const InvariantReport& report) {
          return report.invariant == InvariantName(invariant) &&
                 report.violations > 0;
        });
  };
  if (const auto store = find(Invariant::kStore);
      store != verdict.invariants.end() && AreAbout(lost, *store)) {
    explanation.why_store = WhyStore(record, lost);
  }
  if (const auto refusal = find(Invariant::kCleanRefusal);
      refusal != verdict.invariants.end()) {
    explanation.why_refusal = WhyRefusal(record, lost, *refusal);
  }
  return explanation;
}

std::string ExplainRefusal(const Record& record) {
  const RecordEvent* const refusal =
      FirstOf(record, [](const RecordEvent& event) {
        return event.kind == RecordKind::kWorkerExited &&
               IsExit(event.count, {WorkerExit::kNoCheckpoint});
      });
  if (refusal == nullptr) return "";
  const int64_t refused_ns = refusal->t_ns;
  bool is_any_lost = false;  // one was lost although no fault damaged it
  std::vector<std::string> causes;
  for (const std::string_view name : SavedUntil(record, refused_ns)) {
    std::string damage = DamageText(record, name);
    if (damage.empty() && IsGone(record, name)) damage = GoneText(record, name);
    if (damage.empty()) continue;
    is_any_lost = is_any_lost || DamageOf(record, name) == nullptr;
    causes.push_back(std::move(damage));
  }
  if (causes.empty()) return "";
  if (std::string deleted = DeletedText(record, refused_ns); !deleted.empty()) {
    causes.push_back(std::move(deleted));
  }
  if (std::string pending = UnfinishedSavesText(
          record, NewestSaveBefore(record, *refusal), *refusal);
      !pending.empty()) {
    causes.push_back(std::move(pending));
  }
  return fmt::format("{}no checkpoint can be loaded: {}",
                     is_any_lost ? LyingDiskText(record, refused_ns) : "",
                     JoinedTexts(std::move(causes)));
}

}  // namespace gauntlet
