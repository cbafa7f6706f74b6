#include "reports/events/event_text.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <vector>

#include "engine/epoch_text.h"
#include "harness/record/base_name.h"
#include "harness/record/fault_occurrence.h"
#include "harness/record/power_cut.h"
#include "harness/record/text/error_text.h"
#include "harness/record/text/gave_up.h"
#include "harness/record/text/value_text.h"
#include "reports/events/process_spans.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Returns " (text)", or "" without text.
std::string InBrackets(std::string_view text) {
  return text.empty() ? "" : fmt::format(" ({})", text);
}

std::string AfterColon(std::string_view text) {
  return text.empty() ? "" : fmt::format(": {}", text);
}

std::string FaultText(const Record& record,
                      const IncarnationEvents& incarnation,
                      const RecordEvent& event) {
  const RecordFault* const fault = FindFault(record, event.detail);
  if (fault == nullptr)
    return fmt::format("{} fires at {}", event.detail, event.path);
  const std::string in_save = SaveOfFaultText(record, event);
  return fmt::format("{} fires: {}{}{}{}", fault->id, fault->summary,
                     in_save.empty() ? "" : ", ", in_save,
                     TimesFiredText(record, incarnation, event.detail));
}

// Returns ": write 0.012 s, sync 0.003 s", longest first; "" without times.
std::string TimesText(std::vector<RecordTime> times) {
  std::ranges::stable_sort(times, std::greater(), &RecordTime::took_ns);
  std::string text;
  for (const RecordTime& time : times) {
    text += fmt::format("{}{} {:.3f} s", text.empty() ? ": " : ", ", time.part,
                        static_cast<double>(time.took_ns) / 1e9);
  }
  return text;
}

// Returns the text of an event that announces an action.
std::string TextOfIntent(const RecordEvent& event) {
  switch (event.kind) {
    case RecordKind::kClaimBegin:
      return fmt::format("is about to claim generation {}", event.count);
    case RecordKind::kRetireBegin:
      return fmt::format("is about to remove {}", BaseName(event.path));
    case RecordKind::kRejectBegin:
      return fmt::format("is about to set rejected {} aside",
                         BaseName(event.path));
    case RecordKind::kDeleteBegin:
      return "is about to delete all checkpoints";
    case RecordKind::kLeaving:
      return "closes its connections";
    default:
      return "";
  }
}

std::string TextOfSave(const RecordEvent& event) {
  switch (event.kind) {
    case RecordKind::kSaveBegin:
      return fmt::format("save of step {} begins", event.step);
    case RecordKind::kSaveCopied:
      return fmt::format("save of step {} copied{}", event.step,
                         InBrackets(event.detail));
    case RecordKind::kSaveAcknowledged:
      return fmt::format("save of step {} acknowledged{}", event.step,
                         InBrackets(BaseName(event.path)));
    case RecordKind::kSaveFailed:
      return fmt::format("save of step {} failed{}", event.step,
                         AfterColon(ShortError(event.detail)));
    case RecordKind::kRetired:
      return fmt::format("{} retired", BaseName(event.path));
    case RecordKind::kRejected:
      return fmt::format("{} rejected{}", BaseName(event.path),
                         AfterColon(event.detail));
    case RecordKind::kFencedFound:
      return fmt::format("takes {} for fenced", BaseName(event.path));
    case RecordKind::kLoaded:
      return fmt::format("{} loaded", BaseName(event.path));
    case RecordKind::kLoadFailed:
      return fmt::format("cannot load {}{}", BaseName(event.path),
                         InBrackets(RecordReasonName(event.reason)));
    case RecordKind::kBackupDeleted:
      return "checkpoints deleted";
    case RecordKind::kSaveTimes:
      return fmt::format("training waited for the save of step {}{}{}",
                         event.step, TimesText(event.parts),
                         event.background.empty()
                             ? ""
                             : "; meanwhile" + TimesText(event.background));
    case RecordKind::kStartTimes:
      return fmt::format("training begins after step {}{}", event.step,
                         TimesText(event.parts));
    default:
      return TextOfIntent(event);
  }
}

std::string TextOfTraining(const RecordEvent& event) {
  switch (event.kind) {
    case RecordKind::kResumed:
      return fmt::format("resumes from step {}{}", event.step,
                         InBrackets(BaseName(event.path)));
    case RecordKind::kInitialized:
      return "starts from scratch";
    case RecordKind::kResumedFromMemory:
      return fmt::format("resumes from memory at step {}{}", event.step,
                         InBrackets(event.detail));
    case RecordKind::kStep:
      return fmt::format("step {}, loss {}", event.step,
                         FloatText(event.loss_bits));
    case RecordKind::kEvaluated:
      return fmt::format("evaluated at step {}, loss {}", event.step,
                         FloatText(event.loss_bits));
    case RecordKind::kEpochEnd:
      return fmt::format("{} ends, loss {}", EpochName(event.epoch),
                         FloatText(event.loss_bits));
    case RecordKind::kNotFinite:
      return fmt::format("not finite at step {}{}", event.step,
                         AfterColon(event.detail));
    case RecordKind::kFinished:
      return fmt::format("training ends at step {}", event.step);
    default:
      return "";
  }
}

// Returns true iff the exit has the same reason as a loss that the worker
// detected.
bool IsStatedBefore(const IncarnationEvents& incarnation,
                    const RecordEvent& exit) {
  return std::ranges::any_of(incarnation.events, [&exit](
                                                     const RecordEvent& event) {
    return event.kind == RecordKind::kWorkerLost && event.detail == exit.detail;
  });
}

// Returns " (silent, limit 5.000 s)": the reason of a loss, with the limit of a
// wait that exceeded it; "" if the reason is unknown.
std::string LossReasonText(const RecordEvent& loss) {
  if (loss.reason == RecordReason::kNone) return "";
  const bool has_waited = loss.reason == RecordReason::kSilent ||
                          loss.reason == RecordReason::kDeadline;
  return fmt::format(" ({}{})", RecordReasonName(loss.reason),
                     has_waited && loss.limit_ns > 0
                         ? fmt::format(", limit {:.3f} s",
                                       static_cast<double>(loss.limit_ns) / 1e9)
                         : "");
}

std::string TextOfMembership(const IncarnationEvents& incarnation,
                             const RecordEvent& event) {
  switch (event.kind) {
    case RecordKind::kWorkerStarted:
      return fmt::format("incarnation {} starts", incarnation.number);
    case RecordKind::kGeneration:
      return fmt::format("claims generation {}", event.generation);
    case RecordKind::kFencedOut:
      return "superseded by a newer generation";
    case RecordKind::kNotice:
      return "receives a preemption notice";
    case RecordKind::kStopAgreed:
      return fmt::format("all agree to stop at step {}", event.step);
    case RecordKind::kWorkerLost:
      if (incarnation.worker == kLauncherWorker) {
        return fmt::format("receives nothing from worker {}",
                           event.about.value_or(0));
      }
      return fmt::format(
          "loses {}{}{}",
          event.about ? fmt::format("rank {}", *event.about) : "another rank",
          LossReasonText(event), AfterColon(event.detail));
    case RecordKind::kLeft:
      return fmt::format("leaves generation {} to rejoin{}", event.generation,
                         AfterColon(event.detail));
    case RecordKind::kResultAcknowledged:
      return "the launcher has the result";
    case RecordKind::kWorkerExited:
      return fmt::format("exits with {}{}", event.count,
                         IsStatedBefore(incarnation, event)
                             ? ""
                             : AfterColon(ShortError(event.detail)));
    default:
      return "";
  }
}

std::string TextOfExit(const RecordEvent& event) {
  return fmt::format(
      "worker {} {}{}", event.about.value_or(0), EndingText(event),
      event.reason == RecordReason::kUnreachable ? ": given up" : "");
}

// Returns the text of a launcher's start. `number`: that of the start, from 1.
std::string TextOfLaunch(const Record& record, int number) {
  if (number <= 1) return "starts";
  const auto index = static_cast<size_t>(number) - 1;
  const std::vector<LauncherRun>& launchers = record.launchers;
  if (index >= launchers.size() ||
      IsRequeue(launchers[index - 1], launchers[index])) {
    return "is started again, as a scheduler requeues a job";
  }
  return fmt::format("is started again, as planned (entry {} of launches)",
                     launchers[index].planned + 1);
}

std::string TextOfLauncher(const Record& record,
                           const IncarnationEvents& incarnation,
                           const RecordEvent& event) {
  const std::string_view reason = RecordReasonName(event.reason);
  const int worker = event.about.value_or(0);
  switch (event.kind) {
    case RecordKind::kLauncherBegin:
      return TextOfLaunch(record, incarnation.number);
    case RecordKind::kStarted:
      return fmt::format("starts worker {}, incarnation {}", worker,
                         event.incarnation);
    case RecordKind::kAskedToStop:
      return fmt::format(
          "asks worker {}{} to stop", worker,
          event.reason == RecordReason::kUnreachable ? " (unreachable)" : "");
    case RecordKind::kKillSent:
      return fmt::format("kills worker {} ({})", worker, reason);
    case RecordKind::kExited:
      return TextOfExit(event);
    case RecordKind::kAttemptEnds:
      return fmt::format("ends the attempt ({})", reason);
    case RecordKind::kRestarting:
      return fmt::format("restart {}, in {:.3f} s", event.count,
                         static_cast<double>(event.limit_ns) / 1e9);
    case RecordKind::kResultReceived:
      return "has the result";
    case RecordKind::kLauncherEnd:
      return fmt::format("exits with {}", event.count);
    default:
      return "";
  }
}

std::string TextOfMachine(const Record& record, const RecordEvent& event) {
  const int about = event.about.value_or(0);
  switch (event.kind) {
    case RecordKind::kProcessEnded:
      return about == kLauncherWorker ? "the launcher's process ended"
                                      : TextOfExit(event);
    case RecordKind::kPowerCut:
      return PowerCutText(record, event) +
             (event.detail.empty()
                  ? ""
                  : InBrackets("disk profile " + event.detail));
    case RecordKind::kFrameLate:
      return fmt::format("a frame{} is {:.3f} s late{}",
                         event.about ? fmt::format(" of worker {}", about) : "",
                         static_cast<double>(event.limit_ns) / 1e9,
                         InBrackets(event.detail));
    default:
      return "";
  }
}

}  // namespace

std::string EventText(const Record& record,
                      const IncarnationEvents& incarnation,
                      const RecordEvent& event) {
  if (event.kind == RecordKind::kFaultFired)
    return FaultText(record, incarnation, event);
  if (event.kind == RecordKind::kDamaged) {
    return fmt::format("{} damaged by fault {}", BaseName(event.path),
                       event.detail);
  }
  if (event.kind == RecordKind::kGaveUp) {
    return "gives up: " + GaveUpReasonText(record.setup, event);
  }
  for (std::string text : {TextOfTraining(event), TextOfSave(event),
                           TextOfMembership(incarnation, event),
                           TextOfLauncher(record, incarnation, event),
                           TextOfMachine(record, event)}) {
    if (!text.empty()) return text;
  }
  return fmt::format("{}{}", RecordKindName(event.kind),
                     AfterColon(event.detail));
}

std::string PlainText(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next =
        static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (byte == '\n' || byte == '\r' || byte == '\t') {
      plain += ' ';
    } else if (byte < 0x20 || byte == 0x7f) {
      plain += fmt::format("\\x{:02x}", byte);
    } else if (byte == 0xc2 && next >= 0x80 && next <= 0x9f) {
      // U+0080 to U+009F: a terminal treats U+009B like ESC [.
      plain += fmt::format("\\x{:02x}", next);
      ++i;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

}  // namespace gauntlet
