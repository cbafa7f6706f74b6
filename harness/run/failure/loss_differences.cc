#include "harness/run/failure/loss_differences.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/ckpt/io/tensor_difference.h"
#include "harness/oracle/history/training_position.h"
#include "harness/record/text/value_text.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr size_t kListedLosses = 20;

using LossPlace = std::pair<RecordKind, uint64_t>;  // kind of the event, step

struct Reported {
  const IncarnationEvents* incarnation = nullptr;
  const RecordEvent* event = nullptr;
};

std::string PlaceText(const RecordEvent& event) {
  switch (event.kind) {
    case RecordKind::kEvaluated:
      return fmt::format("evaluation after step {}", event.step);
    case RecordKind::kEpochEnd:
      return fmt::format("the epoch that ends with step {}", event.step);
    default:
      return fmt::format("step {}", event.step);
  }
}

std::vector<Reported> LossesByTime(const Record& record) {
  std::vector<Reported> losses;
  for (const IncarnationEvents& incarnation : record.incarnations) {
    for (const RecordEvent& event : incarnation.events) {
      if (IsOfTraining(event.kind)) losses.push_back({&incarnation, &event});
    }
  }
  std::ranges::stable_sort(losses, {},
                           [](const Reported& one) { return one.event->t_ns; });
  return losses;
}

}  // namespace

LossDifferences CompareLosses(const Record& record) {
  std::map<LossPlace, uint32_t> expected;
  for (const GoldenEntry& entry : record.golden.entries) {
    expected[{entry.kind, entry.step}] = entry.loss_bits;
  }
  LossDifferences differences;
  std::set<std::tuple<RecordKind, uint64_t, uint32_t>> known;
  for (const auto& [incarnation, event] : LossesByTime(record)) {
    const auto reference = expected.find({event->kind, event->step});
    if (reference == expected.end()) continue;
    if (!known.emplace(event->kind, event->step, event->loss_bits).second) {
      continue;
    }
    ++differences.compared;
    if (event->loss_bits == reference->second) continue;
    ++differences.differing;
    if (differences.first.size() == kListedLosses) continue;
    differences.first.push_back(
        {.place = PlaceText(*event),
         .worker = incarnation->worker,
         .incarnation = incarnation->number,
         .found = DecimalOfFloat(event->loss_bits),
         .found_bits = HexOfFloat(event->loss_bits),
         .expected = DecimalOfFloat(reference->second),
         .expected_bits = HexOfFloat(reference->second),
         .ulps = UlpDistance(event->loss_bits, reference->second)});
  }
  return differences;
}

}  // namespace gauntlet
