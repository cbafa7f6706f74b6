#include "harness/oracle/fault_effects.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "harness/record/fault_traits.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

bool Has(const IncarnationEvents& incarnation, size_t from, RecordKind kind) {
  return std::any_of(
      incarnation.events.begin() + static_cast<std::ptrdiff_t>(from),
      incarnation.events.end(),
      [&](const RecordEvent& event) { return event.kind == kind; });
}

// Returns true iff the fault may skip files: it flips a byte at a given offset,
// and skips each file that is too short to have this byte.
bool PassesOverFiles(const RecordFault& fault) {
  return fault.kind == "bit_flip" && fault.byte > 0;
}

// Returns "; saves begun: 4 in incarnation 1, 2 in incarnation 2" for a fault
// that is planned for a save; else "".
std::string SavesText(const Record& record, const RecordFault& fault) {
  if (!fault.in_save) return "";
  std::map<int, int64_t> begun;  // by incarnation; all ranks save together
  for (const IncarnationEvents& incarnation : record.incarnations) {
    int64_t& most = begun[incarnation.number];
    most = std::max<int64_t>(
        most, std::ranges::count(incarnation.events, RecordKind::kSaveBegin,
                                 &RecordEvent::kind));
  }
  std::vector<std::string> texts;
  for (const auto& [incarnation, saves] : begun) {
    texts.push_back(fmt::format("{} in incarnation {}", saves, incarnation));
  }
  return fmt::format("; saves begun: {}", fmt::join(texts, ", "));
}

// Describes the save for which the fault is planned, for each incarnation that
// began this save and did not complete it: "; save 2 (step 10) was begun in
// incarnation 1, but the process ended before the save was acknowledged", or
// "…, but it failed". Returns "" if there is no such incarnation.
std::string CutSavesText(const Record& record, const RecordFault& fault) {
  if (!fault.in_save || !fault.save || *fault.save == 0) return "";
  std::string text;
  for (const IncarnationEvents& incarnation : record.incarnations) {
    const RecordEvent* begun = nullptr;
    const RecordEvent* end = nullptr;
    uint64_t number = 0;
    for (const RecordEvent& event : incarnation.events) {
      if (event.kind == RecordKind::kSaveBegin && ++number == *fault.save) {
        begun = &event;
      }
      const bool is_end = event.kind == RecordKind::kSaveAcknowledged ||
                          event.kind == RecordKind::kSaveFailed;
      if (begun != nullptr && is_end && event.step == begun->step) {
        end = &event;
        break;
      }
    }
    if (begun == nullptr ||
        (end != nullptr && end->kind == RecordKind::kSaveAcknowledged)) {
      continue;
    }
    text += fmt::format(
        "; save {} (step {}) was begun in incarnation {}, but {}", *fault.save,
        begun->step, incarnation.number,
        end == nullptr ? "the process ended before the save was acknowledged"
                       : "it failed");
  }
  return text;
}

// Returns true iff a worker or a launcher has reported a notice.
bool IsAnyNoticeSeen(const Record& record) {
  const auto in_one = [](const auto& process) {
    return std::ranges::any_of(process.events, [](const RecordEvent& event) {
      return event.kind == RecordKind::kNotice ||
             event.kind == RecordKind::kAskedToStop;
    });
  };
  return std::ranges::any_of(record.incarnations, in_one) ||
         std::ranges::any_of(record.launchers, in_one);
}

void CheckEffect(const Record& record, const FaultOccurrence& occurrence,
                 Check& check) {
  const FaultTraits& traits = occurrence.traits;
  const IncarnationEvents& incarnation = *occurrence.incarnation;
  if (traits.ends_incarnation &&
      Has(incarnation, occurrence.index, RecordKind::kWorkerExited)) {
    check.Fail("no-effect",
               fmt::format("fault {} fired ({}), but {} exited by itself",
                           occurrence.fault->id, occurrence.fault->summary,
                           NameOf(incarnation)));
  }
  const bool notifies = GivesNotice(*occurrence.fault);
  // A process may end before it reports the notice. Then it suffices that
  // another process of its job reports it.
  const bool seen =
      Has(incarnation, occurrence.index, RecordKind::kNotice) ||
      (Has(incarnation, occurrence.index, RecordKind::kWorkerExited) &&
       IsAnyNoticeSeen(record));
  if (notifies && !seen) {
    check.Fail(FindingKind::kUnseen,
               fmt::format("fault {} fired ({}), but no notice reached {}",
                           occurrence.fault->id, occurrence.fault->summary,
                           NameOf(incarnation)));
  }
}

}  // namespace

void CheckFaultEffects(const Outline& outline, Check& check) {
  for (const RecordFault& fault : outline.record.faults) {
    check.Count();
    const bool fired =
        std::any_of(outline.occurrences.begin(), outline.occurrences.end(),
                    [&](const FaultOccurrence& occurrence) {
                      return occurrence.fault == &fault;
                    });
    if (!fired) {
      check.Fail("never-fired",
                 fmt::format("fault {} never fired: {}{}{}{}", fault.id,
                             fault.summary, SavesText(outline.record, fault),
                             CutSavesText(outline.record, fault),
                             PassesOverFiles(fault)
                                 ? "; it skips files that end before that "
                                   "byte"
                                 : ""));
    }
  }
  for (const FaultOccurrence& occurrence : outline.occurrences) {
    CheckEffect(outline.record, occurrence, check);
  }
}

}  // namespace gauntlet
