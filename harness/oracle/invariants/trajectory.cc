// trajectory: every digest and loss of every life is the reference's.
//
// An event of training (initialized, step, evaluated, epoch_end) is held
// against the reference's event of the same kind, step and phase. A state that
// was saved, loaded or gone on from is held against the reference's at that
// step and phase; where the reference has no digest there, it cannot be checked
// and is not counted. The state that a run finishes with is the reference's
// last.
#include <algorithm>
#include <vector>

#include "harness/oracle/invariants.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// The reference's entries, to be found by their step.
class GoldenIndex {
 public:
  explicit GoldenIndex(const GoldenTrajectory& golden) {
    for (const GoldenEntry& entry : golden.entries) entries_.push_back(&entry);
    std::ranges::stable_sort(entries_, {}, &GoldenEntry::step);
  }

  // Null: it has none.
  const GoldenEntry* Find(const RecordEvent& event) const {
    return LastOf(event.step, [&](const GoldenEntry& entry) {
      return entry.phase == event.phase && entry.kind == event.kind;
    });
  }
  const GoldenEntry* Find(const Moment& moment) const {
    return LastOf(moment.step, [&](const GoldenEntry& entry) {
      return entry.phase == moment.phase;
    });
  }

 private:
  template <typename Fits>
  const GoldenEntry* LastOf(uint64_t step, const Fits& fits) const {
    auto after =
        std::ranges::upper_bound(entries_, step, {}, &GoldenEntry::step);
    for (; after != entries_.begin(); --after) {
      const GoldenEntry* const entry = *std::prev(after);
      if (entry->step != step) break;
      if (fits(*entry)) return entry;
    }
    return nullptr;
  }

  std::vector<const GoldenEntry*> entries_;  // by step, then as they came
};

std::string Where(const LifeEvents& life, const RecordEvent& event) {
  return fmt::format("{} at step {} ({})", RecordKindName(event.kind),
                     event.step, NameOf(life));
}

void CheckTraining(const GoldenIndex& golden, const LifeEvents& life,
                   const RecordEvent& event, Check& check) {
  check.Instance();
  const GoldenEntry* const found = golden.Find(event);
  if (found == nullptr) {
    return check.Breach(
        "off-trajectory",
        fmt::format("{}, phase {}: the reference has none", Where(life, event),
                    RecordPhaseName(event.phase)));
  }
  const GoldenEntry& entry = *found;
  if (!entry.digest.empty() && event.digest != entry.digest) {
    return check.Breach(
        "state-digest",
        fmt::format("{}: state {}, expected {}", Where(life, event),
                    event.digest.empty() ? "not said" : event.digest,
                    entry.digest));
  }
  if (event.loss_bits != entry.loss_bits) {
    return check.Breach("loss", fmt::format("{}: loss {:08x}, expected {:08x}",
                                            Where(life, event), event.loss_bits,
                                            entry.loss_bits));
  }
  if (event.epoch != entry.epoch || event.count != entry.count) {
    check.Breach("position",
                 fmt::format("{}: epoch {} with {} correct, expected epoch {} "
                             "with {}",
                             Where(life, event), event.epoch, event.count,
                             entry.epoch, entry.count));
  }
}

void CheckState(const GoldenIndex& golden, const LifeEvents& life,
                const RecordEvent& event, const Moment& moment, Check& check) {
  const GoldenEntry* const found = golden.Find(moment);
  if (found == nullptr) {
    check.Instance();
    return check.Breach("off-trajectory",
                        fmt::format("{}: the reference has no state of step {}",
                                    Where(life, event), ToText(moment)));
  }
  if (event.digest.empty() || found->digest.empty()) return;
  check.Instance();
  if (found->digest == event.digest) return;
  check.Breach(
      "state-digest",
      fmt::format("{}: state {}, expected {} of step {}", Where(life, event),
                  event.digest, found->digest, ToText(moment)));
}

}  // namespace

void CheckTrajectory(const Evidence& evidence, Check& check) {
  const Record& record = evidence.record;
  if (record.golden.entries.empty()) return;
  const GoldenIndex golden(record.golden);
  for (const LifeEvents& life : record.lives) {
    MomentOfLife now;
    for (const RecordEvent& event : life.events) {
      now.Take(event);
      switch (event.kind) {
        case RecordKind::kInitialized:
        case RecordKind::kStep:
        case RecordKind::kEvaluated:
        case RecordKind::kEpochEnd:
          CheckTraining(golden, life, event, check);
          break;
        case RecordKind::kResumed:
        case RecordKind::kCarriedOn:
        case RecordKind::kSaveAcknowledged:
          CheckState(golden, life, event, now.Of(event), check);
          break;
        case RecordKind::kLoaded:
          if (const auto of = evidence.names.Find(event.path)) {
            CheckState(golden, life, event, of->moment, check);
          }
          break;
        default:
          break;
      }
    }
  }
  if (!evidence.Done() || record.golden.final_digest.empty()) return;
  check.Instance();
  const std::string& found = record.launchers.back().result->digest;
  if (found != record.golden.final_digest) {
    check.Breach("final-state", fmt::format("final state {}, expected {}",
                                            found, record.golden.final_digest));
  }
}

}  // namespace gauntlet
