#include "harness/run/failure/remedy/store_remedy.h"

#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "engine/text/counted.h"
#include "harness/record/base_name.h"
#include "harness/record/checkpoint_loss.h"
#include "harness/record/fault_traits.h"
#include "harness/record/text/named_faults.h"
#include "harness/run/failure/history/begun_saves.h"
#include "harness/run/failure/history/deletions.h"
#include "harness/run/failure/history/worker_events.h"
#include "harness/run/failure/remedy/permitted_values.h"
#include "harness/run/failure/remedy/resume_remedy.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Returns the faults of the record, each once, that have an occurrence for
// which `is_wanted` returns true.
template <typename Condition>
std::vector<const RecordFault*> FaultsWith(const Outline& outline,
                                           const Condition& is_wanted) {
  std::vector<const RecordFault*> faults;
  for (const RecordFault& fault : outline.record.faults) {
    for (const FaultOccurrence& occurrence : outline.occurrences) {
      if (occurrence.fault != &fault || !is_wanted(occurrence)) continue;
      faults.push_back(&fault);
      break;
    }
  }
  return faults;
}

// Steps of acknowledged checkpoints.
struct StoredSteps {
  std::set<uint64_t> saved;
  std::set<uint64_t> damaged;
  std::set<uint64_t> deleted;  // by retention, or to make room on the disk
};

StoredSteps StoredStepsOf(const Record& record) {
  StoredSteps steps;
  ForEachEvent(record, [&](const RecordEvent& event) {
    const std::string_view name = BaseName(event.path);
    if (event.kind == RecordKind::kSaveAcknowledged) {
      steps.saved.insert(event.step);
      if (DamageOf(record, name) != nullptr) steps.damaged.insert(event.step);
    } else if (ShowsDeletion(record, event)) {
      if (const auto step = StepInName(name)) steps.deleted.insert(*step);
    }
  });
  return steps;
}

// Returns "raise checkpoint.keep (1) to 2, so that the checkpoint of step 5,
// which is not damaged, is not deleted"; "" if retention deleted no such
// checkpoint, or if the disk may have been full.
std::string MoreKept(const Record& record) {
  const StoredSteps steps = StoredStepsOf(record);
  std::optional<uint64_t> intact;  // newest deleted checkpoint without damage
  for (const uint64_t step : steps.deleted) {
    if (!steps.damaged.contains(step)) intact = step;
  }
  if (!intact || record.setup.keep <= 0 || record.setup.limited_disk) return "";
  const auto keep = static_cast<uint64_t>(
      std::distance(steps.saved.lower_bound(*intact), steps.saved.end()));
  if (keep <= static_cast<uint64_t>(record.setup.keep) ||
      !IsPermitted("checkpoint.keep", keep)) {
    return "";
  }
  return fmt::format(
      "raise checkpoint.keep ({}) to {}, so that the checkpoint of step {}, "
      "which is not damaged, is not deleted",
      record.setup.keep, keep, *intact);
}

// Returns the steps of all failed saves. Returns none if `fault` was not the
// only cause of each failure, or if a save failed several times.
std::vector<uint64_t> SavesFailedBy(const Record& record, const RunFacts& facts,
                                    const RecordFault& fault) {
  const std::vector<BegunSave> failed = SavesFailedByFaults(record);
  if (failed.size() != facts.failed_saves) return {};
  std::vector<uint64_t> steps;
  for (const BegunSave& save : failed) {
    const std::vector<const RecordFault*> faults = FailingFaults(record, save);
    if (faults.size() != 1 || faults.front() != &fault) return {};
    steps.push_back(save.step);
  }
  return steps;
}

// Returns the change after which the fault fails only the first `expected`
// saves: "set until of fault e (step 20) to {step: 18}, so that …" if it
// repeats always, or "set consecutive of fault e (3) to 2"; "" if none is
// known.
std::string FewerFailures(const Record& record, const RunFacts& facts,
                          const RecordFault& fault, uint64_t expected) {
  const std::vector<uint64_t> failed = SavesFailedBy(record, facts, fault);
  if (failed.size() <= expected || facts.restarts > 0) return "";
  if (!fault.always) {
    return fault.hits == failed.size()
               ? fmt::format("set consecutive of fault {} ({}) to {}", fault.id,
                             fault.hits, expected)
               : "";
  }
  // Knows no step for asynchronous saves: training does not wait for them, so
  // the step of the fault may be later than that of the save.
  const uint64_t step = failed[expected];
  if (record.setup.async_saves || fault.step >= step) return "";
  return fmt::format(
      "{} to {{step: {}}}, the first step without the fault, so that the save "
      "of step {} does not fail",
      fault.until_step ? fmt::format("set until of fault {} (step {})",
                                     fault.id, *fault.until_step)
                       : fmt::format("set until of fault {}", fault.id),
      step, step);
}

}  // namespace

std::string LoadableCheckpointRemedy(const Outline& outline) {
  if (std::string text = HonestDiskRemedy(outline); !text.empty()) return text;
  const std::vector<const RecordFault*> faults =
      FaultsWith(outline, [](const FaultOccurrence& occurrence) {
        return occurrence.traits.damages_store;
      });
  if (faults.empty()) return "";
  const std::string removed = "remove " + NamedFaults(faults);
  if (const std::string kept = MoreKept(outline.record); !kept.empty()) {
    return fmt::format("{}, or {}", removed, kept);
  }
  if (StoredStepsOf(outline.record).damaged.size() <= 1) return removed;
  return fmt::format(
      "{}, or let {} damage fewer checkpoints, so that one can be loaded",
      removed, faults.size() == 1 ? "it" : "them");
}

std::string FailedSavesRemedy(const Outline& outline, const Verdict& verdict) {
  const Record& record = outline.record;
  const RunFacts& facts = verdict.facts;
  const uint64_t expected = record.expect.failed_saves_exactly.value_or(0);
  if (facts.failed_saves < expected) {
    const uint64_t more = expected - facts.failed_saves;
    return more == 1 ? "let a fault fail one more save (do: errno at "
                       "ckpt.shard.open)"
                     : fmt::format(
                           "let faults fail {} more saves (do: errno "
                           "at ckpt.shard.open)",
                           more);
  }
  const std::vector<const RecordFault*> faults =
      FaultsWith(outline, [](const FaultOccurrence& occurrence) {
        return occurrence.traits.reports_error && occurrence.fault->in_save;
      });
  if (faults.empty()) return "";
  if (expected > 0 && faults.size() == 1) {
    std::string text = FewerFailures(record, facts, *faults.front(), expected);
    if (!text.empty()) return text;
  }
  if (expected > 0) {
    return fmt::format("let {} fail only {}", NamedFaults(faults),
                       Counted(expected, "save"));
  }
  return "remove " + NamedFaults(faults);
}

}  // namespace gauntlet
