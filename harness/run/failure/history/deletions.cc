#include "harness/run/failure/history/deletions.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "harness/record/base_name.h"
#include "harness/record/checkpoint_loss.h"
#include "harness/run/failure/history/worker_events.h"

namespace gauntlet {
namespace {

// Returns the names of the checkpoints that had been acknowledged, and not
// removed, before `end_ns`, from old to new.
std::vector<std::string_view> StoredAt(const Record& record, int64_t end_ns) {
  std::vector<const RecordEvent*> saved;
  ForEachEvent(record, [&](const RecordEvent& event) {
    if (event.kind == RecordKind::kSaveAcknowledged && event.t_ns < end_ns) {
      saved.push_back(&event);
    }
  });
  std::ranges::stable_sort(saved, {}, &RecordEvent::t_ns);
  std::vector<std::string_view> names;
  names.reserve(saved.size());
  for (const RecordEvent* one : saved) names.push_back(BaseName(one->path));
  ForEachEvent(record, [&](const RecordEvent& event) {
    const bool is_removed = event.kind == RecordKind::kRetired ||
                            event.kind == RecordKind::kRejected;
    if (is_removed && event.t_ns < end_ns) {
      std::erase(names, BaseName(event.path));
    }
  });
  return names;
}

}  // namespace

bool ShowsDeletion(const Record& record, const RecordEvent& event) {
  if (event.kind == RecordKind::kRetired) return true;
  if (event.kind != RecordKind::kRetireBegin || !record.left.store_listed) {
    return false;
  }
  const std::string_view name = BaseName(event.path);
  const bool has_ended = FirstOf(record, [name](const RecordEvent& other) {
                           return other.kind == RecordKind::kRetired &&
                                  BaseName(other.path) == name;
                         }) != nullptr;
  const auto& rejected = record.left.rejected;
  const bool is_rejected = std::ranges::find(rejected, name) != rejected.end();
  return !has_ended && !is_rejected &&
         IntegrityOf(record, name) == Integrity::kNotVerified;
}

const RecordEvent* DamageThatKeptOldest(const Record& record,
                                        const BegunSave& save) {
  const std::string_view error = save.failure->detail;
  const bool is_full =
      error.find("ENOSPC") != error.npos || error.find("EDQUOT") != error.npos;
  if (!is_full) return nullptr;
  const int64_t end_ns = save.failure->t_ns;
  const auto damage_of = [&](std::string_view checkpoint) {
    const RecordEvent* const damage = DamageOf(record, checkpoint);
    return damage != nullptr && damage->t_ns < end_ns ? damage : nullptr;
  };
  const std::vector<std::string_view> stored = StoredAt(record, end_ns);
  if (stored.size() < 2 || damage_of(stored.front()) != nullptr) return nullptr;
  const bool is_only_intact =
      std::all_of(stored.begin() + 1, stored.end(), damage_of);
  return is_only_intact ? damage_of(stored.back()) : nullptr;
}

}  // namespace gauntlet
