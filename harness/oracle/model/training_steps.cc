// Checks steps, evaluations, epochs and saves.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/epoch_text.h"
#include "harness/oracle/model/training_model.h"
#include "harness/record/text/value_text.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

std::string GoldenEntryName(const GoldenEntry& entry) {
  switch (entry.kind) {
    case RecordKind::kEvaluated:
      return fmt::format("the evaluation after step {}", entry.step);
    case RecordKind::kEpochEnd:
      return fmt::format("the end of {} after step {}", EpochName(entry.epoch),
                         entry.step);
    case RecordKind::kStep:
      return fmt::format("step {}", entry.step);
    default:
      return "the start";
  }
}

}  // namespace

void TrainingModel::Train(const Emitter& by, Worker& worker,
                          const RecordEvent& event) {
  CheckAgainstReference(by, worker, event);
  worker.trained = worker.state = PositionOf(event);
  worker.loss_bits = event.loss_bits;
  if (worker.saves && !worker.copied && !worker.met_error) {
    worker.saves = false;
    checks_.store.Fail("no-outcome", Where(by, event) +
                                         ": trains during a save that no "
                                         "copy was taken for");
  }
  Generation* const generation = Of(worker);
  if (event.kind == RecordKind::kEpochEnd) epochs_.insert(event.epoch);
  if (generation == nullptr) return;
  CheckReplicas(by, *generation, event);
  if (event.kind == RecordKind::kStep) TakeStep(by, *generation, event);
}

void TrainingModel::CheckAgainstReference(const Emitter& by, Worker& worker,
                                          const RecordEvent& event) {
  const bool ends_epoch = event.kind == RecordKind::kEpochEnd;
  if (reference_.is_empty()) {
    const uint64_t expected = worker.state ? worker.state->step + 1 : 0;
    if (event.kind != RecordKind::kStep || event.step == expected) return;
    return checks_.history_consistent.Fail(
        "steps",
        fmt::format("{}, expected step {}", Where(by, event), expected));
  }
  checks_.trajectory.Count();
  if (ends_epoch) checks_.epochs.Count();
  const auto found = reference_.Find(event.kind, PositionOf(event));
  const std::optional<size_t> before = std::exchange(worker.at, found);
  if (!found) {
    return checks_.trajectory.Fail(
        "off-trajectory", Where(by, event) + ": " + WhyNotInReference(event));
  }
  if (!before || *found != *before + 1) {
    checks_.history_consistent.Fail(
        "steps",
        fmt::format(
            "{}: came after {}, expected after {}", Where(by, event),
            before ? GoldenEntryName(reference_[*before])
                   : "a state that the reference run does not have",
            *found > 0 ? GoldenEntryName(reference_[*found - 1]) : "no other"));
  }
  const GoldenEntry& entry = reference_[*found];
  if (!entry.digest.empty() && event.digest != entry.digest) {
    checks_.trajectory.Fail(
        "state-digest",
        fmt::format("{}: state {}, expected {}", Where(by, event),
                    event.digest.empty() ? "none" : event.digest,
                    entry.digest));
  }
  if (event.loss_bits != entry.loss_bits || event.count != entry.count) {
    Check& check = ends_epoch ? checks_.epochs : checks_.trajectory;
    check.Fail(
        ends_epoch ? "metrics" : "loss",
        fmt::format("{}: loss {} and {} correct, expected {} and {}",
                    Where(by, event), FloatText(event.loss_bits), event.count,
                    FloatText(entry.loss_bits), entry.count));
  }
  if (event.epoch != entry.epoch || event.position != entry.position) {
    checks_.trajectory.Fail(
        "position",
        fmt::format("{}: position {}, expected {}", Where(by, event),
                    ToText(DataPosition{event.epoch, event.position}),
                    ToText(DataPosition{entry.epoch, entry.position})));
  }
}

// Explains why no entry of the reference run equals the event: "the reference
// run ends with step 24". REQUIRES: none does.
std::string TrainingModel::WhyNotInReference(const RecordEvent& event) const {
  const GoldenEntry* const same = reference_.FindOfStep(event.kind, event.step);
  if (same != nullptr) {
    return fmt::format("phase {}, expected {}", RecordPhaseName(event.phase),
                       RecordPhaseName(same->phase));
  }
  const uint64_t last = reference_[reference_.size() - 1].step;
  if (event.step > last) {
    return fmt::format("the reference run ends with step {}", last);
  }
  return fmt::format("the reference run has no {} there",
                     RecordKindName(event.kind));
}

// Checks that all workers of a generation have bitwise identical states.
void TrainingModel::CheckReplicas(const Emitter& by, Generation& generation,
                                  const RecordEvent& event) {
  const auto [at, is_new] = generation.firsts.try_emplace(
      {event.kind, event.step, event.phase}, First{by, &event});
  const First& first = at->second;
  if (is_new || first.by == by) return;
  // Only digests are counted as checks: all workers take losses and counts from
  // the same sum, so their equality shows little.
  if (!event.digest.empty()) checks_.replicas_agree.Count();
  if (event.digest == first.event->digest &&
      event.loss_bits == first.event->loss_bits &&
      event.count == first.event->count) {
    return;
  }
  checks_.replicas_agree.Fail(
      "replica-mismatch",
      fmt::format("{}: {} has state {} and loss {}, {} has {} and {}",
                  EventAtStep(event), NameOf(first.by), first.event->digest,
                  FloatText(first.event->loss_bits), NameOf(by), event.digest,
                  FloatText(event.loss_bits)));
}

// Notes the furthest step so far, from the chief's events only: no other worker
// reports progress to the launcher.
void TrainingModel::NoteProgress(const Worker& worker, uint64_t step) {
  if (worker.rank != 0 || step <= furthest_) return;
  furthest_ = step;
  restarts_without_progress_ = 0;
}

void TrainingModel::TakeStep(const Emitter& by, Generation& generation,
                             const RecordEvent& event) {
  NoteProgress(workers_.at(by), event.step);
  steps_.insert(event.step);
  generation.last_step = std::max(generation.last_step, event.step);
  CheckDue(by, generation, event);
  CheckReportsNotFinite(by, workers_.at(by), generation, event);
  CheckLaunch(by, generation, event);
  if (generation.stop && event.step > *generation.stop) {
    checks_.grace.Fail("not-one-step",
                       fmt::format("{}: all had agreed to stop at step {}",
                                   Where(by, event), *generation.stop));
  }
  if (!reports_samples_) return;
  StepSamples& step = generation.open[event.step];
  ++step.tellers;
  step.samples.insert(step.samples.end(), event.samples.begin(),
                      event.samples.end());
  if (step.tellers < generation.members.size()) return;
  const auto found = reference_.Find(RecordKind::kStep, PositionOf(event));
  if (found) {
    checks_.samples.Count();
    std::ranges::sort(step.samples);
    if (step.samples != reference_[*found].samples) {
      checks_.samples.Fail(
          "other-rows",
          fmt::format("step {} of generation {} used {} samples that are not "
                      "the {} of the reference",
                      event.step, generation.number, step.samples.size(),
                      reference_[*found].samples.size()));
    }
  }
  generation.open.erase(event.step);
}

// Checks that a save that is due begins before the next step.
void TrainingModel::CheckDue(const Emitter& by, Generation& generation,
                             const RecordEvent& event) {
  const uint64_t interval = record_.setup.save_interval_steps;
  if (interval == 0 || event.step <= generation.saved_to + interval) return;
  checks_.bounded_loss.Fail(
      "excess-rework",
      fmt::format("{}: the newest save of generation {} was begun at step {}, "
                  "expected one every {} steps",
                  Where(by, event), generation.number, generation.saved_to,
                  interval));
  generation.saved_to = event.step;
}

// Checks that the workers of the generation have emitted all samples of each
// step. In the last step, some workers may be missing.
void TrainingModel::CloseSteps(const Generation& generation) {
  for (const auto& [number, step] : generation.open) {
    const GoldenEntry* const found =
        reference_.FindOfStep(RecordKind::kStep, number);
    if (found == nullptr) continue;
    checks_.samples.Count();
    std::vector<uint32_t> samples = step.samples;
    std::ranges::sort(samples);
    if (number == generation.last_step &&
        std::ranges::includes(found->samples, samples)) {
      continue;
    }
    checks_.samples.Fail(
        "other-rows",
        fmt::format("{} of {} workers emitted the samples of step {} of "
                    "generation {}",
                    step.tellers, generation.members.size(), number,
                    generation.number));
  }
}

// Notes that a save has an outcome.
void TrainingModel::NoteSaveOutcome(Generation* generation,
                                    const RecordEvent& event) {
  if (generation == nullptr) return;
  generation->settled_to = std::max(generation->settled_to, event.step);
}

void TrainingModel::CheckSave(const Emitter& by, Worker& worker,
                              const RecordEvent& event) {
  if (event.kind == RecordKind::kSaveCopied) {
    return CopyForSave(by, worker, event);
  }
  Generation* const generation = Of(worker);
  if (generation != nullptr) {
    generation->saved_to = std::max(generation->saved_to, event.step);
  }
  if (event.kind == RecordKind::kSaveBegin) return BeginSave(by, worker, event);
  worker.saves = false;
  NoteSaveOutcome(generation, event);
  if (event.kind == RecordKind::kSaveFailed) {
    if (generation != nullptr) ++generation->failed[event.step];
    return;
  }
  CheckNotFiniteSince(by, worker, event);
  CheckCopies(by, worker, event);
  CheckStateOf(by, event, PositionOf(event));
}

void TrainingModel::BeginSave(const Emitter& by, Worker& worker,
                              const RecordEvent& event) {
  for (auto& [id, other] : workers_) {
    if (other.generation == worker.generation) other.copied = false;
  }
  worker.saves = true;
  if (worker.state == PositionOf(event)) return;
  checks_.store.Fail(
      "wrong-save-position",
      fmt::format("{} saves step {}, but is at step {}", NameOf(by),
                  ToText(PositionOf(event)),
                  worker.state ? ToText(*worker.state) : "none"));
}

void TrainingModel::CopyForSave(const Emitter& by, Worker& worker,
                                const RecordEvent& event) {
  if (!std::exchange(worker.copied, true) &&
      worker.state == PositionOf(event)) {
    return;
  }
  checks_.store.Fail(
      "copy", Where(by, event) + ": expected one copy of the newest state");
}

// If this worker has copied its part of the state for the save, checks that all
// workers have copied theirs.
void TrainingModel::CheckCopies(const Emitter& by, const Worker& worker,
                                const RecordEvent& event) {
  if (!worker.copied || !worker.generation) return;
  for (const Emitter& member : generations_[*worker.generation].members) {
    if (workers_.at(member).copied) continue;
    checks_.store.Fail("copy", fmt::format("{}: {} took no copy of its part",
                                           Where(by, event), NameOf(member)));
  }
}

void TrainingModel::CheckStateOf(const Emitter& by, const RecordEvent& event,
                                 const TrainingPosition& position) {
  if (reference_.is_empty()) return;
  const auto found = reference_.StateAt(position);
  if (!found) {
    checks_.trajectory.Count();
    return checks_.trajectory.Fail(
        "off-trajectory",
        fmt::format("{}: the reference has no state of step {}",
                    Where(by, event), ToText(position)));
  }
  const std::string& expected = reference_[*found].digest;
  if (expected.empty()) return;
  checks_.trajectory.Count();
  if (event.digest == expected) return;
  checks_.trajectory.Fail(
      "state-digest",
      fmt::format("{}: state {}, expected {} of step {}", Where(by, event),
                  event.digest, expected, ToText(position)));
}

// Checks that a launch with a changed job trains nothing. If a launch is
// planned to stop at a step, checks that it trains no further than the end of
// the execution with this step.
void TrainingModel::CheckLaunch(const Emitter& by, const Generation& generation,
                                const RecordEvent& event) {
  const PlannedLaunch* const launch = LaunchOf(by);
  if (launch == nullptr) return;
  if (launch->other_job) {
    checks_.trajectory.Fail("changed-job",
                            fmt::format("{}: a changed job trains, but the "
                                        "checkpoints are of another job",
                                        Where(by, event)));
  }
  const uint64_t length =
      std::max<uint64_t>(record_.setup.steps_per_execution, 1);
  const uint64_t last = (launch->stop_at_step + length - 1) / length * length;
  if (launch->stop_at_step <= generation.start->step || event.step <= last) {
    return;
  }
  checks_.grace.Fail("not-one-step",
                     fmt::format("{}: the run was to stop at step {}",
                                 Where(by, event), launch->stop_at_step));
}

}  // namespace gauntlet
