#include "harness/run/failure/old_resume.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/record/base_name.h"
#include "harness/record/checkpoint_loss.h"
#include "harness/record/text/joined_texts.h"
#include "harness/run/failure/history/begun_saves.h"
#include "harness/run/failure/history/cut_save.h"
#include "harness/run/failure/history/deletions.h"
#include "harness/run/failure/history/interruptions.h"
#include "harness/run/failure/history/worker_events.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// A start of a generation from a checkpoint, or from step 0.
struct OldResume {
  uint64_t step = 0;
  const RecordEvent* event = nullptr;  // first start event of its workers
  bool is_cold = false;                // from step 0
  int64_t since_ns = 0;                // start of the generation before
};

// A part of the cause, about the saves of these steps.
struct Clause {
  std::set<uint64_t> steps;
  std::string text;
};

// Returns the start of the generation, with its first event; nullopt if the
// generation did not start from a checkpoint or from step 0.
std::optional<OldResume> StartOf(const Record& record,
                                 const Generation& generation) {
  const RecordKind kind =
      generation.resumed ? RecordKind::kResumed : RecordKind::kInitialized;
  const RecordEvent* const first =
      FirstOf(record, [&](const RecordEvent& event) {
        return event.kind == kind && event.generation == generation.number;
      });
  if (first == nullptr) return std::nullopt;
  return OldResume{
      .step = first->step, .event = first, .is_cold = !generation.resumed};
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
  int64_t since_ns = 0;
  for (const Generation& generation : outline.generations) {
    std::optional<OldResume> start = StartOf(outline.record, generation);
    if (start) start->since_ns = std::exchange(since_ns, start->event->t_ns);
    if (!generation.resumed &&
        !(generation.cold_start && generation.recomputed)) {
      continue;
    }
    const bool starts_as_reported =
        generation.resumed.has_value() == facts.resumed_from.has_value();
    const bool recomputes_most =
        generation.recomputed &&
        generation.recomputed->steps() == facts.max_recomputed_steps;
    if ((is_old && starts_as_reported) || (recomputes && recomputes_most)) {
      return start;
    }
  }
  return std::nullopt;
}

// Returns ", and the run rejected that checkpoint (expected 12604 bytes, found
// 5041)" if the run rejected the damaged checkpoint before the resume; else "".
// The reason does not repeat the name of the damaged file.
std::string RejectionAfterDamageText(const Record& record,
                                     const RecordEvent& damage,
                                     const RecordEvent& resume) {
  const RecordEvent* const rejected =
      FirstOf(record, [&](const RecordEvent& event) {
        return event.kind == RecordKind::kRejected &&
               BaseName(event.path) == CheckpointOfFile(damage.path) &&
               event.t_ns <= resume.t_ns;
      });
  if (rejected == nullptr) return "";
  const std::string file = fmt::format("{}: ", BaseName(damage.path));
  std::string_view reason = rejected->detail;
  if (reason.starts_with(file)) reason.remove_prefix(file.size());
  return fmt::format(", and the run rejected that checkpoint ({})", reason);
}

// Adds the newer checkpoints that had been saved and could not be loaded: "… of
// step-000000012-g1 was damaged by fault rot, and the run rejected that
// checkpoint (…)".
void AddUnloadable(const Record& record, const OldResume& resume,
                   std::vector<Clause>& clauses) {
  for (const LostCheckpoint& one : LostCheckpointsOf(record)) {
    if (one.step <= resume.step || one.acknowledged_ns > resume.event->t_ns)
      continue;
    const RecordEvent* const damage = DamageOf(record, one.name);
    std::string text;
    if (damage != nullptr && damage->t_ns <= resume.event->t_ns) {
      text = DamageText(record, one.name) +
             RejectionAfterDamageText(record, *damage, *resume.event);
    } else if (one.found_ns <= resume.event->t_ns && one.is_gone) {
      text = fmt::format("{} was acknowledged, but nothing of it remained",
                         one.name);
    } else if (one.found_ns <= resume.event->t_ns) {
      text = fmt::format("{} was rejected ({})", one.name, one.reason);
    } else {
      continue;
    }
    clauses.push_back({.steps = {one.step}, .text = std::move(text)});
  }
}

// Returns ", and no checkpoint could be deleted to make room, as
// step-000000010-g1 was damaged" if this is why a save, which failed on a full
// disk, was not tried again; else "".
std::string NoRoomMadeText(const Record& record, const BegunSave& save) {
  const RecordEvent* const damage = DamageThatKeptOldest(record, save);
  if (damage == nullptr) return "";
  return fmt::format(
      ", and no checkpoint could be deleted to make room, as {} was damaged",
      CheckpointOfFile(damage->path));
}

// Adds the newer saves that had failed, with one clause for each reason.
void AddFailed(const Record& record, const OldResume& resume,
               const std::vector<BegunSave>& saves,
               std::vector<Clause>& clauses) {
  std::vector<Clause> failed;  // `text` is the reason
  for (const BegunSave& save : saves) {
    if (save.ending != SaveEnding::kFailed || save.step <= resume.step) {
      continue;
    }
    std::string reason =
        FailureReason(record, save) + NoRoomMadeText(record, save);
    const auto same = std::ranges::find(failed, reason, &Clause::text);
    if (same == failed.end()) {
      failed.push_back({.steps = {save.step}, .text = std::move(reason)});
    } else {
      same->steps.insert(save.step);
    }
  }
  for (Clause& clause : failed) {
    const std::string reason =
        std::exchange(clause.text, FailedText(clause.steps));
    if (!reason.empty()) clause.text += ": " + reason;
    clauses.push_back(std::move(clause));
  }
}

// Adds the save that had begun last before the resume, if it is of a later step
// and was pending. Returns true iff it added a clause. This clause names the
// end that led to the resume, if one is recorded after the save began.
bool AddPending(const Outline& outline, const OldResume& resume,
                const std::vector<BegunSave>& saves,
                std::vector<Clause>& clauses) {
  const auto last = std::ranges::max_element(saves, {}, &BegunSave::begin_ns);
  if (last == saves.end() || last->step <= resume.step ||
      last->ending != SaveEnding::kPending) {
    return false;
  }
  clauses.push_back(
      {.steps = {last->step},
       .text = PendingSaveText(
           outline, *last,
           {.since_ns = resume.since_ns, .until_ns = resume.event->t_ns})});
  return true;
}

// Returns "the run resumed from step 5", or "the run started from scratch
// again".
std::string StartText(const OldResume& resume) {
  return resume.is_cold
             ? "the run started from scratch again"
             : fmt::format("the run resumed from step {}", resume.step);
}

// Returns "no save of step 10 had begun when worker 1 was killed because of
// fault k (…), so the run resumed from step 5" if the run was expected to
// resume from step 10; "no save had begun …" if it started from scratch.
// Returns "" if that save had begun.
std::string NotBegunText(const Outline& outline, const Verdict& verdict,
                         const OldResume& resume) {
  const Record& record = outline.record;
  const auto has_begun = [&](std::optional<uint64_t> step) {
    return NewestUntil(record, RecordKind::kSaveBegin, step, *resume.event) !=
           nullptr;
  };
  std::string save = "no save";
  if (!resume.is_cold || has_begun(std::nullopt)) {
    const std::optional<uint64_t> expected = record.expect.resumed_from_step;
    if (!IsUnmet(verdict, "resumed_from") || !expected || has_begun(expected)) {
      return "";
    }
    save = fmt::format("no save of step {}", *expected);
  }
  return fmt::format(
      "{} had begun when {}, so {}", save,
      EndBeforeStartText(outline, resume.since_ns, *resume.event),
      StartText(resume));
}

}  // namespace

std::string ExplainOldResume(const Outline& outline, const Verdict& verdict) {
  const std::optional<OldResume> resume = ResumeToExplain(outline, verdict);
  if (!resume) return "";
  const Record& record = outline.record;
  std::vector<BegunSave> saves = SavesBegunBy(record, *resume->event);
  std::erase_if(saves, [&](const BegunSave& save) {
    return save.begin_ns < resume->since_ns;
  });
  std::vector<Clause> clauses;
  AddFailed(record, *resume, saves, clauses);
  AddUnloadable(record, *resume, clauses);
  const bool was_pending = AddPending(outline, *resume, saves, clauses);
  // Puts the save of the expected step first, because it is the cause. The
  // other clauses only explain why the run did not resume from those saves.
  std::stable_partition(clauses.begin(), clauses.end(),
                        [&](const Clause& clause) {
                          const std::optional<uint64_t> expected =
                              record.expect.resumed_from_step;
                          return expected && clause.steps.contains(*expected);
                        });
  if (clauses.empty()) return NotBegunText(outline, verdict, *resume);
  std::vector<std::string> texts;
  texts.reserve(clauses.size() + 1);
  for (Clause& clause : clauses) texts.push_back(std::move(clause.text));
  if (!was_pending) {
    texts.push_back(fmt::format(
        "when {}, {}",
        EndBeforeStartText(outline, resume->since_ns, *resume->event),
        StartText(*resume)));
  }
  return JoinedTexts(std::move(texts));
}

}  // namespace gauntlet
