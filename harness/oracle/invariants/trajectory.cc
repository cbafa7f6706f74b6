// trajectory: every digest and loss of every life is the reference's.
//
// An event of training (initialized, step, evaluated, epoch_end) is held
// against the reference's event of the same kind, step and phase. A state that
// was saved, loaded or gone on from is held against the reference's at that
// step and phase; where the reference has no digest there, it cannot be checked
// and is not counted. The state that a run finishes with is the reference's
// last.
#include <map>
#include <tuple>

#include "harness/oracle/invariants.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

using Key = std::tuple<uint64_t, RecordPhase, RecordKind>;

struct GoldenIndex {
  explicit GoldenIndex(const GoldenTrajectory& golden) {
    for (const GoldenEntry& entry : golden.entries) {
      entries[{entry.step, entry.phase, entry.kind}] = &entry;
      digests[{.step = entry.step, .phase = entry.phase}] = entry.digest;
    }
  }
  std::map<Key, const GoldenEntry*> entries;
  std::map<Moment, std::string_view> digests;
};

std::string Where(const LifeEvents& life, const RecordEvent& event) {
  return fmt::format("{} at step {} ({})", RecordKindName(event.kind),
                     event.step, NameOf(life));
}

void CheckTraining(const GoldenIndex& golden, const LifeEvents& life,
                   const RecordEvent& event, Check& check) {
  check.Instance();
  const auto found =
      golden.entries.find(Key{event.step, event.phase, event.kind});
  if (found == golden.entries.end()) {
    return check.Breach(
        "off-trajectory",
        fmt::format("{}, phase {}: the reference has none", Where(life, event),
                    RecordPhaseName(event.phase)));
  }
  const GoldenEntry& entry = *found->second;
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
  const auto found = golden.digests.find(moment);
  if (found == golden.digests.end()) {
    check.Instance();
    return check.Breach("off-trajectory",
                        fmt::format("{}: the reference has no state of step {}",
                                    Where(life, event), ToText(moment)));
  }
  if (event.digest.empty() || found->second.empty()) return;
  check.Instance();
  if (found->second == event.digest) return;
  check.Breach(
      "state-digest",
      fmt::format("{}: state {}, expected {} of step {}", Where(life, event),
                  event.digest, found->second, ToText(moment)));
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
