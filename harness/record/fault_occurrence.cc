#include "harness/record/fault_occurrence.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "harness/record/text/number_list.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

auto TimeOf(const RecordEvent& event) {
  return std::tuple(event.t_ns, event.order);
}

bool BeginsOrEndsASave(const RecordEvent& event) {
  return event.kind == RecordKind::kSaveBegin ||
         event.kind == RecordKind::kSaveAcknowledged ||
         event.kind == RecordKind::kSaveFailed ||
         event.kind == RecordKind::kGeneration;
}

// Returns the step of the save that was in progress at the event; nullopt if
// there was none. A save is in progress if its begin is the newest event about
// saves or claims: it has neither been acknowledged nor failed, and no newer
// generation has been claimed.
std::optional<uint64_t> SaveInProgressAt(const Record& record,
                                         const RecordEvent& at) {
  const RecordEvent* newest = nullptr;
  for (const IncarnationEvents& incarnation : record.incarnations) {
    for (const RecordEvent& event : incarnation.events) {
      if (BeginsOrEndsASave(event) && TimeOf(event) <= TimeOf(at) &&
          (newest == nullptr || TimeOf(event) >= TimeOf(*newest))) {
        newest = &event;
      }
    }
  }
  if (newest == nullptr || newest->kind != RecordKind::kSaveBegin) {
    return std::nullopt;
  }
  return newest->step;
}

}  // namespace

const RecordFault* FindFault(const Record& record, std::string_view id) {
  const auto found = std::ranges::find(record.faults, id, &RecordFault::id);
  return found == record.faults.end() ? nullptr : &*found;
}

std::string SaveOfFaultText(const Record& record, const RecordEvent& event) {
  const RecordFault* const fault = FindFault(record, event.detail);
  if (fault == nullptr || !fault->in_save) return "";
  const std::optional<uint64_t> step = SaveInProgressAt(record, event);
  if (!step) return "";
  std::vector<std::string> notes;
  if (fault->save.value_or(0) > 0) {
    notes.push_back(fmt::format("save {}", *fault->save));
  }
  if (*step != event.step) {
    notes.push_back(fmt::format("training was at step {}", event.step));
  }
  return fmt::format(
      "in the save of step {}{}", *step,
      notes.empty() ? "" : fmt::format(" ({})", fmt::join(notes, "; ")));
}

std::string TimesFiredText(const Record& record,
                           const IncarnationEvents& incarnation,
                           std::string_view fault) {
  constexpr size_t kMostNamed = 12;  // more occurrences: names no saves
  std::vector<const RecordEvent*> fired;
  for (const RecordEvent& event : incarnation.events) {
    if ((event.kind == RecordKind::kFaultFired ||
         event.kind == RecordKind::kFaultAgain) &&
        event.detail == fault) {
      fired.push_back(&event);
    }
  }
  if (fired.size() < 2) return "";
  std::set<uint64_t> saves;
  const RecordFault* const planned = FindFault(record, fault);
  if (planned != nullptr && planned->in_save && fired.size() <= kMostNamed) {
    for (const RecordEvent* event : fired) {
      if (const std::optional<uint64_t> step =
              SaveInProgressAt(record, *event)) {
        saves.insert(*step);
      }
    }
  }
  return fmt::format(" (fired {} times{})", fired.size(),
                     saves.size() < 2
                         ? ""
                         : ", in the saves of " + NumberedText("step", saves));
}

}  // namespace gauntlet
