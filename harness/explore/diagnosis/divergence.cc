#include "harness/explore/diagnosis/divergence.h"

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/ckpt/io/tensor_difference.h"
#include "harness/oracle/history/training_position.h"
#include "harness/record/text/value_text.h"
#include "harness/run/reference.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

// A state's place in the run: step and phase.
using StepAndPhase = std::pair<uint64_t, RecordPhase>;

bool Departs(const std::map<StepAndPhase, const GoldenEntry*>& golden,
             const RecordEvent& event) {
  const auto found = golden.find({event.step, event.phase});
  if (found == golden.end()) return true;
  const GoldenEntry& entry = *found->second;
  if (!entry.digest.empty() && event.digest != entry.digest) return true;
  return IsOfTraining(event.kind) && event.loss_bits != entry.loss_bits;
}

// Returns the step and phase at which the operation that reported the departure
// begins.
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

// Returns "[3,17]"; "" for a scalar.
std::string Coordinates(uint64_t index, const std::vector<uint64_t>& shape) {
  if (shape.empty()) return "";
  std::vector<uint64_t> at(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    at[i] = index % shape[i];
    index /= shape[i];
  }
  return fmt::format("[{}]", fmt::join(at, ","));
}

DifferingElement ToDifferingElement(const ElementDifference& element,
                                    const Tensor& tensor) {
  const auto decimal = [&tensor](uint64_t bits) {
    switch (tensor.dtype) {
      case DType::kF32:
        return DecimalOfFloat(static_cast<uint32_t>(bits));
      case DType::kI64:
        return fmt::to_string(static_cast<int64_t>(bits));
      default:
        return fmt::to_string(bits);
    }
  };
  const auto hex = [&tensor](uint64_t bits) {
    return fmt::format("{:0{}x}", bits, 2 * DTypeBytes(tensor.dtype));
  };
  return {.index = Coordinates(element.element, tensor.shape),
          .found = decimal(element.first_bits),
          .found_bits = hex(element.first_bits),
          .expected = decimal(element.second_bits),
          .expected_bits = hex(element.second_bits),
          .ulps = element.ulps};
}

// Lists at most `most` elements that differ.
std::optional<DifferingTensor> CompareValues(const Tensor& found,
                                             const Tensor& expected,
                                             size_t most) {
  const auto tensors = CompareTensor(ViewOf(found), ViewOf(expected));
  if (!tensors) return std::nullopt;
  DifferingTensor difference = {.name = expected.name};
  if (!tensors->kind.empty()) {
    difference.mismatch = tensors->kind;
    return difference;
  }
  difference.elements = tensors->elements;
  difference.differing = tensors->differing;
  for (const ElementDifference& element :
       CompareElements(ViewOf(found), ViewOf(expected), most)) {
    difference.first.push_back(ToDifferingElement(element, expected));
  }
  return difference;
}

std::optional<StateDifference> CompareStates(
    int worker, const std::vector<Tensor>& found,
    const std::vector<Tensor>& expected) {
  StateDifference difference = {
      .worker = worker, .compared = std::min(found.size(), expected.size())};
  size_t room = kListedElements;
  for (size_t i = 0; i < difference.compared; ++i) {
    auto tensor = CompareValues(found[i], expected[i], room);
    if (!tensor) continue;
    room -= tensor->first.size();
    if (difference.differing++ < kListedTensors) {
      difference.tensors.push_back(*std::move(tensor));
    }
  }
  if (difference.tensors.empty()) return std::nullopt;
  return difference;
}

// Compares the states after the operation.
std::optional<StateDifference> CompareAfter(const StepTrace& broken,
                                            const StepTrace& reference) {
  auto difference = CompareStates(broken.worker, broken.after, reference.after);
  if (!difference) return std::nullopt;
  const std::string& name = difference->tensors.front().name;
  const bool counted = name.starts_with("position/") ||
                       name.starts_with("metrics/") ||
                       name.starts_with("history/") || name == "rng/key";
  difference->operation = counted ? "bookkeeping" : "optimizer update";
  return difference;
}

// Compares the expected output with the output of the same operation and
// replica in the broken run.
std::optional<StateDifference> CompareOutput(
    const std::vector<StepTrace>& broken, const TracedOutput& expected) {
  for (const StepTrace& trace : broken) {
    for (const TracedOutput& found : trace.outputs) {
      if (found.replica != expected.replica ||
          found.values.name != expected.values.name) {
        continue;
      }
      auto tensor =
          CompareValues(found.values, expected.values, kListedElements);
      if (!tensor) continue;
      return StateDifference{.operation = expected.values.name,
                             .replica = found.replica,
                             .worker = trace.worker,
                             .compared = 1,
                             .differing = 1,
                             .tensors = {*std::move(tensor)}};
    }
  }
  return std::nullopt;
}

// Returns the reference's outputs, ordered by operation, then by replica.
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

// Returns "0, expected 2560"; with bits if the decimals are equal, as for NaNs.
std::string ValuesText(const DifferingElement& value) {
  if (value.found != value.expected) {
    return fmt::format("{}, expected {}", value.found, value.expected);
  }
  return fmt::format("{}, expected {}",
                     ValueText(value.found, value.found_bits),
                     ValueText(value.expected, value.expected_bits));
}

std::string DifferenceText(const StateDifference& difference) {
  std::string text = WhereText(difference);
  if (difference.replica >= 0) {
    text += fmt::format(", replica {}", difference.replica);
  }
  text += fmt::format(", worker {}", difference.worker);
  const DifferingTensor& tensor = difference.tensors.front();
  if (tensor.first.empty()) return text + ": " + tensor.mismatch;
  const DifferingElement& value = tensor.first.front();
  if (!value.index.empty()) text += ", element " + value.index;
  text += ": " + ValuesText(value);
  if (value.ulps) text += fmt::format(" ({} ulp)", *value.ulps);
  if (tensor.elements > 1) {
    text += fmt::format("; {} of {} values differ", tensor.differing,
                        tensor.elements);
  }
  return text;
}

// Returns the meaning of a state entry; "" if its name is clear enough.
std::string_view MeaningOf(std::string_view entry) {
  if (entry == "position/sample") return "next sample of the epoch";
  if (entry == "position/epoch") return "completed epochs";
  if (entry == "position/step") return "completed steps";
  if (entry == "rng/key") return "key of the random numbers";
  if (entry.starts_with("metrics/")) return "running metrics of the epoch";
  if (entry.starts_with("history/")) return "metrics of ended epochs";
  return "";
}

// Returns "position/sample (next sample of the epoch) is 0, expected 2560".
std::string StartText(const StateDifference& difference) {
  const DifferingTensor& tensor = difference.tensors.front();
  std::string text = tensor.name;
  if (const auto meaning = MeaningOf(tensor.name); !meaning.empty()) {
    text += fmt::format(" ({})", meaning);
  }
  if (tensor.first.empty()) return text + ": " + tensor.mismatch;
  const DifferingElement& value = tensor.first.front();
  if (!value.index.empty()) text += ", element " + value.index + ",";
  text += " is " + ValuesText(value);
  if (tensor.elements > 1) {
    text += fmt::format("; {} of {} values differ", tensor.differing,
                        tensor.elements);
  }
  if (difference.differing > 1) {
    text += fmt::format("; {} of {} state entries differ", difference.differing,
                        difference.compared);
  }
  text += fmt::format("; worker {}", difference.worker) + AlikeText(difference);
  return text;
}

std::string PlaceText(const Departure& departure) {
  switch (departure.kind) {
    case RecordKind::kResumed:
      return fmt::format("the state loaded at step {}", departure.step);
    case RecordKind::kResumedFromMemory:
      return fmt::format("the state taken at step {}", departure.step);
    case RecordKind::kInitialized:
      return "the initial state";
    case RecordKind::kEvaluated:
      return fmt::format("evaluation after step {}", departure.step);
    case RecordKind::kEpochEnd:
      return fmt::format("end of the epoch after step {}", departure.step);
    default:
      return fmt::format("step {}", departure.step);
  }
}

// Sets the places of both differences. `first` is at the departure. `then` is
// there too, unless the departure is a state from which a worker starts: in
// this case, `then` is in the operation that follows this state.
void SetPlaces(Divergence& divergence) {
  const Departure& departure = divergence.departure;
  if (divergence.first) divergence.first->place = PlaceText(departure);
  if (divergence.then) {
    divergence.then->place =
        IsOfStart(departure.kind)
            ? fmt::format("the operation after step {}", departure.step)
            : PlaceText(departure);
  }
}

// Recorders for the workers of one incarnation. If probes are planted, each
// recorder wraps one.
class Recorders {
 public:
  Recorders(int incarnation, StepRecorder::Wanted wanted,
            const ProbeOf& planted)
      : incarnation_(incarnation),
        wanted_(std::move(wanted)),
        planted_(planted) {}

  StepProbe* For(int worker, int incarnation) {
    StepProbe* const inner = planted_ ? planted_(worker, incarnation) : nullptr;
    if (incarnation != incarnation_) return inner;
    std::unique_ptr<StepRecorder>& recorder = recorders_[worker];
    recorder = std::make_unique<StepRecorder>(worker, wanted_, inner);
    return recorder.get();
  }

  // Returns the traces of the workers that recorded something, in their order.
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
  const int incarnation_;
  const StepRecorder::Wanted wanted_;
  const ProbeOf& planted_;
  std::map<int, std::unique_ptr<StepRecorder>> recorders_;
};

std::vector<StepTrace> TracesOf(const RunPlan& plan, const DataSplit& data,
                                Recorders recorders) {
  FiberPool pool;
  RunProbed(pool, plan, data, [&](int worker, int incarnation) {
    return recorders.For(worker, incarnation);
  });
  return recorders.Traces();
}

// Repeats both runs, and compares their states before the operation that
// follows the departure. Returns nullopt if the states are equal, or if a run
// has no such operation. Records nothing at the departure itself: a state may
// change after the end of a step, for example if a device fails. A recorder of
// the step would hide this, because it copies the state from the device at the
// step's end, and the copy stays intact.
std::optional<StateDifference> CompareNextStarts(const RunPlan& plan,
                                                 const DataSplit& data,
                                                 const Departure& departure,
                                                 const ProbeOf& planted) {
  const std::pair next(departure.step, static_cast<Phase>(departure.phase));
  const auto there = [next](uint64_t step, Phase phase) {
    return std::pair(step, phase) == next;
  };
  const std::vector<StepTrace> reference =
      TracesOf(ReferencePlanOf(plan, data), data, Recorders(1, there, nullptr));
  if (reference.empty()) return std::nullopt;
  auto difference = CompareStarts(
      TracesOf(plan, data, Recorders(departure.incarnation, there, planted)),
      reference[0]);
  if (difference) {
    // "the state after step 8", "the state after the evaluation after step 8"
    difference->place =
        fmt::format("the state after {}{}",
                    departure.kind == RecordKind::kStep ? "" : "the ",
                    PlaceText(departure));
  }
  return difference;
}

}  // namespace

std::optional<Departure> FirstDeparture(const Record& record) {
  if (record.golden.entries.empty()) return std::nullopt;
  std::map<StepAndPhase, const GoldenEntry*> golden;
  for (const GoldenEntry& entry : record.golden.entries) {
    golden[{entry.step, entry.phase}] = &entry;
  }
  std::optional<Departure> first;
  int64_t first_ns = 0;
  for (const IncarnationEvents& incarnation : record.incarnations) {
    for (const RecordEvent& event : incarnation.events) {
      if (!IsOfTraining(event.kind) && !IsOfStart(event.kind)) continue;
      if (!Departs(golden, event)) continue;
      if (!first || event.t_ns < first_ns) {
        first_ns = event.t_ns;
        first = Departure{.kind = event.kind,
                          .worker = incarnation.worker,
                          .incarnation = incarnation.number,
                          .step = event.step,
                          .phase = event.phase};
      }
      break;  // the incarnation's later events have later times
    }
  }
  return first;
}

std::optional<StateDifference> CompareStarts(
    const std::vector<StepTrace>& broken, const StepTrace& reference) {
  std::optional<StateDifference> first;
  const StepTrace* with_it = nullptr;
  for (const StepTrace& trace : broken) {
    if (with_it != nullptr) {
      if (!CompareStates(0, trace.before, with_it->before)) {
        first->alike.push_back(trace.worker);
      }
      continue;
    }
    first = CompareStates(trace.worker, trace.before, reference.before);
    if (first) with_it = &trace;
  }
  return first;
}

std::optional<StateDifference> CompareOperations(
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
  // An incarnation that starts from a wrong state may be at another position
  // than the reference run, so its first operation is recorded.
  const StepRecorder::Wanted first = [](uint64_t, Phase) { return true; };
  const std::vector<StepTrace> broken =
      TracesOf(plan, data,
               Recorders(departure.incarnation,
                         IsOfStart(departure.kind) ? first : there, planted));
  Divergence divergence = {.departure = departure,
                           .first = CompareStarts(broken, reference[0]),
                           .then = CompareOperations(broken, reference[0])};
  if (!divergence.first) divergence.first.swap(divergence.then);
  SetPlaces(divergence);
  if (!divergence.first && !IsOfStart(departure.kind)) {
    divergence.first = CompareNextStarts(plan, data, departure, planted);
  }
  return divergence;
}

std::string WhereText(const StateDifference& difference) {
  const std::string& tensor = difference.tensors.front().name;
  if (difference.operation.empty()) return "tensor " + tensor;
  return difference.operation == tensor
             ? "operation " + tensor
             : fmt::format("operation {}, tensor {}", difference.operation,
                           tensor);
}

std::string DescribeDivergence(const Divergence& divergence) {
  const Departure& departure = divergence.departure;
  if (IsOfStart(departure.kind)) {
    const std::string what = PlaceText(departure) + " differs";
    if (!divergence.first) {
      return fmt::format("{}: worker {}, incarnation {}", what,
                         departure.worker, departure.incarnation);
    }
    std::string text = what + ": " + StartText(*divergence.first);
    if (divergence.then) {
      text += fmt::format(". The first operation that then differs: {}",
                          divergence.then->operation);
    }
    return text;
  }
  if (divergence.first) {
    return fmt::format("first difference: {}, {}", divergence.first->place,
                       DifferenceText(*divergence.first));
  }
  return fmt::format(
      "first difference: {}, worker {}, incarnation {}: the reported state or "
      "loss differs; in a repeated run, a recorder of the operations found no "
      "difference, so the state may have changed after them",
      PlaceText(departure), departure.worker, departure.incarnation);
}

}  // namespace gauntlet
