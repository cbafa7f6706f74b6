#include "harness/run/failure/history/deletions.h"

#include <algorithm>
#include <string_view>

#include "harness/record/base_name.h"
#include "harness/record/checkpoint_loss.h"
#include "harness/run/failure/history/worker_events.h"

namespace gauntlet {

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

}  // namespace gauntlet
