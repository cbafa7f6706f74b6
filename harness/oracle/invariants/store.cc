// store: checkpoints verify, nothing torn or void is loaded, the newest one and
// the newest finite one are never retired and are there in the end, neither is
// what a newer generation resumes from, retention holds, and an orderly end
// leaves no temporary files. Silent damage, what a lying disk forgets, and
// removals that the disk refuses excuse as many checkpoints and files. A power
// cut that comes when all is over may bring back what was removed, and a late
// survivor may leave what nobody clears up behind it.
#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "engine/worker_exit_code.h"
#include "harness/oracle/invariants.h"
#include "harness/oracle/late_survivor.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr uint64_t kAnyNumber = UINT32_MAX;

// Whether the run ended in an order that cleans up behind itself.
bool EndedOrderly(const Record& record) {
  return !record.launchers.empty() &&
         IsOrderlyExit(record.launchers.back().exit_code);
}

// Whether the power went with nobody to start again and clean up behind it: it
// met a late survivor.
bool LostPowerInTheEnd(const Evidence& evidence) {
  return std::ranges::any_of(evidence.firings, [&](const Firing& firing) {
    if (!firing.traits.cuts_power) return false;
    return std::ranges::none_of(
        evidence.record.lives, [&](const LifeEvents& life) {
          return !life.events.empty() &&
                 life.events.front().t_ns > firing.event().t_ns;
        });
  });
}

// Why checkpoints of one moment are bad, by name.
using BadCheckpoints = std::map<std::string, std::string, std::less<>>;

// Those that count at load and do not verify, or were set aside or passed over;
// without those that the disk forgot. What is not known by its moment stands at
// the first.
std::map<Moment, BadCheckpoints> FindBad(const Evidence& evidence,
                                         Check& check) {
  std::map<Moment, BadCheckpoints> bad;
  const auto found_bad = [&](std::string_view path, uint64_t era,
                             const std::string& reason) {
    check.Instance();
    if (evidence.IsForgotten(path, era)) return;
    const auto of = evidence.names.Find(path);
    bad[of ? of->moment : Moment{}].try_emplace(std::string(BaseName(path)),
                                                reason);
  };
  for (const LifeEvents& life : evidence.record.lives) {
    for (const RecordEvent& event : life.events) {
      if (event.kind != RecordKind::kRejected) continue;
      found_bad(event.path, evidence.EraOf(life), event.detail);
    }
  }
  for (const StoredCheckpoint& checkpoint : evidence.record.left.checkpoints) {
    if (checkpoint.valid) {
      check.Instance();
    } else {
      found_bad(checkpoint.name, evidence.End().era, checkpoint.reason);
    }
  }
  for (const auto& [moment, when] : evidence.passed_over) {
    if (bad.contains(moment)) continue;
    bad[moment]["step " + ToText(moment)] = "passed over by a claim";
  }
  return bad;
}

// At most as many of a moment as the plan damaged.
void CheckVerification(const Evidence& evidence, Check& check) {
  for (const auto& [moment, bad] : FindBad(evidence, check)) {
    const auto damaged = evidence.damaged_files.find(moment);
    const size_t excused =
        damaged == evidence.damaged_files.end() ? 0 : damaged->second.size();
    if (bad.size() <= excused) continue;
    for (const auto& [name, reason] : bad) {
      check.Breach("does-not-verify",
                   fmt::format("{}: {} (the plan damaged {} of its moment, {} "
                               "do not verify)",
                               name, reason, excused, bad.size()));
    }
  }
}

using SavedStates = std::map<Moment, std::set<std::string_view>>;  // digests

void CheckLoad(const SavedStates& saved, const LifeEvents& life,
               const RecordEvent& event, const Moment& moment, Check& check) {
  const auto found = saved.find(moment);
  if (found == saved.end() || found->second.contains(event.digest)) return;
  check.Breach(
      "torn-load",
      fmt::format("{} loaded state {} of step {}, saved was {}", NameOf(life),
                  event.digest, ToText(moment), *found->second.begin()));
}

// What was loaded is what was acknowledged, and is not void.
void CheckLoads(const Evidence& evidence, Check& check) {
  SavedStates saved;
  for (const auto& [id, generation] : evidence.generations) {
    for (const Acknowledged& save : generation.saves) {
      saved[save.moment].insert(save.digest);
    }
  }
  for (const LifeEvents& life : evidence.record.lives) {
    std::set<std::string_view> fenced;
    MomentOfLife now;
    for (const RecordEvent& event : life.events) {
      now.Take(event);
      if (event.kind == RecordKind::kFencedFound) {
        fenced.insert(BaseName(event.path));
      } else if (event.kind == RecordKind::kGeneration) {
        // Its claim finds anew what is void.
        fenced.clear();
      }
      if (event.kind != RecordKind::kLoaded &&
          event.kind != RecordKind::kResumed) {
        continue;
      }
      check.Instance();
      const auto named = evidence.names.Find(event.path);
      CheckLoad(saved, life, event,
                event.kind == RecordKind::kLoaded && named ? named->moment
                                                           : now.Of(event),
                check);
      if (fenced.contains(BaseName(event.path))) {
        check.Breach("fenced-read",
                     fmt::format("{} loaded {}, which its lineage makes void",
                                 NameOf(life), BaseName(event.path)));
      }
    }
  }
}

// A claim that names its parent.
struct ParentClaim {
  GenerationId generation;
  int64_t t_ns = 0;
  std::string_view parent;  // base name
};

std::vector<ParentClaim> ParentClaims(const Evidence& evidence) {
  std::vector<ParentClaim> claims;
  for (const auto& [id, generation] : evidence.generations) {
    for (const LifeEvents* life : generation.lives) {
      for (const RecordEvent& event : life->events) {
        if (event.kind != RecordKind::kGeneration) continue;
        claims.push_back({id, event.t_ns, BaseName(event.path)});
      }
    }
  }
  return claims;
}

// A checkpoint is retired only once a later one is acknowledged, or adopted: a
// save that was committed and never acknowledged is as good once a claim names
// it as the parent. A claim that falls back to an older one has nothing later.
// No generation retires what a newer one has claimed as its parent.
class Retirement {
 public:
  Retirement(const Evidence& evidence, Check& check)
      : evidence_(evidence), check_(check), claims_(ParentClaims(evidence)) {}

  void Take(const GenerationId& id, const LifeEvents& life) {
    MomentOfLife now;
    for (const RecordEvent& event : life.events) {
      now.Take(event);
      if (event.kind == RecordKind::kSaveAcknowledged) {
        newest_ = std::max(newest_.value_or(Moment{}), now.Of(event));
        TakeCounting(now.Of(event));
      } else if (event.kind == RecordKind::kGeneration) {
        const auto parent = evidence_.names.Find(event.path);
        newest_.reset();
        finite_.erase(finite_.upper_bound(parent ? parent->moment : Moment{}),
                      finite_.end());
        if (parent) newest_ = parent->moment;
        if (parent) TakeCounting(parent->moment);
      } else if (event.kind == RecordKind::kRejected) {
        const auto rejected = evidence_.names.Find(event.path);
        if (rejected) finite_.erase(rejected->moment);
      } else if (event.kind == RecordKind::kRetired) {
        Retire(life, event);
        CheckNoNewerParent(id, life, event);
      }
    }
  }

 private:
  void Retire(const LifeEvents& life, const RecordEvent& event) {
    check_.Instance();
    const auto retired = evidence_.names.Find(event.path);
    if (!retired) return;
    if (evidence_.IsFinite(retired->moment) &&
        finite_.upper_bound(retired->moment) == finite_.end()) {
      check_.Breach("retired-finite",
                    fmt::format("{} retired {}, and no later save with a "
                                "finite state is there",
                                NameOf(life), BaseName(event.path)));
    }
    if (newest_ && retired->moment < *newest_) return;
    check_.Breach("retired-newest",
                  fmt::format("{} retired {} when no later save was "
                              "acknowledged",
                              NameOf(life), BaseName(event.path)));
  }

  void CheckNoNewerParent(const GenerationId& id, const LifeEvents& life,
                          const RecordEvent& event) {
    const std::string_view name = BaseName(event.path);
    const auto claim = std::ranges::find_if(claims_, [&](const auto& one) {
      return one.parent == name && one.t_ns < event.t_ns &&
             one.generation.store == id.store && one.generation > id;
    });
    if (claim == claims_.end()) return;
    check_.Breach(
        "retired-parent",
        fmt::format("{} of generation {} retired {}, which generation "
                    "{} had claimed as its parent",
                    NameOf(life), id.number, name, claim->generation.number));
  }

  void TakeCounting(const Moment& moment) {
    if (evidence_.IsFinite(moment)) finite_.insert(moment);
  }

  const Evidence& evidence_;
  Check& check_;
  const std::vector<ParentClaim> claims_;
  std::optional<Moment> newest_;  // so far
  std::set<Moment> finite_;       // that count
};

void CheckRetirement(const Evidence& evidence, Check& check) {
  Retirement retirement(evidence, check);
  for (const auto& [id, generation] : evidence.generations) {
    for (const LifeEvents* life : generation.lives) retirement.Take(id, *life);
  }
}

// Whether the error may meet the sync that a removal makes: one that does not
// void the save meets what is done next.
bool IsOfADirectorysSync(const RecordFault& fault) {
  return (fault.kind == "errno" || fault.kind == "fsync_fails") &&
         (fault.point == "ckpt.commit.fsync" || fault.point == "ckpt.dirsync");
}

// How many removals the disk may have refused; one of several hits is logged
// once.
uint64_t RefusedRemovals(const Evidence& evidence) {
  uint64_t refused = 0;
  uint64_t syncs = 0;
  for (const Firing& firing : evidence.firings) {
    const bool of_removal = firing.fault->point.starts_with("ckpt.retire.") &&
                            firing.traits.tells_error;
    if (of_removal && firing.fault->always) return kAnyNumber;
    if (of_removal) refused += firing.fault->hits;
    if (IsOfADirectorysSync(*firing.fault)) syncs += firing.fault->hits;
  }
  uint64_t failed_saves = 0;
  for (const auto& [id, generation] : evidence.generations) {
    failed_saves += generation.failed_saves.size();
  }
  return refused + (syncs > failed_saves ? syncs - failed_saves : 0);
}

// The newest save that is owed is there, or a later one.
void CheckNewest(const Evidence& evidence, Check& check) {
  std::optional<Moment> newest;
  for (const Acknowledged& save : evidence.GoodSavesBefore(evidence.End())) {
    newest = std::max(newest.value_or(save.moment), save.moment);
  }
  if (!newest) return;
  check.Instance();
  std::optional<Moment> loadable;
  for (const StoredCheckpoint& checkpoint : evidence.record.left.checkpoints) {
    const auto of = evidence.names.Find(checkpoint.name);
    if (!checkpoint.valid || !of) continue;
    loadable = std::max(loadable.value_or(of->moment), of->moment);
  }
  if (loadable && *loadable >= *newest) return;
  check.Breach("newest-lost",
               fmt::format("the save of step {} was acknowledged, the newest "
                           "that verifies is {}",
                           ToText(*newest),
                           loadable ? "of step " + ToText(*loadable) : "none"));
}

// Of a run with states that are not finite: the newest finite save that is owed
// is there, or a later one that is finite.
void CheckNewestFinite(const Evidence& evidence, Check& check) {
  if (evidence.not_finite.empty()) return;
  std::optional<Moment> newest;
  for (const Acknowledged& save : evidence.GoodSavesBefore(evidence.End())) {
    if (!save.finite) continue;
    newest = std::max(newest.value_or(save.moment), save.moment);
  }
  if (!newest) return;
  check.Instance();
  for (const StoredCheckpoint& checkpoint : evidence.record.left.checkpoints) {
    const auto of = evidence.names.Find(checkpoint.name);
    if (checkpoint.valid && checkpoint.not_finite_since == 0 && of &&
        of->moment >= *newest) {
      return;
    }
  }
  check.Breach("finite-lost",
               fmt::format("the save of step {}, whose state is finite, was "
                           "acknowledged, and no finite one that is as new is "
                           "left",
                           ToText(*newest)));
}

// Names of checkpoints that a claim found void: retention leaves them alone.
// One whose state is, bit for bit, a parent's counts again from the claim that
// names it as its parent.
std::set<std::string_view> FencedFound(const Record& record) {
  std::map<std::string_view, int64_t> found_ns;
  std::map<std::string_view, int64_t> parent_ns;
  for (const LifeEvents& life : record.lives) {
    for (const RecordEvent& event : life.events) {
      const bool is_parent = event.kind == RecordKind::kGeneration;
      if (!is_parent && event.kind != RecordKind::kFencedFound) continue;
      int64_t& newest_ns = (is_parent ? parent_ns : found_ns)
                               .try_emplace(BaseName(event.path), INT64_MIN)
                               .first->second;
      newest_ns = std::max(newest_ns, event.t_ns);
    }
  }
  std::set<std::string_view> names;
  for (const auto& [name, t_ns] : found_ns) {
    const auto parent = parent_ns.find(name);
    if (parent == parent_ns.end() || parent->second < t_ns) names.insert(name);
  }
  return names;
}

// How many retention keeps beside the newest: the newest finite one, where none
// of them is.
uint64_t BesideTheNewest(std::vector<const StoredCheckpoint*> checkpoints,
                         uint64_t keep) {
  std::ranges::stable_sort(checkpoints, std::ranges::greater(),
                           &StoredCheckpoint::step);
  const auto finite = std::ranges::find(checkpoints, uint64_t{0},
                                        &StoredCheckpoint::not_finite_since);
  const auto place = static_cast<uint64_t>(finite - checkpoints.begin());
  return finite != checkpoints.end() && place >= keep ? 1 : 0;
}

// An orderly end leaves as many as retention keeps, and nothing half done.
void CheckOrder(const Evidence& evidence, Check& check) {
  const Record& record = evidence.record;
  const Leftovers& left = record.left;
  check.Instance();
  const std::set<std::string_view> fenced = FencedFound(record);
  std::vector<const StoredCheckpoint*> counting;
  for (const StoredCheckpoint& checkpoint : left.checkpoints) {
    if (checkpoint.valid && !fenced.contains(checkpoint.name)) {
      counting.push_back(&checkpoint);
    }
  }
  const auto valid = static_cast<uint64_t>(counting.size());
  // A removal that the disk refused is reported and made up for by the next
  // generation, if there is one.
  const uint64_t refused = RefusedRemovals(evidence);
  const auto keep = static_cast<uint64_t>(record.setup.keep);
  const uint64_t most = keep + BesideTheNewest(std::move(counting), keep);
  if (keep > 0 && valid > most + refused) {
    check.Breach("retention", fmt::format("{} checkpoints are left, expected "
                                          "at most {}",
                                          valid, most));
  }
  uint64_t half_gone = 0;
  for (const std::string& name : left.temporary) {
    if (++half_gone <= refused) continue;
    check.Breach("temporary", fmt::format("{} is left behind", name));
  }
}

void CheckLeftovers(const Evidence& evidence, Check& check) {
  const Record& record = evidence.record;
  const bool deleted = evidence.Done() && DeletesStoreAtTheEnd(record);
  if (!record.left.store_listed || deleted) return;
  CheckNewest(evidence, check);
  CheckNewestFinite(evidence, check);
  if (EndedOrderly(record) && !LostPowerInTheEnd(evidence) &&
      !HadLateSurvivorAfter(record, LastClaim(record))) {
    CheckOrder(evidence, check);
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
