// store: checkpoints verify, nothing torn or void is loaded, one is always
// there, retention holds, and an orderly end leaves no temporary files.
#include <algorithm>
#include <map>
#include <set>

#include "harness/oracle/fault_traits.h"
#include "harness/oracle/invariants.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr uint64_t kAnyNumber = UINT32_MAX;

// Whether the run ended in an order that cleans up behind itself.
bool EndedOrderly(const Record& record) {
  return !record.launchers.empty() &&
         (record.launchers.back().exit_code == 0 ||
          record.launchers.back().exit_code == 143);
}

// Checkpoints that count at load and do not verify, or were set aside: at most
// as many as the plan damaged.
void CheckVerification(const Evidence& evidence, Check& check) {
  std::set<std::string> bad;
  for (const LifeEvents& life : evidence.record.lives) {
    for (const RecordEvent& event : life.events) {
      if (event.kind != RecordKind::kRejected) continue;
      check.Instance();
      bad.insert(fmt::format("{}: {}", BaseName(event.path), event.detail));
    }
  }
  for (const StoredCheckpoint& checkpoint : evidence.record.left.checkpoints) {
    check.Instance();
    if (checkpoint.valid) continue;
    bad.insert(fmt::format("{}: {}", checkpoint.name, checkpoint.reason));
  }
  if (!evidence.damage_budget || bad.size() <= *evidence.damage_budget) return;
  for (const std::string& one : bad) {
    check.Breach("does-not-verify",
                 fmt::format("{} (the plan damaged {} checkpoints, {} do not "
                             "verify)",
                             one, *evidence.damage_budget, bad.size()));
  }
}

// What was loaded is what was acknowledged, and is not void.
void CheckLoads(const Evidence& evidence, Check& check) {
  // A step may be saved in each of its phases; which of them it is to be is the
  // trajectory's to say.
  std::map<uint64_t, std::set<std::string>> saved;
  for (const auto& [number, generation] : evidence.generations) {
    for (const Acknowledged& save : generation.saves) {
      saved[save.step].insert(save.digest);
    }
  }
  for (const LifeEvents& life : evidence.record.lives) {
    std::set<std::string_view> fenced;
    for (const RecordEvent& event : life.events) {
      if (event.kind == RecordKind::kFencedFound) {
        fenced.insert(BaseName(event.path));
      }
      if (event.kind != RecordKind::kLoaded &&
          event.kind != RecordKind::kResumed) {
        continue;
      }
      check.Instance();
      const auto found = saved.find(event.step);
      if (found != saved.end() && !found->second.contains(event.digest)) {
        check.Breach("torn-load",
                     fmt::format("{} loaded state {} of step {}, saved was {}",
                                 NameOf(life), event.digest, event.step,
                                 *found->second.begin()));
      }
      if (fenced.contains(BaseName(event.path))) {
        check.Breach("fenced-read",
                     fmt::format("{} loaded {}, which its lineage makes void",
                                 NameOf(life), BaseName(event.path)));
      }
    }
  }
}

// Of "step-000000006-callbacks_due-g2" what comes before the generation: one
// state has it in all of them.
std::string_view StemOf(std::string_view path) {
  const std::string_view name = BaseName(path);
  return name.substr(0, name.rfind("-g"));
}

// The newest save so far. Of one step there may be one in each phase.
struct NewestSave {
  uint64_t step = 0;
  std::string_view stem;

  void Take(uint64_t at, std::string_view path) {
    if (at >= step) *this = {.step = at, .stem = StemOf(path)};
  }
  // Whether that checkpoint may go.
  bool IsLaterThan(uint64_t at, std::string_view path) const {
    return at < step || (at == step && StemOf(path) != stem);
  }
};

// A checkpoint is retired only once a later one is acknowledged, or adopted: a
// save that was committed and never acknowledged is as good once a claim names
// it as the parent.
void CheckRetirement(const Evidence& evidence, Check& check) {
  NewestSave before;  // of older generations
  for (const auto& [number, generation] : evidence.generations) {
    NewestSave newest = before;
    for (const LifeEvents* life : generation.lives) {
      NewestSave saved = before;
      for (const RecordEvent& event : life->events) {
        if (event.kind == RecordKind::kSaveAcknowledged) {
          saved.Take(event.step, event.path);
        } else if (event.kind == RecordKind::kGeneration) {
          saved.Take(StepOfPath(event.path).value_or(0), event.path);
        }
        if (event.kind != RecordKind::kRetired) continue;
        check.Instance();
        const std::optional<uint64_t> step = StepOfPath(event.path);
        if (step && !saved.IsLaterThan(*step, event.path)) {
          check.Breach("retired-newest",
                       fmt::format("{} retired {} when no later save was "
                                   "acknowledged",
                                   NameOf(*life), BaseName(event.path)));
        }
      }
      if (saved.step >= newest.step) newest = saved;
    }
    before = newest;
  }
}

// Whether the error may meet the sync that a removal makes: one that does not
// void the save meets what is done next.
bool IsOfADirectorysSync(const RecordFault& fault) {
  return (fault.kind == "errno" || fault.kind == "fsync_fails") &&
         (fault.point == "ckpt.commit.fsync" || fault.point == "ckpt.dirsync");
}

// How many removals the disk may have refused; one of every hit is logged once.
uint64_t RefusedRemovals(const Evidence& evidence) {
  uint64_t refused = 0;
  uint64_t syncs = 0;
  for (const Firing& firing : evidence.firings) {
    const bool of_removal = firing.fault->point.starts_with("ckpt.retire.") &&
                            !TraitsOf(*firing.fault).may_end_life;
    if (of_removal && firing.fault->always) return kAnyNumber;
    if (of_removal) ++refused;
    if (IsOfADirectorysSync(*firing.fault)) ++syncs;
  }
  uint64_t failed_saves = 0;
  for (const auto& [number, generation] : evidence.generations) {
    failed_saves += generation.failed_saves;
  }
  return refused + (syncs > failed_saves ? syncs - failed_saves : 0);
}

void CheckLeftovers(const Evidence& evidence, Check& check) {
  const Record& record = evidence.record;
  const Leftovers& left = record.left;
  const bool deleted = evidence.Done() && record.setup.delete_at_success;
  if (!left.store_listed || deleted) return;
  uint64_t newest = 0;
  for (const Acknowledged& save : evidence.GoodSavesBefore(UINT64_MAX)) {
    newest = std::max(newest, save.step);
  }
  uint64_t valid = 0;
  uint64_t loadable = 0;
  for (const StoredCheckpoint& checkpoint : left.checkpoints) {
    if (!checkpoint.valid) continue;
    ++valid;
    loadable = std::max(loadable, checkpoint.step);
  }
  if (newest > 0) {
    check.Instance();
    if (loadable < newest) {
      check.Breach("newest-lost",
                   fmt::format("the save of step {} was acknowledged, the "
                               "newest that verifies is of step {}",
                               newest, loadable));
    }
  }
  if (!EndedOrderly(record)) return;
  check.Instance();
  // A removal that the disk refused is reported and made up for by the next
  // generation, if there is one.
  const uint64_t refused = RefusedRemovals(evidence);
  const auto keep = static_cast<uint64_t>(record.setup.keep);
  if (keep > 0 && valid > keep + refused) {
    check.Breach("retention", fmt::format("{} checkpoints are left, expected "
                                          "at most {}",
                                          valid, keep));
  }
  uint64_t half_gone = 0;
  for (const std::string& name : left.temporary) {
    if (++half_gone <= refused) continue;
    check.Breach("temporary", fmt::format("{} is left behind", name));
  }
}

}  // namespace

void CheckStore(const Evidence& evidence, Check& check) {
  CheckVerification(evidence, check);
  CheckLoads(evidence, check);
  CheckRetirement(evidence, check);
  CheckLeftovers(evidence, check);
}

}  // namespace gauntlet
