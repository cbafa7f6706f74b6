#include "harness/run/failure/recovery_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/record/base_name.h"
#include "harness/record/checkpoint_loss.h"
#include "harness/record/text/facts_text.h"
#include "harness/record/text/joined_texts.h"
#include "harness/record/text/number_list.h"
#include "harness/run/failure/history/begun_saves.h"
#include "harness/run/failure/history/scale_downs.h"
#include "harness/run/failure/history/worker_events.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Returns "the checkpoint is intact, but the state changed …"; "" if no load
// changed the state.
std::string ChangedLoadText(const Record& record) {
  const RecordEvent* const resumed = ChangedLoad(record);
  if (resumed == nullptr) return "";
  switch (IntegrityOf(record, BaseName(resumed->path))) {
    case Integrity::kDamaged:
      return "a damaged checkpoint was loaded without being noticed";
    case Integrity::kIntact:
      return "the checkpoint is intact, but the state changed after it was "
             "read";
    case Integrity::kNotVerified:
      return "the state is not the saved one, although no fault damaged the "
             "checkpoint (it was removed later, so it is not verified)";
  }
  return "";
}

// Returns true iff workers got a state to train from after the first start:
// from a checkpoint, from memory, or by a cold start.
bool HasStartedAgain(const Record& record) {
  for (const IncarnationEvents& incarnation : record.incarnations) {
    for (const RecordEvent& event : incarnation.events) {
      if (event.kind == RecordKind::kResumed ||
          event.kind == RecordKind::kResumedFromMemory ||
          (event.kind == RecordKind::kInitialized && incarnation.number > 1)) {
        return true;
      }
    }
  }
  return false;
}

// Returns "then the run refused to train (exit code 7), so nothing was
// recovered" for a run whose last launcher ended without a result; else "".
std::string WithoutResultText(const Record& record, const RunFacts& facts) {
  if (record.ending != RunEnding::kExited || record.launchers.empty() ||
      record.launchers.back().result) {
    return "";
  }
  return fmt::format(
      "then the run {} (exit code {}){}",
      facts.refused ? "refused to train" : "ended without a result",
      record.launchers.back().exit_code,
      facts.restarts > 0 && !HasStartedAgain(record)
          ? ", so nothing was recovered"
          : "");
}

// A start of a generation, or several equal ones in a row.
struct GenerationStart {
  std::string_view verb;  // "resumed" or "started"
  std::string from;       // "from the checkpoint of step 5"
  std::string notes = {};
  size_t count = 1;
};

GenerationStart GenerationStartOf(const Generation& generation) {
  if (generation.resumed_from_memory) {
    return {"resumed", fmt::format("from memory at step {}",
                                   generation.resumed_from_memory->step)};
  }
  if (!generation.resumed) return {"started", "from scratch"};
  return {"resumed", fmt::format("from the checkpoint of step {}",
                                 generation.resumed->step)};
}

// Returns "resumed 3 times from the checkpoint of step 5, as the scenario
// expects".
std::string StartText(const GenerationStart& start) {
  return fmt::format(
      "{}{} {}{}", start.verb,
      start.count == 1 ? "" : fmt::format(" {} times", start.count), start.from,
      start.notes);
}

// Returns the steps of the checkpoints that the run rejected before the resume
// and that are of a later step than the resume.
std::set<uint64_t> NewerRejectedSteps(const Record& record,
                                      const RecordEvent& resume) {
  std::set<uint64_t> steps;
  ForEachEvent(record, [&](const RecordEvent& event) {
    if (event.kind != RecordKind::kRejected || ComesBefore(resume, event)) {
      return;
    }
    const std::optional<uint64_t> step = StepInName(BaseName(event.path));
    if (step && *step > resume.step) steps.insert(*step);
  });
  return steps;
}

// Describes the first resume from a checkpoint: whether the scenario expects
// it, and which newer checkpoints were skipped or rejected. REQUIRES: a worker
// resumed.
std::string NotesOnResume(const Record& record, uint64_t step) {
  const bool is_expected = record.expect.resumed_from_step == step;
  const std::string expected = is_expected ? ", as the scenario expects" : "";
  // The inserted clause ends in a comma if the sentence continues.
  const std::string inserted = is_expected ? expected + "," : "";
  const RecordEvent& resume = *FirstOf(record, [](const RecordEvent& event) {
    return event.kind == RecordKind::kResumed;
  });
  const uint64_t newest = NewestSaveBefore(record, resume);
  const std::set<uint64_t> rejected = NewerRejectedSteps(record, resume);
  if (newest > step && rejected.contains(newest)) {
    return fmt::format(
        "{} because {} rejected", inserted,
        rejected.size() == 1
            ? fmt::format("the checkpoint of step {} was", newest)
            : fmt::format("the checkpoints of {} were",
                          NumberedText("step", rejected)));
  }
  if (newest > step) {
    return fmt::format("{} although a save of step {} had been acknowledged",
                       inserted, newest);
  }
  const std::string pending = UnfinishedSavesText(record, step, resume);
  return pending.empty() ? expected : fmt::format("{} ({})", expected, pending);
}

// Returns the starts of generations in their order, without the first start of
// the run if it is from scratch. Adds notes to the first resume from a
// checkpoint.
std::vector<GenerationStart> GenerationStartsOf(const Outline& outline) {
  std::vector<GenerationStart> starts;
  bool has_notes = false;
  for (const Generation& generation : outline.generations) {
    if (!generation.has_started()) continue;
    const bool is_first = &generation == &outline.generations.front();
    if (is_first && generation.cold_start) continue;
    GenerationStart start = GenerationStartOf(generation);
    if (!starts.empty() && starts.back().from == start.from) {
      ++starts.back().count;
      continue;
    }
    if (generation.resumed && !has_notes) {
      has_notes = true;
      start.notes = NotesOnResume(outline.record, generation.resumed->step);
    }
    starts.push_back(std::move(start));
  }
  return starts;
}

void AddStarts(const Outline& outline, std::vector<std::string>& texts) {
  constexpr size_t kMostStarts = 4;
  const std::vector<GenerationStart> starts = GenerationStartsOf(outline);
  for (size_t i = 0; i < std::min(starts.size(), kMostStarts); ++i) {
    texts.push_back(StartText(starts[i]));
  }
  if (starts.size() > kMostStarts) {
    texts.push_back(fmt::format("{} more", starts.size() - kMostStarts));
  }
}

}  // namespace

const RecordEvent* ChangedLoad(const Record& record) {
  std::map<std::string_view, std::string_view> saved;  // digests, by name
  ForEachEvent(record, [&](const RecordEvent& event) {
    if (event.kind != RecordKind::kSaveAcknowledged) return;
    saved[BaseName(event.path)] = event.digest;
  });
  for (const IncarnationEvents& incarnation : record.incarnations) {
    const RecordEvent* loaded = nullptr;
    for (const RecordEvent& event : incarnation.events) {
      if (event.kind == RecordKind::kLoaded) loaded = &event;
      if (event.kind != RecordKind::kResumed || loaded == nullptr) continue;
      const auto at = saved.find(BaseName(event.path));
      if (at != saved.end() && loaded->digest == at->second &&
          event.digest != at->second) {
        return &event;
      }
    }
  }
  return nullptr;
}

std::string RecoveryText(const Outline& outline, const RunFacts& facts) {
  const Record& record = outline.record;
  std::vector<std::string> texts;
  texts.push_back(facts.restarts == 0 ? "no restart" : RestartsText(facts));
  for (std::string& text : ScaleDownTexts(record)) {
    texts.push_back(std::move(text));
  }
  const size_t before = texts.size();
  AddStarts(outline, texts);
  const bool has_started_again = texts.size() > before;
  if (std::string text = ChangedLoadText(record); !text.empty()) {
    texts.push_back(std::move(text));
  }
  if (has_started_again) texts.push_back(RecomputedText(facts));
  if (record.ending != RunEnding::kExited) {
    texts.push_back(
        fmt::format("then the run {}", RunEndingText(record.ending)));
  }
  if (std::string text = WithoutResultText(record, facts); !text.empty()) {
    texts.push_back(std::move(text));
  }
  return JoinedTexts(std::move(texts));
}

}  // namespace gauntlet
