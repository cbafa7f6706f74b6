#include "harness/explore/divergence.h"

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/ckpt/tensor_difference.h"
#include "harness/oracle/moment.h"
#include "harness/run/reference.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

// A state is known by where it stands.
using Standing = std::pair<uint64_t, RecordPhase>;

bool Departs(const std::map<Standing, const GoldenEntry*>& golden,
             const RecordEvent& event) {
  const auto found = golden.find({event.step, event.phase});
  if (found == golden.end()) return true;
  const GoldenEntry& entry = *found->second;
  if (!entry.digest.empty() && event.digest != entry.digest) return true;
  return IsOfTraining(event.kind) && event.loss_bits != entry.loss_bits;
}

// Where the operation of a departure begins.
std::pair<uint64_t, Phase> BeginOf(const Departure& departure) {
  switch (departure.kind) {
    case RecordKind::kStep:
      return {departure.step - 1, Phase::kInEpoch};
    case RecordKind::kEvaluated:
      return {departure.step, Phase::kEvaluationDue};
    case RecordKind::kEpochEnd:
      return {departure.step, Phase::kCallbacksDue};
    default:
      return {departure.step, static_cast<Phase>(departure.phase)};
  }
}

// "[3,17]"; "" where there is but one.
std::string Coordinates(uint64_t index, const std::vector<uint64_t>& shape) {
  if (shape.empty()) return "";
  std::vector<uint64_t> at(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    at[i] = index % shape[i];
    index /= shape[i];
  }
  return fmt::format("[{}]", fmt::join(at, ","));
}

std::optional<ValueDifference> CompareValues(const Tensor& found,
                                             const Tensor& expected) {
  const auto tensors = CompareTensor(ViewOf(found), ViewOf(expected));
  if (!tensors) return std::nullopt;
  ValueDifference difference = {.where = expected.name};
  if (!tensors->kind.empty()) {
    difference.found = tensors->kind;
    return difference;
  }
  difference.element = Coordinates(tensors->first_element, expected.shape);
  difference.found = tensors->first_hex;
  difference.expected = tensors->second_hex;
  difference.ulps = tensors->ulps;
  difference.differing = tensors->differing;
  difference.elements = tensors->elements;
  return difference;
}

std::optional<ValueDifference> CompareStates(
    const std::vector<Tensor>& found, const std::vector<Tensor>& expected) {
  for (size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
    if (auto difference = CompareValues(found[i], expected[i])) {
      return difference;
    }
  }
  return std::nullopt;
}

std::optional<ValueDifference> CompareBefore(const StepTrace& broken,
                                             const StepTrace& reference) {
  auto difference = CompareStates(broken.before, reference.before);
  if (!difference) return std::nullopt;
  difference->where = "tensor " + difference->where;
  difference->worker = broken.worker;
  return difference;
}

// What the operation wrote into the state last.
std::optional<ValueDifference> CompareAfter(const StepTrace& broken,
                                            const StepTrace& reference) {
  auto difference = CompareStates(broken.after, reference.after);
  if (!difference) return std::nullopt;
  const std::string& name = difference->where;
  const bool counted = name.starts_with("position/") ||
                       name.starts_with("metrics/") ||
                       name.starts_with("history/") || name == "rng/key";
  difference->where =
      fmt::format("operation {}, tensor {}",
                  counted ? "bookkeeping" : "optimizer update", name);
  difference->worker = broken.worker;
  return difference;
}

// Of one operation, in the order of replicas.
std::optional<ValueDifference> CompareOutput(
    const std::vector<StepTrace>& broken, const TracedOutput& expected) {
  for (const StepTrace& trace : broken) {
    for (const TracedOutput& found : trace.outputs) {
      if (found.replica != expected.replica ||
          found.values.name != expected.values.name) {
        continue;
      }
      auto difference = CompareValues(found.values, expected.values);
      if (!difference) continue;
      difference->where = "operation " + difference->where;
      difference->replica = found.replica;
      difference->worker = trace.worker;
      return difference;
    }
  }
  return std::nullopt;
}

// The reference's outputs, operation by operation, in each by replica.
std::vector<const TracedOutput*> ByOperation(const StepTrace& reference) {
  std::map<std::string, size_t> order;
  std::vector<const TracedOutput*> outputs;
  for (const TracedOutput& output : reference.outputs) {
    order.emplace(output.values.name, order.size());
    outputs.push_back(&output);
  }
  std::ranges::stable_sort(outputs, {}, [&](const TracedOutput* output) {
    return std::pair(order[output->values.name], output->replica);
  });
  return outputs;
}

std::string ValueText(const ValueDifference& value) {
  std::string text = value.where;
  if (value.replica >= 0) text += fmt::format(", replica {}", value.replica);
  text += fmt::format(", worker {}", value.worker);
  if (!value.element.empty()) text += ", element " + value.element;
  text += ": " + value.found;
  if (value.expected.empty()) return text;
  text += ", expected " + value.expected;
  if (value.ulps) text += fmt::format(" ({} ulp)", *value.ulps);
  if (value.elements > 1) {
    text += fmt::format("; {} of {} values differ", value.differing,
                        value.elements);
  }
  return text;
}

std::string PlaceText(const Departure& departure) {
  switch (departure.kind) {
    case RecordKind::kEvaluated:
      return fmt::format("evaluation after step {}", departure.step);
    case RecordKind::kEpochEnd:
      return fmt::format("end of the epoch after step {}", departure.step);
    default:
      return fmt::format("step {}", departure.step);
  }
}

// Recorders for the lives that count, and whoever planted something inside.
class Recorders {
 public:
  Recorders(int life, StepRecorder::Wanted wanted, const ProbeOf& planted)
      : life_(life), wanted_(std::move(wanted)), planted_(planted) {}

  StepProbe* For(int worker, int life) {
    StepProbe* const inner = planted_ ? planted_(worker, life) : nullptr;
    if (life != life_) return inner;
    std::unique_ptr<StepRecorder>& recorder = recorders_[worker];
    recorder = std::make_unique<StepRecorder>(worker, wanted_, inner);
    return recorder.get();
  }

  // Of those that saw something, by worker.
  std::vector<StepTrace> Traces() const {
    std::vector<StepTrace> traces;
    for (const auto& [worker, recorder] : recorders_) {
      if (!recorder->trace().before.empty()) {
        traces.push_back(recorder->trace());
      }
    }
    return traces;
  }

 private:
  const int life_;
  const StepRecorder::Wanted wanted_;
  const ProbeOf& planted_;
  std::map<int, std::unique_ptr<StepRecorder>> recorders_;
};

std::vector<StepTrace> TracesOf(const RunPlan& plan, const DataSplit& data,
                                Recorders recorders) {
  FiberPool pool;
  RunProbed(pool, plan, data,
            [&](int worker, int life) { return recorders.For(worker, life); });
  return recorders.Traces();
}

}  // namespace

std::optional<Departure> FirstDeparture(const Record& record) {
  if (record.golden.entries.empty()) return std::nullopt;
  std::map<Standing, const GoldenEntry*> golden;
  for (const GoldenEntry& entry : record.golden.entries) {
    golden[{entry.step, entry.phase}] = &entry;
  }
  std::optional<Departure> first;
  int64_t first_ns = 0;
  for (const LifeEvents& life : record.lives) {
    for (const RecordEvent& event : life.events) {
      if (!IsOfTraining(event.kind) && !IsOfStart(event.kind)) continue;
      if (!Departs(golden, event)) continue;
      if (!first || event.t_ns < first_ns) {
        first_ns = event.t_ns;
        first = Departure{.kind = event.kind,
                          .worker = life.worker,
                          .life = life.life,
                          .step = event.step,
                          .phase = event.phase};
      }
      break;  // the later ones of this life come later
    }
  }
  return first;
}

std::optional<ValueDifference> CompareStarts(
    const std::vector<StepTrace>& broken, const StepTrace& reference) {
  for (const StepTrace& trace : broken) {
    if (auto difference = CompareBefore(trace, reference)) return difference;
  }
  return std::nullopt;
}

std::optional<ValueDifference> CompareOperations(
    const std::vector<StepTrace>& broken, const StepTrace& reference) {
  for (const TracedOutput* output : ByOperation(reference)) {
    if (auto difference = CompareOutput(broken, *output)) return difference;
  }
  for (const StepTrace& trace : broken) {
    if (auto difference = CompareAfter(trace, reference)) return difference;
  }
  return std::nullopt;
}

Result<Divergence> FindDivergence(const RunPlan& plan, const DataSplit& data,
                                  const Departure& departure,
                                  const ProbeOf& planted) {
  const auto begin = BeginOf(departure);
  const auto there = [begin](uint64_t step, Phase phase) {
    return std::pair(step, phase) == begin;
  };
  const std::vector<StepTrace> reference =
      TracesOf(ReferencePlanOf(plan, data), data, Recorders(1, there, nullptr));
  if (reference.empty()) {
    return NotFound(fmt::format(
        "the reference run is never where {} begins (step {}, {})",
        PlaceText(departure), begin.first, PhaseName(begin.second)));
  }
  // A life that starts wrong may believe to be anywhere.
  const StepRecorder::Wanted first = [](uint64_t, Phase) { return true; };
  const std::vector<StepTrace> broken =
      TracesOf(plan, data,
               Recorders(departure.life,
                         IsOfStart(departure.kind) ? first : there, planted));
  Divergence divergence = {.departure = departure,
                           .first = CompareStarts(broken, reference[0]),
                           .then = CompareOperations(broken, reference[0])};
  if (!divergence.first) divergence.first.swap(divergence.then);
  return divergence;
}

std::string DescribeDivergence(const Divergence& divergence) {
  const Departure& departure = divergence.departure;
  if (IsOfStart(departure.kind)) {
    const std::string what =
        departure.kind == RecordKind::kResumed
            ? fmt::format("the state loaded at step {} differs", departure.step)
        : departure.kind == RecordKind::kCarriedOn
            ? fmt::format("the state taken at step {} differs", departure.step)
            : "the initial state differs";
    if (!divergence.first) {
      return fmt::format("{}: worker {}, incarnation {}", what,
                         departure.worker, departure.life);
    }
    std::string text = what + ": " + ValueText(*divergence.first);
    if (divergence.then) text += "; then " + ValueText(*divergence.then);
    return text;
  }
  if (divergence.first) {
    return fmt::format("first difference: {}, {}", PlaceText(departure),
                       ValueText(*divergence.first));
  }
  return fmt::format(
      "first difference: {}, worker {}, incarnation {}; made again, its "
      "operations "
      "are the reference's",
      PlaceText(departure), departure.worker, departure.life);
}

}  // namespace gauntlet
