#include "harness/run/failure/unmet_expectations.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/text/counted.h"
#include "harness/oracle/history/last_words.h"
#include "harness/oracle/history/training_position.h"
#include "harness/record/invariants.h"
#include "harness/record/text/gave_up.h"
#include "harness/record/text/joined_texts.h"
#include "harness/record/text/number_list.h"
#include "harness/run/failure/history/begun_saves.h"
#include "harness/run/failure/history/cut_save.h"
#include "harness/run/failure/history/epoch_ends.h"
#include "harness/run/failure/history/interruptions.h"
#include "harness/run/failure/history/last_holder.h"
#include "harness/run/failure/history/process_ends.h"
#include "harness/run/failure/history/worker_events.h"
#include "harness/run/failure/met_expectations.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

// An unmet expectation that is to be explained.
struct Unmet {
  const Outline& outline;
  const Verdict& verdict;
  // True iff the cause so far describes the ends of the attempts.
  bool has_ends = false;
};

// Returns the first event that starts the training of that generation.
const RecordEvent* StartOfGeneration(const Record& record, uint64_t number) {
  return FirstOf(record, [number](const RecordEvent& event) {
    return IsOfStart(event.kind) && event.generation == number;
  });
}

// Returns EndBeforeStartText for a start of a generation.
std::string EndBeforeText(const Outline& outline, const RecordEvent& start) {
  uint64_t before = 0;  // the generation before
  ForEachEvent(outline.record, [&](const RecordEvent& event) {
    if (IsOfStart(event.kind) && event.generation < start.generation) {
      before = std::max(before, event.generation);
    }
  });
  const RecordEvent* const first = StartOfGeneration(outline.record, before);
  const int64_t since_ns = first == nullptr ? 0 : first->t_ns;
  return EndBeforeStartText(outline, since_ns, start);
}

// Returns true iff the steps of the run were compared with those of the
// reference run, and are bitwise identical.
bool EqualsReferenceRun(const Verdict& verdict) {
  const auto trajectory = std::ranges::find(
      verdict.invariants, InvariantName(Invariant::kTrajectory),
      &InvariantReport::invariant);
  return HasOnlyUnmetExpectations(verdict) &&
         trajectory != verdict.invariants.end() && trajectory->instances > 0;
}

// Returns true iff the launch ended at the step at which it was planned to.
bool StoppedAsPlanned(const Record& record, const LauncherRun& launch) {
  const std::vector<PlannedLaunch>& plans = record.setup.launches;
  if (!launch.result || launch.planned >= plans.size()) return false;
  const uint64_t step = plans[launch.planned].stop_at_step;
  return step > 0 && launch.result->status == "stopped" &&
         launch.result->steps == step;
}

// Returns why the last launcher exited, if it was not because of the ends of
// its attempts: it completed the training, stopped as planned, or found a value
// that is not finite. Else returns "".
std::string OwnReasonOfExit(const Record& record, const Verdict& verdict,
                            const LauncherRun& last) {
  if (last.exit_code == 0 && IsDone(record)) {
    const std::optional<uint64_t> max_steps = MaxStepsOfEnd(record);
    return fmt::format(
        "the launcher exited with code 0, as the training was completed{}",
        max_steps ? fmt::format(" (job.max_steps is {}, which ends it before "
                                "job.epochs, {})",
                                *max_steps, record.setup.epochs)
                  : "");
  }
  if (StoppedAsPlanned(record, last)) {
    return fmt::format(
        "the launcher exited with code {}, as its launch was planned to stop "
        "at step {} (launches.stop_at_step)",
        last.exit_code, last.result->steps);
  }
  if (last.result && last.result->status == "not_finite") {
    return fmt::format(
        "the launcher exited with code {}, as the loss or the state was found "
        "not finite after step {} (job.stop_on_nan){}",
        last.exit_code, last.result->steps,
        EqualsReferenceRun(verdict)
            ? "; the reference run has the same values up to then, so the "
              "settings of the job, such as job.optimizer.lr, are the reason, "
              "and no fault is"
            : "");
  }
  return "";
}

// Returns OwnReasonOfExit of the last launcher. If that is "", returns instead
// why the launcher gave up, if it did, and how it ended. "" if there was no
// launcher.
std::string ExitText(const Record& record, const Verdict& verdict) {
  if (record.launchers.empty()) return "";
  std::string own = OwnReasonOfExit(record, verdict, record.launchers.back());
  if (!own.empty()) return own;
  const RecordEvent* const gave_up = FindGaveUp(record);
  return JoinedTexts({gave_up == nullptr
                          ? ""
                          : "the launcher gave up: " +
                                GaveUpReasonText(record.setup, *gave_up),
                      LauncherEndText(record)});
}

// Returns the ends of the attempts; "" if the cause so far describes them.
std::string EndsText(const Unmet& unmet) {
  return unmet.has_ends ? ""
                        : JoinedTexts(EndsOfAttempts(
                              unmet.outline, InterruptionsOf(unmet.outline)));
}

// Returns why the last launcher exited, with the ends of the attempts if they
// explain it.
std::string LastLauncherText(const Unmet& unmet) {
  const Record& record = unmet.outline.record;
  if (record.launchers.empty()) return "";
  std::string own =
      OwnReasonOfExit(record, unmet.verdict, record.launchers.back());
  if (!own.empty()) return own;
  return JoinedTexts({EndsText(unmet), ExitText(record, unmet.verdict)});
}

// Returns "worker 1 was restarted alone …; the workers resumed from memory at
// step 6, so the run loaded no checkpoint"; "" if no generation resumed from
// memory.
// Leaves out the restart if the cause so far describes it.
std::string FromMemoryText(const Unmet& unmet) {
  const Outline& outline = unmet.outline;
  const auto found =
      std::ranges::find_if(outline.generations, [](const Generation& one) {
        return one.resumed_from_memory.has_value();
      });
  if (found == outline.generations.end()) return "";
  const std::vector<Interruption> all = InterruptionsOf(outline);
  const auto alone = std::ranges::find(all, Reaction::kRestartsWorker,
                                       &Interruption::reaction);
  return JoinedTexts(
      {alone == all.end() || unmet.has_ends ? ""
                                            : InterruptionText(outline, *alone),
       fmt::format("the workers resumed from memory at step {}, so the run "
                   "loaded no checkpoint",
                   found->resumed_from_memory->step)});
}

std::string ResumedFromText(const Unmet& unmet) {
  const Outline& outline = unmet.outline;
  const Record& record = outline.record;
  const std::optional<uint64_t> found = unmet.verdict.facts.resumed_from;
  if (!found) {
    if (std::string text = FromMemoryText(unmet); !text.empty()) return text;
    if (unmet.verdict.facts.restarts > 0 || !IsDone(record)) return "";
    return unmet.has_ends
               ? "the run loaded no checkpoint"
               : NoRestartText(record) + ", and the run loaded no checkpoint";
  }
  const RecordEvent* const resume =
      FirstOf(record, [](const RecordEvent& event) {
        return event.kind == RecordKind::kResumed;
      });
  if (resume == nullptr) return "";
  const bool is_acknowledged =
      NewestUntil(record, RecordKind::kSaveAcknowledged, *found, *resume) !=
      nullptr;
  return fmt::format(
      "the {} of step {} {} when {}, so the run resumed from step {}",
      is_acknowledged ? "save" : "checkpoint", *found,
      is_acknowledged ? "had been acknowledged" : "was complete",
      EndBeforeText(outline, *resume), *found);
}

// Returns "; fault b (crash worker 0 at …) then ended worker 0, so no worker
// was left to rejoin …" if no worker kept the state in memory for this
// generation; else "".
std::string NoSurvivorText(const Outline& outline,
                           const Generation& generation) {
  if (!HasNoSurvivor(outline, generation)) return "";
  const std::optional<EndOfLastHolder> end =
      FindEndOfLastHolder(outline, generation);
  return fmt::format(
      "; {}no worker was left to rejoin with a state in memory "
      "(cluster.restart.policy is rejoin)",
      end ? fmt::format("fault {} ({}) then ended worker {}, so ",
                        end->fault->id, end->fault->summary, end->worker)
          : "");
}

std::string RecomputedStepsText(const Unmet& unmet) {
  const Outline& outline = unmet.outline;
  for (const Generation& generation : outline.generations) {
    if (!generation.recomputed ||
        generation.recomputed->steps() !=
            unmet.verdict.facts.max_recomputed_steps) {
      continue;
    }
    const RecordEvent* const start =
        StartOfGeneration(outline.record, generation.number);
    if (start == nullptr) continue;
    return fmt::format(
        "training had reached step {} when {}{}, and the run started again "
        "from step {}, so it recomputed {}",
        generation.recomputed->to, EndBeforeText(outline, *start),
        NoSurvivorText(outline, generation), generation.recomputed->from,
        Counted(generation.recomputed->steps(), "step"));
  }
  return "";
}

// Returns "before the evaluation", "at the end of training", …: the part of a
// step after which the save was made.
std::string_view TimeOfSave(const RecordEvent& save) {
  const std::string_view phase = PhaseText(save.phase);
  if (!phase.empty()) return phase;
  constexpr std::string_view kFinished = "-finished-";
  return save.path.find(kFinished) == std::string::npos
             ? "after the end of the epoch"
             : "at the end of training";
}

// Saves that a run acknowledged, by their positions in training.
using SavesByPosition =
    std::map<TrainingPosition, std::vector<const RecordEvent*>>;

SavesByPosition AcknowledgedSaves(const Record& record) {
  SavesByPosition saves;
  ForEachEvent(record, [&](const RecordEvent& event) {
    if (event.kind != RecordKind::kSaveAcknowledged) return;
    saves[PositionOf(event)].push_back(&event);
  });
  return saves;
}

// Returns "step 24 was saved before the evaluation and at the end of training"
// for each step that was saved at several positions. Adds "recomputed steps
// were saved again" if a position was saved more than once. Returns "" if each
// step was saved once.
std::string RepeatedSavesText(const SavesByPosition& saves) {
  std::map<uint64_t, std::vector<std::string_view>> times;  // by step
  bool are_any_again = false;
  for (const auto& [position, events] : saves) {
    times[position.step].push_back(TimeOfSave(*events.front()));
    are_any_again = are_any_again || events.size() > 1;
  }
  std::map<std::string, std::set<uint64_t>> steps;  // by the times of saves
  for (const auto& [step, of_step] : times) {
    if (of_step.size() == 1) continue;
    steps[fmt::format("{}", fmt::join(of_step, " and "))].insert(step);
  }
  std::vector<std::string> texts;
  texts.reserve(steps.size());
  for (const auto& [when, which] : steps) {
    texts.push_back(fmt::format("{} {} saved {}", NumberedText("step", which),
                                which.size() == 1 ? "was" : "were", when));
  }
  if (are_any_again) texts.emplace_back("recomputed steps were saved again");
  return fmt::format("{}", fmt::join(texts, ", "));
}

// Returns "the run acknowledged the saves of steps 4, 8 and 12"; "the run
// acknowledged no save". If a step was saved more than once, adds the number of
// saves and the reason for it.
std::string AcknowledgedText(const Record& record) {
  const SavesByPosition saves = AcknowledgedSaves(record);
  std::set<uint64_t> steps;
  size_t number = 0;
  for (const auto& [position, events] : saves) {
    steps.insert(position.step);
    number += events.size();
  }
  if (steps.empty()) return "the run acknowledged no save";
  return fmt::format(
      "the run acknowledged {}{}", SavesText(steps),
      number == steps.size()
          ? ""
          : fmt::format(" ({} in all: {})", Counted(number, "save"),
                        RepeatedSavesText(saves)));
}

std::string FailedSavesCause(const Unmet& unmet) {
  const Record& record = unmet.outline.record;
  const uint64_t failed = unmet.verdict.facts.failed_saves;
  if (failed > 0) {
    const std::string text = JoinedTexts(
        {FailedSavesText(record, INT64_MIN), RetriedSavesText(record)});
    return text.empty() ? Counted(failed, "save") + " failed" : text;
  }
  return "no save ended with an error: " + AcknowledgedText(record);
}

std::string SavesCause(const Unmet& unmet) {
  const Record& record = unmet.outline.record;
  const uint64_t interval = record.setup.save_interval_steps;
  return JoinedTexts(
      {AcknowledgedText(record) +
           (interval == 0   ? ""
            : interval == 1 ? "; a save is due after every step "
                              "(checkpoint.every)"
                            : fmt::format("; a save is due every {} steps "
                                          "(checkpoint.every)",
                                          interval)) +
           (HasFinalSave(record) ? ", and the end of training is saved, too "
                                   "(checkpoint.on_success)"
                                 : ""),
       RetriedSavesText(record),
       UnfinishedSavesText(record, 0, {.t_ns = INT64_MAX}), EndsText(unmet)});
}

std::string CheckpointsCause(const Unmet& unmet) {
  const Record& record = unmet.outline.record;
  const RunSetup& setup = record.setup;
  std::string kept;
  if (setup.delete_at_success && IsDone(record)) {
    kept =
        "a successful run deletes its checkpoints "
        "(checkpoint.on_success)";
  } else if (setup.keep > 0) {
    kept = fmt::format("retention keeps the newest {} (checkpoint.keep)",
                       setup.keep);
  }
  return JoinedTexts({AcknowledgedText(record), std::move(kept),
                      FailedSavesText(record, INT64_MIN),
                      RetriedSavesText(record)});
}

std::string EndsAtCause(const Unmet& unmet) {
  const Record& record = unmet.outline.record;
  if (record.launchers.empty()) return "";
  const std::optional<FinalResult>& result = record.launchers.back().result;
  const std::string end = LastLauncherText(unmet);
  if (!result) return "the last launcher ended without a result: " + end;
  return fmt::format("training ended after {}, with {} complete: {}",
                     Counted(result->steps, "step"),
                     Counted(result->epochs, "epoch"), end);
}

// Returns "epoch 2 of 2 ended after that"; events count epochs from 0.
std::string EndedEpochsText(const RunSetup& setup,
                            const std::set<uint64_t>& epochs) {
  if (epochs.empty()) return "no epoch ended after that";
  std::set<uint64_t> numbers;  // from 1
  for (const uint64_t epoch : epochs) numbers.insert(epoch + 1);
  return fmt::format(
      "{}{} ended after that", NumberedText("epoch", numbers),
      setup.epochs > 0 ? fmt::format(" of {}", setup.epochs) : "");
}

std::string EpochsAfterRestartCause(const Unmet& unmet) {
  const Outline& outline = unmet.outline;
  std::set<uint64_t> epochs;
  const Generation* restarted = nullptr;
  for (const Generation& generation : outline.generations) {
    if (&generation == &outline.generations.front()) continue;
    epochs.insert(generation.epochs.begin(), generation.epochs.end());
    if (restarted == nullptr && generation.has_started()) {
      restarted = &generation;
    }
  }
  if (restarted == nullptr) return "";
  const uint64_t step =
      restarted->started_at().value_or(TrainingPosition{}).step;
  const RecordEvent* const start =
      StartOfGeneration(outline.record, restarted->number);
  return fmt::format(
      "after the first restart ({}), training started from step {}; {}",
      start == nullptr ? "of unknown cause" : EndBeforeText(outline, *start),
      step, EndedEpochsText(outline.record.setup, epochs));
}

// Returns the values that `loss: falls` and `accuracy: rises` compare, for
// those of the two that are unmet. `ends`: EpochEndsOf the record. REQUIRES: it
// has two ends or more.
std::vector<std::string> TrendTexts(
    const Unmet& unmet, const std::map<uint64_t, const RecordEvent*>& ends) {
  const auto& [first, begin] = *ends.begin();
  const auto& [last, end] = *ends.rbegin();
  std::vector<std::string> texts;
  if (IsUnmet(unmet.verdict, "loss")) {
    texts.push_back(fmt::format(
        "loss: falls compares the ends of epochs {} and {}: the loss is {}, "
        "then {}",
        first + 1, last + 1, std::bit_cast<float>(begin->loss_bits),
        std::bit_cast<float>(end->loss_bits)));
  }
  if (IsUnmet(unmet.verdict, "accuracy")) {
    texts.push_back(fmt::format(
        "accuracy: rises compares the ends of epochs {} and {}: {} samples are "
        "correct, then {}",
        first + 1, last + 1, begin->count, end->count));
  }
  return texts;
}

// Explains the course of the loss or the accuracy: "the undisturbed training
// has this loss too: …". The harness does not know why training has it.
std::string TrendCause(const Unmet& unmet) {
  const std::map<uint64_t, const RecordEvent*> ends =
      EpochEndsOf(unmet.outline.record);
  if (ends.size() < 2) {
    return fmt::format(
        "loss: falls and accuracy: rises compare the ends of the first and the "
        "last epoch, but {}",
        ends.empty() ? "no epoch ended" : "only one epoch ended");
  }
  std::vector<std::string> texts = TrendTexts(unmet, ends);
  if (!EqualsReferenceRun(unmet.verdict)) return JoinedTexts(std::move(texts));
  texts.emplace_back(
      "the undisturbed training gives the same values: each step is bitwise "
      "identical to the reference run's, so neither a fault nor the "
      "recovery changed them");
  return JoinedTexts(std::move(texts));
}

std::string RestartsCause(const Unmet& unmet) {
  const Outline& outline = unmet.outline;
  const size_t starts = outline.record.launchers.size();
  const uint64_t planned =
      starts > 0 ? starts - 1 - unmet.verdict.facts.requeues : 0;
  std::vector<std::string> texts = {EndsText(unmet)};
  if (planned > 0) {
    texts.push_back(fmt::format(
        "the scenario starts the launcher {} times (launches), and each start "
        "after the first is a restart",
        planned + 1));
  }
  const bool is_unexplained = JoinedTexts(texts).empty() && !unmet.has_ends;
  if (is_unexplained && IsDone(outline.record)) {
    texts.push_back(NoRestartText(outline.record));
  }
  if (!IsDone(outline.record))
    texts.push_back(ExitText(outline.record, unmet.verdict));
  return JoinedTexts(std::move(texts));
}

// Returns why a run that was completed did not end with its stop on a
// preemption notice.
std::string UnstoppedText(const Outline& outline, const RunFacts& facts) {
  const FaultOccurrence* const notice = FirstNotice(outline);
  return notice == nullptr || facts.restarts > 0
             ? "no preemption notice stopped it before its end"
             : fmt::format(
                   "the notice of fault {} came in step {}, too late to "
                   "stop it",
                   notice->fault->id, notice->event().step);
}

// Describes a run that was completed, although the scenario expects another
// end.
std::string CompletedText(const Outline& outline, const RunFacts& facts) {
  const std::string completed =
      facts.restarts == 0 ? "the training was completed without a restart"
                          : "the training was completed after " +
                                Counted(facts.restarts, "restart");
  const bool kept_memory =
      std::ranges::any_of(outline.generations, [](const Generation& one) {
        return one.resumed_from_memory.has_value();
      });
  switch (outline.record.expect.outcome) {
    case Outcome::kStopsCleanly:
      return fmt::format("{}: {}", completed, UnstoppedText(outline, facts));
    case Outcome::kRefuses:
      return completed + ": " +
             (facts.resumed_from
                  ? fmt::format("the checkpoint of step {} could be loaded",
                                *facts.resumed_from)
              : kept_memory ? "its workers resumed from memory, so no "
                              "checkpoint had to be loaded"
                            : "it started from scratch, so no checkpoint had "
                              "to be loaded");
    case Outcome::kGivesUp:
      return completed + ", so the launcher did not give up";
    case Outcome::kStopsOnNan:
      return completed +
             ": it did not stop on an infinite or NaN loss (job.stop_on_nan)";
    case Outcome::kRetryLater:
      return completed + ": each state could be saved in the end";
    case Outcome::kCompletes:
    case Outcome::kRecovers:
    case Outcome::kViolates:
      return "";
  }
  return "";
}

std::string OutcomeCause(const Unmet& unmet) {
  const Record& record = unmet.outline.record;
  if (record.ending != RunEnding::kExited) return "";
  if (!IsDone(record)) return LastLauncherText(unmet);
  std::string text = CompletedText(unmet.outline, unmet.verdict.facts);
  return text.empty() ? RestartsCause(unmet) : text;
}

std::string ExitCodeCause(const Unmet& unmet) {
  return LastLauncherText(unmet);
}

// An expectation, by the name of its finding, and its explanation.
struct Explained {
  std::string_view name;
  std::string (*explain)(const Unmet& unmet);
};
constexpr std::array kExplained = {
    Explained{"outcome", OutcomeCause},
    Explained{"restarts", RestartsCause},
    Explained{"resumed_from", ResumedFromText},
    Explained{"recomputed_steps", RecomputedStepsText},
    Explained{"failed_saves", FailedSavesCause},
    Explained{"ends_at.epoch", EndsAtCause},
    Explained{"ends_at.step", EndsAtCause},
    Explained{"saves", SavesCause},
    Explained{"epochs_after_restart", EpochsAfterRestartCause},
    Explained{"checkpoints", CheckpointsCause},
    Explained{"loss", TrendCause},
    Explained{"accuracy", TrendCause},
    Explained{"exit_code", ExitCodeCause},
};

// Returns "the run recovered correctly, as no check found a violation; only the
// expectation of the scenario differs: set restarts: {exactly: 1} under
// expect".
std::string OnlyExpectationText(const Record& record, const Verdict& verdict) {
  const std::string met = MetExpectationsText(record, verdict);
  return fmt::format(
      "the run {} correctly, as no check found a violation; only the "
      "expectation{} of the scenario differ{}{}",
      !IsDone(record)              ? "behaved"
      : verdict.facts.restarts > 0 ? "recovered"
                                   : "ended",
      verdict.broken_expectations.size() == 1 ? "" : "s",
      verdict.broken_expectations.size() == 1 ? "s" : "",
      met.empty() ? "" : fmt::format(": {} under expect", met));
}

// Adds the parts of the text that the cause does not contain.
void AddParts(std::string_view text, std::string& cause) {
  constexpr std::string_view kSeparator = "; ";
  while (!text.empty()) {
    const size_t end = text.find(kSeparator);
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size()
                                        : end + kSeparator.size());
    if (cause.find(part) != std::string::npos) continue;
    if (!cause.empty()) cause += kSeparator;
    cause += part;
  }
}

}  // namespace

std::string ExplainExpectations(const Outline& outline, const Verdict& verdict,
                                const PartialCause& before) {
  std::string cause = before.text;
  if (!verdict.fails_only_expectations) return cause;
  const Unmet unmet = {
      .outline = outline, .verdict = verdict, .has_ends = before.has_ends};
  for (const Finding& finding : verdict.broken_expectations) {
    const auto found =
        std::ranges::find(kExplained, finding.name, &Explained::name);
    if (found == kExplained.end() || before.expectations.contains(finding.name))
      continue;
    AddParts(found->explain(unmet), cause);
  }
  if (!cause.empty()) return cause;
  return HasOnlyUnmetExpectations(verdict)
             ? OnlyExpectationText(outline.record, verdict)
             : "";
}

}  // namespace gauntlet
