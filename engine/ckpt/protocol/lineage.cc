#include "engine/ckpt/protocol/lineage.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

namespace gauntlet {
namespace {

// Orders the states of one step. The evaluation and the callbacks at the end of
// an epoch come before the next epoch. So kInEpoch, which is within the next
// epoch, is the latest.
auto OrderKey(uint64_t step, Phase phase) {
  const int rank = phase == Phase::kEvaluationDue  ? 0
                   : phase == Phase::kCallbacksDue ? 1
                                                   : 2;
  return std::tuple(step, rank);
}

auto OrderKey(const LineageEntry& entry) {
  return OrderKey(entry.name.step, entry.phase);
}

bool IsParent(const LineageEntry& entry, const ParentRecord& parent,
              uint64_t adopter) {
  if (entry.state_digest) {
    return OrderKey(entry) == OrderKey(parent.step, parent.phase) &&
           *entry.state_digest == parent.state_digest;
  }
  // The manifest cannot be read, so only the name is left. An earlier version
  // of the engine renamed the parent: the suffix became `adopter`, the
  // generation that resumed from it.
  return entry.name.step == parent.step &&
         (entry.name.generation == adopter ||
          entry.name.ToString() == parent.name);
}

// Adds the checkpoints that one generation wrote before `until`, the checkpoint
// from which the next generation of the chain resumed.
void AddWrittenBy(std::span<const LineageEntry> entries, uint64_t generation,
                  const std::optional<ParentRecord>& until,
                  std::set<size_t>& members) {
  for (size_t i = 0; i < entries.size(); ++i) {
    const bool before =
        !until || OrderKey(entries[i]) < OrderKey(until->step, until->phase);
    if (entries[i].written_by == generation && before) members.insert(i);
  }
}

}  // namespace

Lineage FindLineage(std::span<const LineageEntry> entries,
                    const RecordedParents& parents) {
  Lineage lineage;
  std::set<size_t> members;
  std::optional<ParentRecord> until;
  auto record = parents.empty() ? parents.end() : std::prev(parents.end());
  while (record != parents.end()) {
    const auto& [generation, parent] = *record;
    lineage.generations.push_back(generation);
    AddWrittenBy(entries, generation, until, members);
    // Ends at a cold start, or at a record that the engine cannot have written:
    // a parent is always of an older generation.
    if (!parent || parent->written_by >= generation) break;
    for (size_t i = 0; i < entries.size(); ++i) {
      if (IsParent(entries[i], *parent, generation)) members.insert(i);
    }
    until = parent;
    record = parents.find(parent->written_by);
    if (record == parents.end()) {
      AddWrittenBy(entries, parent->written_by, until, members);
    }
  }
  lineage.members.assign(members.begin(), members.end());
  if (parents.empty()) {
    lineage.members.resize(entries.size());
    std::iota(lineage.members.begin(), lineage.members.end(), size_t{0});
  }
  std::ranges::sort(lineage.members, std::greater<>(), [&](size_t i) {
    return std::tuple(OrderKey(entries[i]), entries[i].name.generation);
  });
  return lineage;
}

}  // namespace gauntlet
