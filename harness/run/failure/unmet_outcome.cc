#include "harness/run/failure/unmet_outcome.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/text/units.h"
#include "harness/oracle/history/last_words.h"
#include "harness/record/text/gave_up.h"
#include "harness/run/failure/interruptions.h"
#include "harness/run/failure/process_ends.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

std::string GaveUpText(const Outline& outline, const RecordEvent& gave_up) {
  std::vector<std::string> texts =
      FaultsOfAll(outline, InterruptionsOf(outline));
  texts.push_back("the launcher gave up: " +
                  GaveUpReasonText(outline.record.setup, gave_up));
  return fmt::format("{}", fmt::join(texts, "; "));
}

// Returns the reason why a complete run had no restart.
std::string NoRestartText(const Record& record) {
  const RecordEvent* const end = FirstEnd(record, INT64_MIN, INT64_MAX);
  return end == nullptr
             ? "no process ended before training was complete, so nothing had "
               "to be restarted"
             : EndText(*end) + ", but training was completed without a restart";
}

// Describes the first interruption after `permitted` ones; "" if there was
// none.
std::string RestartText(const Outline& outline, uint64_t permitted) {
  const std::vector<Interruption> all = InterruptionsOf(outline);
  return permitted < all.size() ? InterruptionText(outline, all[permitted])
                                : "";
}

// Describes the end of a run that could not save its state; "" for other ends.
std::string UnsavedEndText(const Outline& outline) {
  const Record& record = outline.record;
  const std::vector<Interruption> all = InterruptionsOf(outline);
  if (all.empty() || std::ranges::none_of(record.lives, LeftUnsaved)) return "";
  const std::string text = InterruptionText(outline, all.back());
  if (text.empty()) return "";
  return fmt::format("{}; the launcher exited with code {}", text,
                     record.launchers.back().exit_code);
}

// Returns the most restarts that the scenario permits, if the expectation that
// limits them is unmet; else UINT64_MAX.
uint64_t ExceededLimit(const Expectation& expect, const Verdict& verdict) {
  if (IsUnmet(verdict, "outcome") && expect.outcome != Outcome::kRecovers) {
    return 0;
  }
  if (!IsUnmet(verdict, "restarts")) return UINT64_MAX;
  return std::min(expect.restarts_exactly.value_or(UINT64_MAX),
                  expect.restarts_max.value_or(UINT64_MAX));
}

// Returns "no process ended and no worker was declared lost
// (cluster.step_timeout is 30s)".
std::string NoSignText(const RunSetup& setup) {
  return fmt::format(
      "no process ended and no worker was declared lost{}",
      setup.step_timeout_ns == 0
          ? ""
          : fmt::format(" (cluster.step_timeout is {})",
                        DurationToText(Duration(setup.step_timeout_ns))));
}

// Describes why the run was ended from outside: "the run did not end within 50s
// (timeout.total)".
std::string EndlessText(const Record& record) {
  const auto within = [](int64_t limit_ns) {
    return limit_ns == 0 ? "its limit" : DurationToText(Duration(limit_ns));
  };
  if (record.ending == RunEnding::kTimedOut) {
    return fmt::format("the run did not end within {} (timeout.total)",
                       within(record.setup.longest_run_ns));
  }
  return record.world == "sim"
             ? "every process waited, and no time limit ended that"
             : fmt::format("no worker emitted an event for {} (timeout.hang)",
                           within(record.setup.longest_silence_ns));
}

}  // namespace

std::string ExplainOutcome(const Outline& outline, const Verdict& verdict) {
  const Record& record = outline.record;
  const Outcome expected = record.expect.outcome;
  if (record.ending != RunEnding::kExited) return "";
  const uint64_t permitted = ExceededLimit(record.expect, verdict);
  if (IsDone(record) && verdict.facts.restarts > permitted) {
    return RestartText(outline, permitted);
  }
  if (!IsUnmet(verdict, "outcome")) return "";
  if (const RecordEvent* const gave_up = FindGaveUp(record)) {
    return expected == Outcome::kGivesUp ? "" : GaveUpText(outline, *gave_up);
  }
  if (!IsDone(record)) return UnsavedEndText(outline);
  if (expected == Outcome::kRecovers && verdict.facts.restarts == 0) {
    return NoRestartText(record);
  }
  return "";
}

std::string ExplainHang(const Outline& outline) {
  const Record& record = outline.record;
  if (record.ending == RunEnding::kExited) return "";
  const std::vector<Interruption> all = InterruptionsOf(outline);
  const int64_t from_ns = all.empty() ? INT64_MIN : all.back().reaction_ns;
  std::vector<std::string> texts;
  for (const RecordFault* fault :
       InterruptingFaults(outline, from_ns, INT64_MAX)) {
    texts.push_back(
        fmt::format("fault {} ({}) fired", fault->id, fault->summary));
  }
  const std::string sign = FirstSignText(record, from_ns, INT64_MAX);
  texts.push_back(sign.empty() ? NoSignText(record.setup) : sign);
  texts.push_back(EndlessText(record));
  return fmt::format("{}", fmt::join(texts, "; "));
}

}  // namespace gauntlet
