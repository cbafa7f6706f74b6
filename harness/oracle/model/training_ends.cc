// Checks how training ends: where workers stop, finish and leave, and with
// which result.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/epoch_text.h"
#include "engine/worker_exit_code.h"
#include "harness/oracle/history/last_words.h"
#include "harness/oracle/model/training_model.h"
#include "harness/record/text/value_text.h"
#include <fmt/format.h>

namespace gauntlet {

// Checks that the result of the run agrees with the last state of its chief.
void TrainingModel::CheckResult(const Worker& chief, const FinalResult& result,
                                const RecordEvent& event) {
  if (!reference_.is_empty()) checks_.trajectory.Count();
  const std::string_view status = chief.finished ? "done"
                                  : chief.stops  ? "stopped"
                                                 : "not_finite";
  const uint64_t step = chief.state ? chief.state->step : 0;
  FinalResult expected = result;
  expected.status = chief.not_finite_since != 0 && result.status == "not_finite"
                        ? "not_finite"
                        : status;
  expected.steps = step;
  if (chief.at) {
    const std::string& digest = reference_[*chief.at].digest;
    if (!digest.empty()) expected.digest = digest;
    expected.epochs = reference_.PlaceAfter(*chief.at).epoch;
    const std::vector<GoldenEpoch>& epochs = record_.golden.epochs;
    if (expected.epochs > 0 && expected.epochs <= epochs.size()) {
      expected.loss_bits = epochs[expected.epochs - 1].loss_bits;
    }
  }
  if (result == expected && event.step == step) return;
  checks_.trajectory.Fail(
      "result",
      fmt::format("the result is {}: {}, step {}, loss {}, state {}, "
                  "expected {}: {}, step {}, loss {}, state {}",
                  result.status, EpochsCompleted(result.epochs), result.steps,
                  FloatText(result.loss_bits), result.digest, expected.status,
                  EpochsCompleted(expected.epochs), expected.steps,
                  FloatText(expected.loss_bits), expected.digest));
}

void TrainingModel::Stop(const Emitter& by, Worker& worker,
                         const RecordEvent& event) {
  checks_.grace.Count();
  Generation* const generation = Of(worker);
  const bool again = std::exchange(worker.stops, true);
  if (again || !worker.state || worker.state->step != event.step ||
      (worker.at && reference_.PlaceAfter(*worker.at).epoch != event.epoch)) {
    return checks_.grace.Fail(
        "not-one-step", fmt::format("{}, {}: the worker is at step {}{}",
                                    Where(by, event), EpochName(event.epoch),
                                    worker.state ? worker.state->step : 0,
                                    again ? ", and it had agreed before" : ""));
  }
  if (generation == nullptr) return;
  if (!generation->stop) generation->stop = event.step;
  if (*generation->stop == event.step) return;
  checks_.grace.Fail("not-one-step",
                     fmt::format("{}: another worker stops at step {}",
                                 Where(by, event), *generation->stop));
}

// Returns true iff training ends after the reference entry with index `at`,
// because the reference run ends there or the launch is planned to train no
// further (epochs, max_steps).
bool TrainingModel::IsTheEnd(size_t at, const PlannedLaunch* launch) const {
  if (at + 1 == reference_.size()) return true;
  if (launch == nullptr) return false;
  const DataPosition place = reference_.PlaceAfter(at);
  const bool epochs_are_done = launch->epochs > 0 && place.position == 0 &&
                               place.epoch == launch->epochs;
  return epochs_are_done ||
         (launch->max_steps > 0 && reference_[at].step == launch->max_steps);
}

void TrainingModel::Finish(const Emitter& by, Worker& worker,
                           const RecordEvent& event) {
  if (std::exchange(worker.finished, true)) FailRepetition(by, event);
  CheckNotFiniteSince(by, worker, event);
  if (Generation* const generation = Of(worker)) {
    ++generation->finished;
    CheckReplicas(by, *generation, event);
  }
  if (reference_.is_empty()) return;
  CheckStateOf(by, event, PositionOf(event));
  const bool at_end = worker.at && IsTheEnd(*worker.at, LaunchOf(by));
  if (at_end && worker.state == PositionOf(event) &&
      reference_.PlaceAfter(*worker.at).epoch == event.epoch) {
    return;
  }
  checks_.trajectory.Fail(
      FindingKind::kFinalState,
      fmt::format("{}, {}: the reference ends with step {}", Where(by, event),
                  EpochsCompleted(event.epoch),
                  reference_[reference_.size() - 1].step));
}

void TrainingModel::CheckDeletion(const Emitter& by, const Worker& worker) {
  const Generation* const generation = Of(worker);
  if (generation == nullptr ||
      generation->finished < generation->members.size()) {
    checks_.checkpoints_deleted.Fail(
        "deleted", fmt::format("{} deletes checkpoints before all workers had "
                               "finished",
                               NameOf(by)));
  }
  if (worker.acknowledged) return;
  checks_.checkpoints_deleted.Fail(
      "unacknowledged", fmt::format("{} deletes checkpoints before its result "
                                    "was acknowledged",
                                    NameOf(by)));
}

void TrainingModel::Leave(const Emitter& by, Worker& worker,
                          const RecordEvent& event) {
  // A worker that has left its generation and is about to load another state
  // has no state meanwhile: it reports step 0.
  const bool forgets = !worker.generation && event.step == 0;
  const uint64_t step = worker.state && !forgets ? worker.state->step : 0;
  if (event.step != step) {
    checks_.history_consistent.Fail(
        "steps",
        fmt::format("{}: the worker is at step {}", Where(by, event), step));
  }
  if (const Generation* const generation = Of(worker)) {
    CheckNumber(by, *generation, event);

  } else if (event.generation <= worker.left) {
    checks_.history_consistent.Fail(
        "generation",
        fmt::format("{}: the worker has left generation {} before",
                    Where(by, event), event.generation));
  }
  worker.left = event.generation;
  worker.generation.reset();
  worker.loaded = {};
  worker.finished = worker.acknowledged = false;
}

void TrainingModel::CheckWorkerExit(const Emitter& by, const Worker& worker,
                                    const RecordEvent& event) {
  if (IsExit(event.count, {WorkerExit::kStartLater}) && event.step > 0) {
    CheckGivenUp(by, worker, event);
  }
  const bool done = IsExit(event.count, {WorkerExit::kDone});
  const bool stopped = IsExit(event.count, {WorkerExit::kStopped});
  const bool not_finite = IsExit(event.count, {WorkerExit::kNotFinite});
  if ((!done || worker.finished) && (!stopped || worker.stops) &&
      (!not_finite || worker.not_finite_since != 0)) {
    return;
  }
  checks_.history_consistent.Fail(
      "end", fmt::format("{} exits with code {}, but has not {}", NameOf(by),
                         event.count,
                         done      ? "finished"
                         : stopped ? "agreed to stop"
                                   : "found a non-finite state"));
}

// Checks that a worker which exits without its last save has tried to save at
// least kTries times.
void TrainingModel::CheckGivenUp(const Emitter& by, const Worker& worker,
                                 const RecordEvent& event) {
  constexpr int kTries = 6;
  if (!worker.generation) return;
  const bool at_end = worker.at && IsTheEnd(*worker.at, LaunchOf(by));
  if (!worker.stops && !at_end && !reference_.is_empty()) {
    checks_.history_consistent.Fail(
        "end", fmt::format("{} leaves step {} unsaved, but has not agreed to "
                           "stop",
                           NameOf(by), event.step));
  }
  checks_.no_spontaneous_exit.Count();
  const std::map<uint64_t, int>& failed =
      generations_[*worker.generation].failed;
  const auto at = failed.find(event.step);
  const int tries = at == failed.end() ? 0 : at->second;
  if (tries >= kTries) return;
  checks_.no_spontaneous_exit.Fail(
      "given-up-early",
      fmt::format("{} left step {} unsaved after {} tries, expected at least "
                  "{}",
                  NameOf(by), event.step, tries, kTries));
}

// Returns the index of the last reference entry that the launch should train.
size_t TrainingModel::EndOf(const PlannedLaunch* launch) const {
  size_t at = 0;
  while (!IsTheEnd(at, launch)) ++at;
  while (at + 1 < reference_.size() && IsTheEnd(at + 1, launch)) ++at;
  return at;
}

// Checks that a finished run has trained as far as the reference run. If the
// last launch exited with an error, the run need only reach the end that was
// planned for that launch.
void TrainingModel::CheckIsComplete(const LauncherRun& last_launch) {
  const FinalResult& result = *last_launch.result;
  if (!reference_.is_empty()) checks_.trajectory.Count();
  const PlannedLaunch* const shortened =
      last_launch.exit_code == 0 ? nullptr : PlanOf(last_launch);
  const size_t end = reference_.is_empty() ? 0 : EndOf(shortened);
  const std::string& digest = end + 1 < reference_.size()
                                  ? reference_[end].digest
                                  : record_.golden.final_digest;
  if (!digest.empty() && result.digest != digest) {
    checks_.trajectory.Fail(
        FindingKind::kFinalState,
        fmt::format("final state {}, expected {}", result.digest, digest));
  }
  if (reference_.is_empty()) return;
  const uint64_t last = reference_[end].step;

  if (result.steps != last || steps_.size() != last) {
    CountSteps(result.steps, last);
  }
  const uint64_t epochs = reference_.PlaceAfter(end).epoch;
  for (const GoldenEpoch& epoch : record_.golden.epochs) {
    if (epoch.epoch >= epochs) break;
    checks_.epochs.Count();
    if (epochs_.contains(epoch.epoch)) continue;
    checks_.epochs.Fail("missing",
                        fmt::format("{} never ended", EpochName(epoch.epoch)));
  }
  if (result.epochs != epochs) {
    checks_.epochs.Fail("count",
                        fmt::format("the result has {} epochs, expected {}",
                                    result.epochs, epochs));
  }
  CheckReferenceSamples(result);
}

// Reports a wrong number of steps in the result or in the events.
void TrainingModel::CountSteps(uint64_t found, uint64_t expected) {
  const char* const kind = found > expected ? "extra-steps" : "missing-steps";
  std::string text = fmt::format(
      "number of steps: {} by the result, expected {} as in the reference run",
      found, expected);
  if (found != steps_.size()) {
    text += fmt::format("; the events show {}", steps_.size());
  }
  checks_.history_consistent.Fail(found == expected ? "step-count" : kind,
                                  std::move(text));
}

// Checks that the reference run uses each sample exactly once in every epoch
// that ends. A run that uses the same samples as the reference then does so
// too.
void TrainingModel::CheckReferenceSamples(const FinalResult& result) {
  const uint64_t owed = record_.setup.rows_per_epoch;
  if (owed == 0 || !reports_samples_) return;
  std::map<uint64_t, std::vector<uint32_t>> samples;  // by epoch
  for (const GoldenEntry& entry : record_.golden.entries) {
    std::vector<uint32_t>& of_epoch = samples[entry.epoch];
    of_epoch.insert(of_epoch.end(), entry.samples.begin(), entry.samples.end());
  }
  for (auto& [epoch, used] : samples) {
    if (epoch >= result.epochs) break;
    checks_.samples.Count();
    std::ranges::sort(used);
    const auto again = std::ranges::adjacent_find(used);
    if (again != used.end()) {
      checks_.samples.Fail("duplicate-sample",
                           fmt::format("sample {} is used twice in {}", *again,
                                       EpochName(epoch)));
    }
    if (used.size() == owed) continue;
    checks_.samples.Fail("missing",
                         fmt::format("{} used {} samples, expected {}",
                                     EpochName(epoch), used.size(), owed));
  }
}

void TrainingModel::End() {
  if (newest_started_) CloseSteps(generations_[*newest_started_]);
  if (IsDone(record_)) CheckIsComplete(record_.launchers.back());
}

}  // namespace gauntlet
