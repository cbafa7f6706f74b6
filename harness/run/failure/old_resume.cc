#include "harness/run/failure/old_resume.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/oracle/history/fault_traits.h"
#include "harness/record/checkpoint_loss.h"
#include "harness/record/fault_occurrence.h"
#include "harness/run/failure/begun_saves.h"
#include "harness/run/failure/worker_events.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

// A start of a generation from a checkpoint, or from step 0.
struct OldResume {
  uint64_t step = 0;
  int64_t t_ns = 0;
};

bool IsUnmet(const Verdict& verdict, std::string_view expectation) {
  return std::ranges::find(verdict.broken_expectations, expectation,
                           &Finding::name) != verdict.broken_expectations.end();
}

// Returns the start of the generation as its first event; nullopt if there is
// none.
std::optional<OldResume> StartOf(const Record& record,
                                 const Generation& generation) {
  const RecordKind kind =
      generation.resumed ? RecordKind::kResumed : RecordKind::kInitialized;
  std::optional<OldResume> first;
  ForEachEvent(record, [&](const RecordEvent& event) {
    if (event.kind == kind && event.generation == generation.number &&
        (!first || event.t_ns < first->t_ns)) {
      first = OldResume{.step = event.step, .t_ns = event.t_ns};
    }
  });
  return first;
}

// Returns the resume that an unmet expectation is about; nullopt if there is
// none.
std::optional<OldResume> ResumeToExplain(const Outline& outline,
                                         const Verdict& verdict) {
  const RunFacts& facts = verdict.facts;
  const bool is_old =
      IsUnmet(verdict, "resumed_from") &&
      facts.resumed_from < outline.record.expect.resumed_from_step;
  const bool recomputes = IsUnmet(verdict, "recomputed_steps");
  for (const Generation& generation : outline.generations) {
    if (!generation.resumed &&
        !(generation.cold_start && generation.recomputed)) {
      continue;
    }
    const bool starts_as_reported =
        generation.resumed.has_value() == facts.resumed_from.has_value();
    const bool recomputes_most =
        generation.recomputed &&
        generation.recomputed->steps() == facts.recomputed_steps;
    if ((is_old && starts_as_reported) || (recomputes && recomputes_most)) {
      return StartOf(outline.record, generation);
    }
  }
  return std::nullopt;
}

// Returns the newer checkpoints that had been saved and could not be loaded: "…
// of step-000000012-g1 was damaged by fault rot"; "" if there are none.
std::string UnloadableText(const Record& record, const OldResume& resume) {
  std::vector<std::string> texts;
  for (const LostCheckpoint& one : LostCheckpointsOf(record)) {
    if (one.step <= resume.step || one.acknowledged_ns > resume.t_ns) continue;
    const RecordEvent* const damage = DamageOf(record, one.name);
    if (damage != nullptr && damage->t_ns <= resume.t_ns) {
      texts.push_back(DamageText(record, one.name));
    } else if (one.found_ns <= resume.t_ns && one.is_gone) {
      texts.push_back(fmt::format(
          "{} was acknowledged, but nothing of it remained", one.name));
    } else if (one.found_ns <= resume.t_ns) {
      texts.push_back(
          fmt::format("{} was rejected ({})", one.name, one.reason));
    }
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

// Returns the newest event of that kind until that time, of the step or, if it
// is nullopt, of any step; null if there is none.
const RecordEvent* NewestUntil(const Record& record, RecordKind kind,
                               std::optional<uint64_t> step, int64_t until_ns) {
  const RecordEvent* newest = nullptr;
  ForEachEvent(record, [&](const RecordEvent& event) {
    if (event.kind == kind && event.t_ns <= until_ns &&
        event.step == step.value_or(event.step) &&
        (newest == nullptr || event.t_ns > newest->t_ns)) {
      newest = &event;
    }
  });
  return newest;
}

// Returns the first power loss or end of a process with an error in that time,
// as the machine or a launcher reported it; null if there is none.
const RecordEvent* FirstEnd(const Record& record, int64_t from_ns,
                            int64_t until_ns) {
  const RecordEvent* first = nullptr;
  const auto look_at = [&](const std::vector<RecordEvent>& events) {
    for (const RecordEvent& event : events) {
      const bool is_end = (event.kind == RecordKind::kProcessEnded ||
                           event.kind == RecordKind::kExited) &&
                          event.count != 0;
      if ((is_end || event.kind == RecordKind::kPowerCut) &&
          event.t_ns >= from_ns && event.t_ns <= until_ns &&
          (first == nullptr || event.t_ns < first->t_ns ||
           (event.t_ns == first->t_ns &&
            event.kind == RecordKind::kPowerCut))) {
        first = &event;
      }
    }
  };
  look_at(record.machine);
  for (const LauncherRun& run : record.launchers) look_at(run.events);
  return first;
}

// Returns "worker 2 was killed" or "host w0.1 lost power".
std::string EndText(const RecordEvent& end) {
  if (end.kind == RecordKind::kPowerCut) {
    return fmt::format("host {} lost power", end.path);
  }
  const int about = end.about.value_or(kLauncherWorker);
  const std::string who = about == kLauncherWorker
                              ? "the launcher"
                              : fmt::format("worker {}", about);
  if (end.reason == RecordReason::kSignal) return who + " was killed";
  if (end.reason == RecordReason::kUnreachable) {
    return who + " could no longer be reached";
  }
  return fmt::format("{} exited with code {}", who, end.count);
}

std::string MillisecondsText(int64_t ns) {
  return fmt::format("{:.{}f} ms", static_cast<double>(ns) / 1e6,
                     ns < 10'000'000 ? 1 : 0);
}

// Returns "; the save before took 620 ms" for the save before that time; "" if
// there was none.
std::string SaveBeforeText(const Record& record, int64_t begin_ns) {
  const RecordEvent* const done = NewestUntil(
      record, RecordKind::kSaveAcknowledged, std::nullopt, begin_ns);
  if (done == nullptr) return "";
  const RecordEvent* const began =
      NewestUntil(record, RecordKind::kSaveBegin, done->step, done->t_ns);
  if (began == nullptr) return "";
  return fmt::format("; the save before took {}",
                     MillisecondsText(done->t_ns - began->t_ns));
}

// Returns "; slowdisk (slow) delayed it" for the faults that fired in the save
// in that time and take time; "" if there are none.
std::string DelayText(const Record& record, int64_t from_ns, int64_t until_ns) {
  std::set<std::string> delays;
  ForEachEvent(record, [&](const RecordEvent& event) {
    if ((event.kind != RecordKind::kFaultFired &&
         event.kind != RecordKind::kFaultAgain) ||
        event.t_ns < from_ns || event.t_ns > until_ns) {
      return;
    }
    const RecordFault* const fault = FindFault(record, event.detail);
    if (fault == nullptr || !fault->in_save) return;
    if (fault->kind == "slow" || fault->kind == "pause" ||
        fault->kind == "hang") {
      delays.insert(fmt::format("{} ({})", fault->id, fault->kind));
    }
  });
  if (delays.empty()) return "";
  return fmt::format("; {} delayed it", fmt::join(delays, ", "));
}

// Describes the save that had begun last before the resume, if it is of a later
// step and had not been acknowledged; else returns "".
std::string UnfinishedSaveText(const Record& record, const OldResume& resume) {
  const std::vector<BegunSave> saves = SavesBegunBy(record, resume.t_ns);
  const auto last = std::ranges::max_element(saves, {}, &BegunSave::begin_ns);
  if (last == saves.end() || last->step <= resume.step) return "";
  switch (last->ending) {
    case SaveEnding::kAcknowledged:
      return "";
    case SaveEnding::kFailed:
      return fmt::format("the save of step {} failed", last->step);
    case SaveEnding::kPending:
      break;
  }
  const RecordEvent* const end = FirstEnd(record, last->begin_ns, resume.t_ns);
  if (end == nullptr) return NotAcknowledgedText({&last->step, 1});
  return fmt::format(
      "the save of step {} was still being written when {}, {} after it "
      "began{}{}",
      last->step, EndText(*end), MillisecondsText(end->t_ns - last->begin_ns),
      SaveBeforeText(record, last->begin_ns),
      DelayText(record, last->begin_ns, end->t_ns));
}

}  // namespace

std::string ExplainOldResume(const Outline& outline, const Verdict& verdict) {
  const std::optional<OldResume> resume = ResumeToExplain(outline, verdict);
  if (!resume) return "";
  const Record& record = outline.record;
  std::string unloadable = UnloadableText(record, *resume);
  return unloadable.empty() ? UnfinishedSaveText(record, *resume)
                            : std::move(unloadable);
}

}  // namespace gauntlet
