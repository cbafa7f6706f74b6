#include "harness/run/failure/history/begun_saves.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "engine/world/fault_point.h"
#include "harness/oracle/history/last_words.h"
#include "harness/record/base_name.h"
#include "harness/record/fault_occurrence.h"
#include "harness/record/fault_traits.h"
#include "harness/record/text/joined_texts.h"
#include "harness/record/text/named_faults.h"
#include "harness/record/text/number_list.h"
#include "harness/run/failure/history/worker_events.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

// Returns the text up to the first ": ", and removes both from `text`.
std::string_view TakePart(std::string_view& text) {
  constexpr std::string_view kColon = ": ";
  const size_t end = text.find(kColon);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + kColon.size());
  return part;
}

// Returns "ENOSPC in MANIFEST.json" or "EIO at ckpt.begin" for an error number
// that a fault injected. Returns the text of any other error without the
// directory.
std::string ReasonOfFailure(std::string_view error) {
  std::string_view rest = error;
  const size_t slash = rest.find('/');
  if (slash != rest.npos) rest.remove_prefix(slash);
  std::string_view place = BaseName(TakePart(rest));
  constexpr std::string_view kInjected = "injected E";
  const size_t injected = rest.find(kInjected);
  if (injected == rest.npos) {
    return slash == error.npos ? std::string(error)
                               : fmt::format("{}: {}", place, rest);
  }
  // If the error has no path, the place is the fault point, which stands before
  // the error number.
  std::string_view before = rest.substr(0, injected);
  while (slash == error.npos && !before.empty()) place = TakePart(before);
  std::string_view number = rest.substr(injected + kInjected.size() - 1);
  number = number.substr(0, number.find(' '));
  return fmt::format("{} {} {}", number, slash == error.npos ? "at" : "in",
                     place);
}

bool EndsASave(const RecordEvent& event) {
  return event.kind == RecordKind::kSaveAcknowledged ||
         event.kind == RecordKind::kSaveFailed;
}

// Returns the time from which a fault may have caused the failure: the begin of
// the save or, if the save reported none, the end of the save before it.
int64_t StartOfFailedSave(const Record& record, const BegunSave& save) {
  if (save.begin_ns < save.failure->t_ns) return save.begin_ns;
  int64_t start_ns = 0;
  ForEachEvent(record, [&](const RecordEvent& event) {
    if (EndsASave(event) && event.t_ns < save.failure->t_ns) {
      start_ns = std::max(start_ns, event.t_ns);
    }
  });
  return start_ns;
}

// The tries to save one step.
struct Tries {
  int64_t begin_ns = INT64_MAX;          // begin of the first try
  const RecordEvent* failure = nullptr;  // first failure
  int failed_in = 0;                     // incarnation of the first failure
  const RecordEvent* saved = nullptr;    // newest acknowledgement
  int saved_in = 0;  // incarnation of the newest acknowledgement

  // Returns true iff a failed save was acknowledged later.
  bool were_repeated() const {
    return failure != nullptr && saved != nullptr &&
           saved->t_ns >= failure->t_ns;
  }
};

// Returns the tries of all saves, by step.
std::map<uint64_t, Tries> TriesOf(const Record& record) {
  std::map<uint64_t, Tries> by_step;
  for (const IncarnationEvents& incarnation : record.incarnations) {
    for (const RecordEvent& event : incarnation.events) {
      if (event.kind == RecordKind::kSaveBegin) {
        Tries& tries = by_step[event.step];
        tries.begin_ns = std::min(tries.begin_ns, event.t_ns);
      } else if (event.kind == RecordKind::kSaveFailed) {
        Tries& tries = by_step[event.step];
        if (tries.failure != nullptr) continue;
        tries.failure = &event;
        tries.failed_in = incarnation.number;
      } else if (event.kind == RecordKind::kSaveAcknowledged) {
        Tries& tries = by_step[event.step];
        tries.saved = &event;
        tries.saved_in = incarnation.number;
      }
    }
  }
  return by_step;
}

}  // namespace

std::vector<BegunSave> SavesBegunBy(const Record& record,
                                    const RecordEvent& until) {
  std::map<uint64_t, BegunSave> saves;
  ForEachEvent(record, [&](const RecordEvent& event) {
    if (event.kind != RecordKind::kSaveBegin || ComesBefore(until, event))
      return;
    BegunSave& save = saves[event.step];
    save.step = event.step;
    save.begin_ns = std::max(save.begin_ns, event.t_ns);
  });
  // A save that fails at once reports no begin: the time of its failure counts
  // as its begin.
  ForEachEvent(record, [&](const RecordEvent& event) {
    if (event.kind == RecordKind::kSaveFailed && !ComesBefore(until, event)) {
      saves.try_emplace(event.step,
                        BegunSave{.step = event.step, .begin_ns = event.t_ns});
    }
  });
  ForEachEvent(record, [&](const RecordEvent& event) {
    const auto found = saves.find(event.step);
    if (found == saves.end() || ComesBefore(until, event) ||
        event.t_ns < found->second.begin_ns) {
      return;
    }
    if (event.kind == RecordKind::kSaveAcknowledged) {
      found->second.ending = SaveEnding::kAcknowledged;
      found->second.failure = nullptr;
    } else if (event.kind == RecordKind::kSaveFailed &&
               found->second.ending == SaveEnding::kPending) {
      found->second.ending = SaveEnding::kFailed;
      found->second.failure = &event;
    }
  });
  std::vector<BegunSave> begun;
  begun.reserve(saves.size());
  for (const auto& [step, save] : saves) begun.push_back(save);
  return begun;
}

std::string SavesText(const std::set<uint64_t>& steps) {
  return fmt::format("the save{} of {}", steps.size() == 1 ? "" : "s",
                     NumberedText("step", steps));
}

std::string NotAcknowledgedText(const std::set<uint64_t>& steps) {
  if (steps.empty()) return "";
  return fmt::format("{} began and {} not acknowledged", SavesText(steps),
                     steps.size() == 1 ? "was" : "were");
}

std::string FailedText(const std::set<uint64_t>& steps) {
  return SavesText(steps) + " failed";
}

std::string UnfinishedSavesText(const Record& record, uint64_t step,
                                const RecordEvent& until) {
  std::set<uint64_t> failed;
  std::set<uint64_t> pending;
  for (const BegunSave& save : SavesBegunBy(record, until)) {
    if (save.step <= step) continue;
    if (save.ending == SaveEnding::kFailed) failed.insert(save.step);
    if (save.ending == SaveEnding::kPending) pending.insert(save.step);
  }
  std::vector<std::string> texts;
  if (!failed.empty()) texts.push_back(FailedText(failed));
  if (!pending.empty()) texts.push_back(NotAcknowledgedText(pending));
  return JoinedTexts(std::move(texts));
}

std::vector<const RecordFault*> FaultsInSaves(
    const Record& record, int64_t from_ns, int64_t until_ns,
    const std::function<bool(const RecordFault&)>& is_wanted) {
  std::map<std::string_view, const RecordFault*> faults;
  ForEachEvent(record, [&](const RecordEvent& event) {
    if ((event.kind != RecordKind::kFaultFired &&
         event.kind != RecordKind::kFaultAgain) ||
        event.t_ns < from_ns || event.t_ns > until_ns) {
      return;
    }
    const RecordFault* const fault = FindFault(record, event.detail);
    if (fault != nullptr && fault->in_save && is_wanted(*fault)) {
      faults[fault->id] = fault;
    }
  });
  std::vector<const RecordFault*> found;
  found.reserve(faults.size());
  for (const auto& [id, fault] : faults) found.push_back(fault);
  return found;
}

std::vector<const RecordFault*> FailingFaults(const Record& record,
                                              const BegunSave& save) {
  return FaultsInSaves(
      record, StartOfFailedSave(record, save), save.failure->t_ns,
      [](const RecordFault& fault) { return TraitsOf(fault).reports_error; });
}

std::vector<BegunSave> SavesFailedByFaults(const Record& record) {
  std::vector<BegunSave> failed;
  for (const BegunSave& save : SavesBegunBy(record, {.t_ns = INT64_MAX})) {
    if (save.ending != SaveEnding::kFailed) continue;
    if (FailingFaults(record, save).empty()) return {};
    failed.push_back(save);
  }
  return failed;
}

std::string FailureReason(const Record& record, const BegunSave& save) {
  const std::vector<const RecordFault*> failing = FailingFaults(record, save);
  std::string error = ReasonOfFailure(save.failure->detail);
  if (failing.empty()) return error;
  const std::string faults = NamedFaults(failing);
  return error.empty() ? faults : fmt::format("{} ({})", faults, error);
}

std::string FailedSavesText(const Record& record, int64_t from_ns) {
  // Saves that the same faults made fail, or that failed without a fault.
  struct Failures {
    std::vector<const RecordFault*> faults = {};
    std::set<uint64_t> steps = {};
    std::string reason = {};  // of the last failure
  };
  std::vector<Failures> failures;
  for (const BegunSave& save : SavesBegunBy(record, {.t_ns = INT64_MAX})) {
    if (save.begin_ns < from_ns || save.ending != SaveEnding::kFailed) continue;
    std::vector<const RecordFault*> faults = FailingFaults(record, save);
    auto same = std::ranges::find(failures, faults, &Failures::faults);
    if (same == failures.end()) {
      same = failures.insert(same, Failures{.faults = std::move(faults)});
    }
    same->steps.insert(save.step);
    same->reason = FailureReason(record, save);
  }
  std::vector<std::string> texts;
  texts.reserve(failures.size());
  for (const auto& [faults, steps, reason] : failures) {
    texts.push_back(fmt::format("{}{}{}", FailedText(steps),
                                reason.empty() ? "" : ": ", reason));
  }
  return JoinedTexts(std::move(texts));
}

uint64_t StepOfSaveAt(const Record& record, const RecordEvent& fired) {
  // At the point kSaveBegin, the save has not yet emitted its event kSaveBegin.
  if (fired.path == PointName(Point::kSaveBegin)) return fired.step;
  const RecordEvent* const begun =
      NewestUntil(record, RecordKind::kSaveBegin, std::nullopt, fired);
  return begun == nullptr ? fired.step : begun->step;
}

bool IsFinalSave(const Record& record, const RecordEvent& save) {
  if (save.path.find("-finished-") != std::string::npos) return true;
  const uint64_t every = record.setup.save_interval_steps;
  return every > 0 && IsDone(record) && save.step % every != 0 &&
         save.step == record.launchers.back().result->steps;
}

bool HasFinalSave(const Record& record) {
  return FirstOf(record, [&record](const RecordEvent& event) {
           return event.kind == RecordKind::kSaveAcknowledged &&
                  IsFinalSave(record, event);
         }) != nullptr;
}

std::string RetriedSavesText(const Record& record) {
  std::vector<std::string> texts;
  for (const auto& [step, tries] : TriesOf(record)) {
    if (!tries.were_repeated()) continue;
    const std::string reason = FailureReason(
        record, {.step = step,
                 .begin_ns = std::min(tries.begin_ns, tries.failure->t_ns),
                 .ending = SaveEnding::kFailed,
                 .failure = tries.failure});
    texts.push_back(fmt::format(
        "{}{}{}; a later try{} saved step {}", FailedText({step}),
        reason.empty() ? "" : ": ", reason,
        tries.saved_in == tries.failed_in ? "" : ", after the restart,", step));
  }
  return JoinedTexts(std::move(texts));
}

std::set<uint64_t> StepsSavedAfterRestart(const Record& record) {
  std::set<uint64_t> steps;
  for (const auto& [step, tries] : TriesOf(record)) {
    if (tries.were_repeated() && tries.saved_in > tries.failed_in) {
      steps.insert(step);
    }
  }
  return steps;
}

std::string UnsavedText(const Record& record, const RecordEvent& end) {
  for (const IncarnationEvents& incarnation : record.incarnations) {
    if (end.about != incarnation.worker ||
        end.incarnation != incarnation.number || !LeftUnsaved(incarnation)) {
      continue;
    }
    const uint64_t step = incarnation.events.back().step;
    for (const BegunSave& save : SavesBegunBy(record, end)) {
      if (save.step == step && save.ending == SaveEnding::kFailed) {
        return fmt::format("{}: {}", FailedText({step}),
                           FailureReason(record, save));
      }
    }
  }
  return "";
}

}  // namespace gauntlet
