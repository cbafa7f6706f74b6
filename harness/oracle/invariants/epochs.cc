// epochs: the history of epochs is complete, each with the reference's metrics.
//
// Across lives an epoch may end again (its end was not saved); within a life
// each ends once and in order. A finished run has ended all that the reference
// has, and its launcher counts as many.
#include <map>
#include <set>

#include "harness/oracle/invariants.h"
#include <fmt/format.h>

namespace gauntlet {

void CheckEpochs(const Evidence& evidence, Check& check) {
  const Record& record = evidence.record;
  std::map<uint64_t, const EpochMetrics*> golden;
  for (const EpochMetrics& epoch : record.golden.epochs) {
    golden[epoch.epoch] = &epoch;
  }
  std::set<uint64_t> ended;
  for (const LifeEvents& life : record.lives) {
    uint64_t last = 0;
    bool has_ended_one = false;
    for (const RecordEvent& event : life.events) {
      // A process that rejoins may take another state.
      const bool took =
          event.kind == RecordKind::kCarriedOn && event.detail != "kept";
      if (took || event.kind == RecordKind::kResumed) {
        has_ended_one = false;
      }
      if (event.kind != RecordKind::kEpochEnd) continue;
      // Where there is no reference, only the order can be checked.
      if (has_ended_one || !golden.empty()) check.Instance();
      ended.insert(event.epoch);
      if (has_ended_one && event.epoch != last + 1) {
        check.Breach("order", fmt::format("epoch {} ends after epoch {} ({})",
                                          event.epoch, last, NameOf(life)));
      }
      last = event.epoch;
      has_ended_one = true;
      const auto found = golden.find(event.epoch);
      if (golden.empty()) continue;
      if (found == golden.end()) {
        check.Breach("too-many",
                     fmt::format("epoch {} ends, the reference has {} epochs "
                                 "({})",
                                 event.epoch, golden.size(), NameOf(life)));
      } else if (event.loss_bits != found->second->loss_bits ||
                 event.count != found->second->correct) {
        check.Breach("metrics",
                     fmt::format("epoch {}: loss {:08x} and {} correct, "
                                 "expected {:08x} and {} ({})",
                                 event.epoch, event.loss_bits, event.count,
                                 found->second->loss_bits,
                                 found->second->correct, NameOf(life)));
      }
    }
  }
  if (!evidence.Done()) return;
  for (const auto& [epoch, metrics] : golden) {
    check.Instance();
    if (!ended.contains(epoch)) {
      check.Breach("missing", fmt::format("epoch {} never ended", epoch));
    }
  }
  const uint64_t counted = record.launchers.back().result->epochs;
  if (!golden.empty() && counted != golden.size()) {
    check.Breach("count", fmt::format("the run counts {} epochs, expected {}",
                                      counted, golden.size()));
  }
}

}  // namespace gauntlet
