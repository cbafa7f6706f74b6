#include "harness/oracle/expectations.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/worker_exit_code.h"
#include "harness/oracle/history/last_words.h"
#include "harness/record/text/value_text.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

// Returns the name of the run's outcome, such as "recovers", or a description
// if no Outcome fits.
std::string OutcomeOf(const Outline& outline, const RunFacts& facts) {
  const Record& record = outline.record;
  if (record.ending != RunEnding::kExited) {
    return fmt::format("none, as the run {}", RunEndingText(record.ending));
  }
  if (record.launchers.empty()) return "no launcher";
  const LauncherRun& last = record.launchers.back();
  if (last.exit_code == 0 && outline.IsDone()) {
    return facts.restarts == 0 ? "completes" : "recovers";
  }
  if (IsExit(last.exit_code, {WorkerExit::kStopped}) && last.result &&
      last.result->status == "stopped") {
    return "stops-cleanly";
  }
  if (IsExit(last.exit_code, {WorkerExit::kNotFinite}) && last.result &&
      last.result->status == "not_finite") {
    return "stops-on-nan";
  }
  if (HasRefused(record)) return "refuses";
  if (IsExit(last.exit_code, {WorkerExit::kFailed}) && !last.result)
    return "fails";
  if (IsExit(last.exit_code, {WorkerExit::kLostWorker}) && !last.result &&
      std::ranges::any_of(record.incarnations, LeftToStartLater)) {
    return "retry-later";
  }
  return fmt::format("exit code {}{}", last.exit_code,
                     last.result ? ", " + last.result->status : "");
}

// Returns the launches that a job queue started again.
std::vector<const LauncherRun*> RequeuedLaunches(const Record& record) {
  std::vector<const LauncherRun*> requeued;
  const std::vector<LauncherRun>& launchers = record.launchers;
  for (size_t i = 1; i < launchers.size(); ++i) {
    if (IsRequeue(launchers[i - 1], launchers[i])) {
      requeued.push_back(&launchers[i - 1]);
    }
  }
  return requeued;
}

// Returns "" if no launch was requeued; else " (the launcher exited with code
// 143, and the job was started again)".
std::string RequeuesText(const Record& record) {
  std::set<int> codes;
  for (const LauncherRun* run : RequeuedLaunches(record)) {
    codes.insert(run->exit_code);
  }
  if (codes.empty()) return "";
  return fmt::format(
      " (the launcher exited with code{} {}, and the job was started again)",
      codes.size() == 1 ? "" : "s", fmt::join(codes, ", "));
}

// Returns the expectation as a scenario writes it: "restarts: {exactly: 2}" for
// the key restarts.exactly and the value 2, "exit_code: 7" for exit_code and 7.
std::string WithValue(std::string_view key, std::string_view value) {
  const size_t dot = key.find('.');
  if (dot == key.npos) return fmt::format("{}: {}", key, value);
  return fmt::format("{}: {{{}: {}}}", key.substr(0, dot), key.substr(dot + 1),
                     value);
}
std::string WithValue(std::string_view key, uint64_t value) {
  return WithValue(key, std::to_string(value));
}

std::string WithoutKey(std::string_view key) {
  return fmt::format("{}{}", kWithoutKey, key);
}

class Expectations {
 public:
  void Broken(std::string_view name, std::string_view expected,
              std::string_view found, std::optional<std::string> met) {
    broken_.push_back({.invariant = std::string(kExpectation),
                       .name = std::string(name),
                       .message = fmt::format("{}: expected {}, found {}", name,
                                              expected, found),
                       .met = std::move(met)});
  }
  // `key`: the key in `expect`, such as restarts.exactly.
  void Exactly(std::string_view name, std::string_view key,
               std::optional<uint64_t> expected, uint64_t found) {
    if (!expected || *expected == found) return;
    Broken(name, fmt::format("exactly {}", *expected), std::to_string(found),
           WithValue(key, found));
  }
  void AtMost(std::string_view name, std::string_view key,
              std::optional<uint64_t> expected, uint64_t found) {
    if (!expected || found <= *expected) return;
    Broken(name, fmt::format("at most {}", *expected), std::to_string(found),
           WithValue(key, found));
  }
  std::vector<Finding> Take() && { return std::move(broken_); }

 private:
  std::vector<Finding> broken_;
};

// Counts the steps that a generation trained although an earlier generation had
// already trained them. Each generation trains consecutive steps, so all steps
// up to the highest step so far have been trained.
void AddRecomputations(const Outline& outline, RunFacts& facts) {
  std::vector<std::pair<uint64_t, uint64_t>> again;  // from (excluded), to
  uint64_t highest = 0;
  for (const Generation& generation : outline.generations) {
    if (!generation.has_started()) continue;
    const uint64_t from =
        generation.started_at().value_or(TrainingPosition{}).step;
    const uint64_t to = std::min(generation.last_step, highest);
    highest = std::max(highest, generation.last_step);
    if (to <= from) continue;
    again.emplace_back(from, to);
    facts.recomputations += to - from;
  }
  std::ranges::sort(again);
  uint64_t counted = 0;  // steps up to this one are counted
  for (const auto& [from, to] : again) {
    if (to <= counted) continue;
    facts.distinct_recomputed_steps += to - std::max(from, counted);
    counted = to;
  }
}

// Returns the number of restarts by the launcher. A launcher that was killed
// did not report the number, so its restart events are counted.
uint64_t RestartsBy(const LauncherRun& run) {
  const auto count = [&run](RecordKind kind) {
    return static_cast<uint64_t>(
        std::ranges::count(run.events, kind, &RecordEvent::kind));
  };
  return count(RecordKind::kLauncherEnd) > 0
             ? run.restarts
             : std::max(run.restarts, count(RecordKind::kRestarting));
}

}  // namespace

RunFacts FactsOf(const Outline& outline) {
  RunFacts facts;
  std::set<std::string_view> fired;
  for (const FaultOccurrence& occurrence : outline.occurrences) {
    fired.insert(occurrence.fault->id);
  }
  facts.faults_fired = fired.size();
  const std::vector<LauncherRun>& launchers = outline.record.launchers;
  for (const LauncherRun& run : launchers) facts.restarts += RestartsBy(run);
  if (!launchers.empty()) facts.restarts += launchers.size() - 1;
  facts.requeues = RequeuedLaunches(outline.record).size();
  for (const Generation& generation : outline.generations) {
    facts.failed_saves += generation.failed_saves;
    if (generation.recomputed) {
      facts.max_recomputed_steps =
          std::max(facts.max_recomputed_steps, generation.recomputed->steps());
    }
    if (!facts.resumed_from && generation.resumed) {
      facts.resumed_from = generation.resumed->step;
    }
    if (!facts.resumed_from_memory && generation.resumed_from_memory) {
      facts.resumed_from_memory = generation.resumed_from_memory->step;
    }
  }
  AddRecomputations(outline, facts);
  facts.refused = HasRefused(outline.record);
  return facts;
}

namespace {

// Returns "step 5" or "a resumption from memory (step 7)": the position that
// the first resume started from; "no resumption" if there was none.
std::string ResumeText(const RunFacts& facts) {
  if (facts.resumed_from) return fmt::format("step {}", *facts.resumed_from);
  if (facts.resumed_from_memory) {
    return fmt::format("a resumption from memory (step {})",
                       *facts.resumed_from_memory);
  }
  return "no resumption";
}

// Returns the number of epochs that ended in any generation but the first. An
// epoch that ended in several generations counts once.
uint64_t EpochsAfterRestart(const Outline& outline) {
  std::set<uint64_t> epochs;
  for (const Generation& generation : outline.generations) {
    if (&generation == &outline.generations.front()) continue;
    epochs.insert(generation.epochs.begin(), generation.epochs.end());
  }
  return epochs.size();
}

// The events at the ends of the first and the last epoch.
struct Trend {
  RecordEvent first;
  RecordEvent last;
};
// Returns nullopt if fewer than two epochs ended.
std::optional<Trend> TrendOf(const Record& record) {
  std::map<uint64_t, const RecordEvent*> ends;
  for (const IncarnationEvents& incarnation : record.incarnations) {
    for (const RecordEvent& event : incarnation.events) {
      if (event.kind == RecordKind::kEpochEnd) ends[event.epoch] = &event;
    }
  }
  if (ends.size() < 2) return std::nullopt;
  return Trend{.first = *ends.begin()->second, .last = *ends.rbegin()->second};
}

float LossOf(const RecordEvent& event) {
  return std::bit_cast<float>(event.loss_bits);
}

void CheckTrend(const Record& record, Expectations& check) {
  if (!record.expect.loss_falls && !record.expect.accuracy_rises) return;
  const std::optional<Trend> trend = TrendOf(record);
  if (!trend) {
    constexpr std::string_view kTooFew = "fewer than two epochs";
    if (record.expect.loss_falls) {
      check.Broken("loss", "a falling loss", kTooFew, "loss: any");
    }
    if (record.expect.accuracy_rises) {
      check.Broken("accuracy", "a rising accuracy", kTooFew, "accuracy: any");
    }
    return;
  }
  const auto& [first, last] = *trend;
  if (record.expect.loss_falls && !(LossOf(last) < LossOf(first))) {
    const std::string expected =
        std::isfinite(LossOf(first)) && std::isfinite(LossOf(last))
            ? "less than " + FloatText(first.loss_bits)
            : "a finite, falling loss";
    check.Broken("loss", expected, FloatText(last.loss_bits), "loss: any");
  }
  if (record.expect.accuracy_rises && last.count <= first.count) {
    check.Broken("accuracy", fmt::format("more than {} correct", first.count),
                 fmt::to_string(last.count), "accuracy: any");
  }
}

// Returns "that of step 4"; "those of steps 6 and 8 (twice)" if two checkpoints
// are of step 8; "none" if there are no steps. `one` replaces the word "that",
// `several` the word "those".
std::string CheckpointsText(const std::vector<uint64_t>& steps,
                            std::string_view one, std::string_view several) {
  if (steps.empty()) return "none";
  std::map<uint64_t, size_t> counts;
  for (const uint64_t step : steps) ++counts[step];
  std::vector<std::string> texts;
  for (const auto& [step, count] : counts) {
    texts.push_back(fmt::to_string(step));
    if (count == 2) texts.back() += " (twice)";
    if (count > 2) texts.back() += fmt::format(" ({} times)", count);
  }
  if (texts.size() == 1) return fmt::format("{} of step {}", one, texts[0]);
  const std::string last = std::move(texts.back());
  texts.pop_back();
  return fmt::format("{} of steps {} and {}", several, fmt::join(texts, ", "),
                     last);
}

// Checks a key of `ends_at` against `found`, its value in the last result.
// nullopt: there is no result, so the expectation is not met.
void CheckEndsAt(std::string_view key, std::optional<uint64_t> expected,
                 std::optional<uint64_t> found, Expectations& check) {
  if (found) return check.Exactly(key, key, expected, *found);
  if (!expected) return;
  check.Broken(key, fmt::format("exactly {}", *expected), "no result",
               WithoutKey("ends_at"));
}

// Checks the key epochs_after_restart. If nothing was restarted, advises to
// remove the key: with any value of it, the judge makes the case inconclusive.
void CheckEpochsAfterRestart(const Outline& outline, const RunFacts& facts,
                             Expectations& check) {
  constexpr std::string_view kKey = "epochs_after_restart";
  const std::optional<uint64_t> expected =
      outline.record.expect.epochs_after_restart_exactly;
  const uint64_t found = EpochsAfterRestart(outline);
  if (!expected || *expected == found) return;
  check.Broken(
      kKey, fmt::format("exactly {}", *expected), std::to_string(found),
      facts.restarts == 0 ? WithoutKey(kKey)
                          : WithValue("epochs_after_restart.exactly", found));
}

void CheckEnd(const Outline& outline, const RunFacts& facts,
              Expectations& check) {
  const Record& record = outline.record;
  const Expectation& expect = record.expect;
  std::optional<uint64_t> epochs;
  std::optional<uint64_t> steps;
  if (!record.launchers.empty() && record.launchers.back().result) {
    epochs = record.launchers.back().result->epochs;
    steps = record.launchers.back().result->steps;
  }
  CheckEndsAt("ends_at.epoch", expect.ends_at_epoch, epochs, check);
  CheckEndsAt("ends_at.step", expect.ends_at_step, steps, check);
  uint64_t saves = 0;
  for (const Generation& generation : outline.generations) {
    saves += generation.saves.size();
  }
  check.Exactly("saves", "saves.exactly", expect.saves_exactly, saves);
  CheckEpochsAfterRestart(outline, facts, check);
  std::vector<uint64_t> left;
  for (const StoredCheckpoint& checkpoint : record.left.checkpoints) {
    left.push_back(checkpoint.step);
  }
  std::ranges::sort(left);
  if (expect.checkpoints_left && left != *expect.checkpoints_left) {
    check.Broken(
        "checkpoints",
        CheckpointsText(*expect.checkpoints_left, "the checkpoint",
                        "the checkpoints"),
        CheckpointsText(left, "that", "those"),
        WithValue("checkpoints", fmt::format("[{}]", fmt::join(left, ", "))));
  }
  CheckTrend(record, check);
}

}  // namespace

std::vector<Finding> BrokenExpectations(const Outline& outline,
                                        const RunFacts& facts) {
  const Expectation& expect = outline.record.expect;
  Expectations check;
  const std::string outcome = OutcomeOf(outline, facts);
  const std::string_view expected = OutcomeName(expect.outcome);
  if (expect.outcome != Outcome::kViolates && outcome != expected) {
    check.Broken("outcome", expected, outcome + RequeuesText(outline.record),
                 FindOutcome(outcome)
                     ? std::optional(WithValue("outcome", outcome))
                     : std::nullopt);
  }
  check.Exactly("restarts", "restarts.exactly", expect.restarts_exactly,
                facts.restarts);
  check.AtMost("restarts", "restarts.max", expect.restarts_max, facts.restarts);
  if (expect.resumed_from_step &&
      facts.resumed_from != expect.resumed_from_step) {
    const auto& found = facts.resumed_from;
    check.Broken("resumed_from",
                 fmt::format("step {}", *expect.resumed_from_step),
                 ResumeText(facts),
                 found ? WithValue("resumed_from.step", *found)
                       : WithoutKey("resumed_from"));
  }
  check.AtMost("recomputed_steps", "recomputed_steps.max",
               expect.recomputed_steps_max, facts.max_recomputed_steps);
  check.Exactly("failed_saves", "failed_saves.exactly",
                expect.failed_saves_exactly, facts.failed_saves);
  CheckEnd(outline, facts, check);
  const std::vector<LauncherRun>& launchers = outline.record.launchers;
  if (expect.exit_code && !launchers.empty() &&
      launchers.back().exit_code != *expect.exit_code) {
    const std::string found = std::to_string(launchers.back().exit_code);
    check.Broken("exit_code", std::to_string(*expect.exit_code), found,
                 WithValue("exit_code", found));
  }
  return std::move(check).Take();
}

}  // namespace gauntlet
