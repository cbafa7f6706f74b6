// samples: each row is used exactly once per epoch over the steps that count.
//
// A step counts in the newest generation that has it: what an older one did of
// it was undone by the restart. Rows of one step are those of all workers.
// Where some finished a step that a death kept others from, and a later
// generation carried on from it in memory, those others took the state over and
// say nothing of their rows: then the rows that were said are the reference's
// as far as they go.
#include <algorithm>
#include <map>
#include <span>

#include "harness/oracle/invariants.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

struct StepRows {
  GenerationId generation;
  uint64_t epoch = 0;
  std::vector<uint32_t> rows;  // as the workers told them
  size_t tellers = 0;
};

// Whether the others of its generation took it over instead of doing it.
bool WasTakenOver(const Evidence& evidence, uint64_t number,
                  const StepRows& step) {
  const Generation& generation = evidence.generations.at(step.generation);
  if (step.tellers >= generation.lives.size()) return false;
  const auto later = evidence.generations.upper_bound(step.generation);
  return std::any_of(later, evidence.generations.end(), [&](const auto& one) {
    return one.second.carried_on && one.second.carried_on->step >= number;
  });
}

void TakeReferenceRows(const Evidence& evidence,
                       std::map<uint64_t, StepRows>& steps, Check& check) {
  for (const GoldenEntry& entry : evidence.record.golden.entries) {
    const auto found = steps.find(entry.step);
    if (entry.kind != RecordKind::kStep || entry.samples.empty() ||
        found == steps.end() ||
        !WasTakenOver(evidence, entry.step, found->second)) {
      continue;
    }
    std::vector<uint32_t>& rows = found->second.rows;
    std::ranges::sort(rows);
    if (!std::ranges::includes(entry.samples, rows)) {
      check.Breach("other-rows",
                   fmt::format("step {}, which some finished, used rows that "
                               "are not the reference's",
                               entry.step));
    }
    rows = entry.samples;
  }
}

// Of an epoch's last step a worker may have none; where nobody has any, rows
// were not recorded.
bool AnyTellsRows(const Record& record) {
  return std::ranges::any_of(record.lives, [](const LifeEvents& life) {
    return std::ranges::any_of(life.events, [](const RecordEvent& event) {
      return !event.samples.empty();
    });
  });
}

std::map<uint64_t, StepRows> RowsOfSteps(const Evidence& evidence) {
  std::map<uint64_t, StepRows> steps;
  if (!AnyTellsRows(evidence.record)) return steps;
  for (const auto& [id, generation] : evidence.generations) {
    for (const LifeEvents* life : generation.lives) {
      for (const RecordEvent& event : life->events) {
        if (event.kind != RecordKind::kStep) continue;
        StepRows& step = steps[event.step];
        if (step.generation != id) {
          step = {.generation = id, .epoch = event.epoch};
          step.rows.reserve(generation.lives.size() * event.samples.size());
        }
        ++step.tellers;
        step.rows.insert(step.rows.end(), event.samples.begin(),
                         event.samples.end());
      }
    }
  }
  return steps;
}

// One more than the highest row of any step.
size_t EndOfRows(const std::map<uint64_t, StepRows>& steps) {
  size_t end = 0;
  for (const auto& [step, rows] : steps) {
    for (const uint32_t row : rows.rows) end = std::max(end, size_t{row} + 1);
  }
  return end;
}

// Compares rows in any order.
class RowCounts {
 public:
  // The rows that are told lie before `end`.
  explicit RowCounts(size_t end) : told_(end) {}

  bool Match(std::span<const uint32_t> told,
             std::span<const uint32_t> expected) {
    if (told.size() != expected.size()) return false;
    for (const uint32_t row : told) ++told_[row];
    const bool same = std::ranges::all_of(expected, [&](uint32_t row) {
      if (row >= told_.size() || told_[row] == 0) return false;
      --told_[row];
      return true;
    });
    if (!same) std::ranges::fill(told_, 0);
    return same;
  }

 private:
  std::vector<uint32_t> told_;  // by row; all 0 between two calls
};

// Against the reference, step by step, where it kept its rows too.
void CheckAgainstReference(const Evidence& evidence,
                           const std::map<uint64_t, StepRows>& steps,
                           size_t end_of_rows, Check& check) {
  // Of a step that a death cut short some workers say nothing.
  const uint64_t complete = evidence.Done() ? UINT64_MAX : 0;
  RowCounts counts(end_of_rows);
  for (const GoldenEntry& entry : evidence.record.golden.entries) {
    const auto found = steps.find(entry.step);
    if (entry.kind != RecordKind::kStep || entry.samples.empty() ||
        found == steps.end() || entry.step > complete) {
      continue;
    }
    check.Instance();
    const std::vector<uint32_t>& rows = found->second.rows;
    if (counts.Match(rows, entry.samples)) continue;
    check.Breach("other-rows",
                 fmt::format("step {} used {} rows that are not the {} of the "
                             "reference",
                             entry.step, rows.size(), entry.samples.size()));
  }
}

// The rows of an epoch.
struct EpochRows {
  explicit EpochRows(size_t end) : step_of(end) {}

  std::vector<uint64_t> step_of;  // by row; 0: not used
  uint64_t used = 0;
};

void Use(uint64_t step, const StepRows& rows, EpochRows& epoch, Check& check) {
  for (const uint32_t row : rows.rows) {
    uint64_t& used_in = epoch.step_of[row];
    if (used_in != 0) {
      check.Breach("duplicate-sample",
                   fmt::format("row {} is used in steps {} and {} of epoch {}",
                               row, used_in, step, rows.epoch));
      continue;
    }
    used_in = step;
    ++epoch.used;
  }
}

}  // namespace

void CheckSamples(const Evidence& evidence, Check& check) {
  std::map<uint64_t, StepRows> steps = RowsOfSteps(evidence);
  TakeReferenceRows(evidence, steps, check);
  const size_t end_of_rows = EndOfRows(steps);
  std::map<uint64_t, EpochRows> used;  // by epoch
  for (const auto& [step, rows] : steps) {
    check.Instance();
    EpochRows& epoch = used.try_emplace(rows.epoch, end_of_rows).first->second;
    Use(step, rows, epoch, check);
  }
  CheckAgainstReference(evidence, steps, end_of_rows, check);
  const uint64_t owed = evidence.record.setup.rows_per_epoch;
  if (!evidence.Done() || owed == 0 || used.empty()) return;
  // The last epoch may be cut by a maximum of steps: it does not count then.
  const uint64_t complete = evidence.record.launchers.back().result->epochs;
  uint64_t found = 0;
  for (const auto& [epoch, rows] : used) {
    if (epoch >= complete) break;
    check.Instance();
    ++found;
    if (rows.used == owed) continue;
    check.Breach("missing", fmt::format("epoch {} used {} rows, expected {}",
                                        epoch, rows.used, owed));
  }
  if (found == complete) return;
  check.Breach("missing", fmt::format("{} epochs are complete, {} used rows",
                                      complete, found));
}

}  // namespace gauntlet
