#include "harness/cli/record/replay_command.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "engine/cli/exit_code.h"
#include "engine/real/host/real_host.h"
#include "engine/real/process/child_process.h"
#include "engine/real/storage/posix_storage.h"
#include "engine/text/counted.h"
#include "engine/utf8.h"
#include "harness/cli/program/build_id.h"
#include "harness/cli/record/replay_target.h"
#include "harness/cli/run_folders/run_directory.h"
#include "harness/explore/campaign/crash_finding_file.h"
#include "harness/explore/campaign/found_violation.h"
#include "harness/explore/diagnosis/divergence.h"
#include "harness/explore/diagnosis/replay.h"
#include "harness/explore/diagnosis/shrink.h"
#include "harness/oracle/history/outline.h"
#include "harness/oracle/judge.h"
#include "harness/record/record_file.h"
#include "harness/record/text/value_text.h"
#include "harness/record/verdict.h"
#include "harness/run/crash_notice.h"
#include "harness/run/failure/uncaught_bug.h"
#include "harness/run/files/text_file.h"
#include "reports/timeline.h"
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <unistd.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

// Maximum number of repetitions of a failed case, each without one of its
// faults. Each repetition costs two runs.
constexpr size_t kMostLeftOut = 16;

// Path of a temporary folder, which the destructor removes.
class Scratch {
 public:
  explicit Scratch(const fs::path& runs)
      : path_(runs / fmt::format(".replay-{}", getpid())) {}
  ~Scratch() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const fs::path& path() const { return path_; }

 private:
  const fs::path path_;
};

// Returns true iff the case is no finding, or its violation occurs again. If
// the labels do not name the violation, the verdict decides. The verdict must
// be kFail, as the scenario of a finding states the correct outcome. A mutation
// test expects the violation, so its verdict must be kPass.
bool IsBrokenAsFound(const Case& one, const Record& now,
                     const Verdict& verdict) {
  if (!IsFinding(one.labels)) return true;
  if (const std::optional<Violation> violation = FoundViolation(one.labels)) {
    return IsBroken(now, verdict, *violation);
  }
  return one.expect.outcome == Outcome::kViolates
             ? verdict.kind == VerdictKind::kPass
             : verdict.kind == VerdictKind::kFail;
}

// Returns "the finding", with its name if the labels of its scenario give one.
std::string FoundName(const Case& one) {
  const std::optional<Violation> violation = FoundViolation(one.labels);
  return violation ? fmt::format("the finding {} ({})", violation->invariant,
                                 violation->name)
                   : "the finding";
}

// Returns the violation by which runs of the case are compared. For an
// exploration's finding, it is the violation that was found; else the first one
// of the verdict. nullopt if there is none.
std::optional<Violation> ViolationIn(const std::vector<std::string>& labels,
                                     const Verdict& verdict) {
  if (auto violation = FoundViolation(labels)) return violation;
  const std::optional<Finding> first = FirstFinding(verdict);
  if (!first) return std::nullopt;
  return Violation{.invariant = first->invariant, .name = first->name};
}

// Returns true iff the two runs fail in the same way. If the violation is an
// unmet expectation, the runs must have the same value for it, and the same
// outcome. REQUIRES: both runs show the violation.
bool FailsAlike(const Verdict& one, const Verdict& other,
                const Violation& violation) {
  if (violation.invariant != kExpectation) return true;
  const Violation outcome = {.invariant = std::string(kExpectation),
                             .name = "outcome"};
  return FindingOf(one, violation) == FindingOf(other, violation) &&
         FindingOf(one, outcome) == FindingOf(other, outcome);
}

// Returns the verdict of a reproduced run as text. For an exploration's
// finding, the invariant of the finding comes first.
std::string AsBefore(const ReplayTarget& target, const Verdict& verdict) {
  const std::optional<Violation> violation =
      FoundViolation(target.item.one.labels);
  if (target.recorded || !violation) return VerdictLine(verdict);
  if (const std::optional<Finding> found = FindingOf(verdict, *violation)) {
    return VerdictLine(verdict, *found);
  }
  // The violation occurs again, but the verdict has no finding for it.
  return fmt::format("{} happens again: {}", FoundName(target.item.one),
                     VerdictLine(verdict));
}

class Replayer {
 public:
  Replayer(const fs::path& runs, Console& console)
      : console_(console),
        runs_(runs),
        scratch_(runs),
        cache_(runs / ".cache"),
        build_(BuildId()),
        references_(cache_.string(), build_) {}

  // Creates an empty folder for the runs and returns its absolute path.
  Result<fs::path> Prepare() const;
  // Returns true iff the run matches its record.
  Result<bool> Replay(const ReplayTarget& target);
  // Returns true iff the recovery from the crash state in the file ends as the
  // file states.
  Result<bool> ReplayCrashState(const std::string& file);

  bool interrupted() const { return host_.TerminationNotices() > 0; }

 private:
  Result<Record> Run(const SuiteItem& item);
  // Returns the record to compare with: the stored one, or that of a new run.
  Result<Record> RecordOf(const ReplayTarget& target);
  void Announce(const ReplayTarget& target);
  void Show(Ink ink, std::string_view word, std::string_view text);
  Status Explain(const SuiteItem& item, const Record& now);
  void PrintWithoutEachFault(const SuiteItem& item, const Verdict& failed);
  std::string OutcomeWithout(const SuiteItem& item, size_t fault,
                             const Verdict& failed, const Violation& violation);

  Console& console_;
  const fs::path runs_;
  RealHost host_;
  const Scratch scratch_;
  const fs::path cache_;
  const std::string build_;
  References references_;
};

Result<fs::path> Replayer::Prepare() const {
  ASSIGN_OR_RETURN(fs::path folder, AbsoluteFolder(scratch_.path()));
  std::error_code error;
  fs::remove_all(scratch_.path(), error);
  fs::create_directories(scratch_.path(), error);
  if (!error) return folder;
  return IoError(fmt::format(
      "{}: {}; a replay writes there. Choose another folder with --runs DIR, "
      "and name a case of this one by its path, such as {}/RUN/CASE.sim",
      runs_.string(), error.message(), runs_.string()));
}

Result<Record> Replayer::Run(const SuiteItem& item) {
  ASSIGN_OR_RETURN(const fs::path folder, Prepare());
  const std::vector<CaseResult> results =
      RunSuite({item},
               {.program = kThisProgram,
                .directory = folder,
                .cache_directory = cache_.string(),
                .build = build_,
                .interrupted = [&] { return interrupted(); }},
               [](const CaseResult&) {});
  if (results.empty()) return Unavailable("interrupted");
  const fs::path file = fs::path(results[0].directory) / kRecordFileName;
  Parsed<Record> record = ReadRecord(ReadTextFile(file), file.string());
  if (!record.ok()) return DataLoss(record.error);
  return std::move(*record.value);
}

Result<Record> Replayer::RecordOf(const ReplayTarget& target) {
  if (target.recorded) return *target.recorded;
  return Run(target.item);
}

void Replayer::Announce(const ReplayTarget& target) {
  const bool real = target.item.world == WorldKind::kReal;
  std::string recorded = "nothing recorded: run twice";
  if (target.recorded) {
    recorded = fmt::format("{} recorded{}",
                           Counted(CountEvents(*target.recorded), "event"),
                           target.recorded->world == (real ? "real" : "sim")
                               ? ""
                               : " in the other world");
    if (!target.build.empty() && target.build != build_) {
      recorded += fmt::format(" by another build ({})", target.build);
    }
  }
  fmt::print(console_.out, "{} ({}): {}, {}\n",
             EscapeBytes(target.item.one.name), real ? "real" : "sim",
             Counted(target.item.one.plan.faults.size(), "fault"), recorded);
}

void Replayer::Show(Ink ink, std::string_view word, std::string_view text) {
  fmt::print(console_.out, "{}: {}\n", console_.out_style.Paint(ink, word),
             EscapeBytes(text));
}

Status Replayer::Explain(const SuiteItem& item, const Record& now) {
  ASSIGN_OR_RETURN(const Explanation explanation,
                   ExplainTrajectory(item.one, now, references_));
  if (explanation.cause.empty()) return OkStatus();
  const std::string events =
      EventsAtDepartureText(Outline(now), explanation.differences);
  fmt::print(console_.out, "  {}\n",
             EscapeBytes(explanation.cause + ShortDigests(events)));
  return OkStatus();
}

// Runs the case without the fault of index `fault`. Returns the outcome as
// text, such as "passes". `failed`: verdict on the case with all its faults; it
// shows `violation`.
std::string Replayer::OutcomeWithout(const SuiteItem& item, size_t fault,
                                     const Verdict& failed,
                                     const Violation& violation) {
  SuiteItem without = item;
  without.one.plan = WithoutFault(item.one.plan, fault);
  if (const Status sound = Validate(without.one.plan); !sound.ok()) {
    return "cannot be run: " + sound.message();
  }
  const Result<Record> record = Run(without);
  if (!record.ok()) return "cannot be run: " + record.status().message();
  const Verdict verdict = Judge(*record);
  if (IsBroken(*record, verdict, violation) &&
      FailsAlike(failed, verdict, violation)) {
    return fmt::format("still fails, {} {}", violation.invariant,
                       violation.name);
  }
  return verdict.kind == VerdictKind::kPass
             ? "passes"
             : "other outcome: " + VerdictLine(verdict);
}

// Runs a failed case without each of its first kMostLeftOut faults in turn, and
// prints the outcome of each run. Does nothing for a case with a single fault,
// and for a real case, as its runs may differ with the same plan.
void Replayer::PrintWithoutEachFault(const SuiteItem& item,
                                     const Verdict& failed) {
  const std::vector<Fault>& faults = item.one.plan.faults;
  const std::optional<Violation> violation =
      ViolationIn(item.one.labels, failed);
  if (item.world != WorldKind::kSimulated || faults.size() < 2 ||
      failed.kind != VerdictKind::kFail || !violation) {
    return;
  }
  const size_t tried = std::min(faults.size(), kMostLeftOut);
  for (size_t i = 0; i < tried; ++i) {
    const std::string outcome = OutcomeWithout(item, i, failed, *violation);
    if (interrupted()) return;
    fmt::print(console_.out, "  without fault {}: {}\n",
               EscapeBytes(faults[i].id), EscapeBytes(outcome));
  }
  if (tried == faults.size()) return;
  fmt::print(console_.out,
             "  only the first {} of {} were left out, one at a time\n", tried,
             Counted(faults.size(), "fault"));
}

Result<bool> Replayer::Replay(const ReplayTarget& target) {
  Announce(target);
  ASSIGN_OR_RETURN(const Record recorded, RecordOf(target));
  ASSIGN_OR_RETURN(const Record now, Run(target.item));
  const Verdict verdict = Judge(now);
  const std::string difference = FirstReplayDifference(recorded, now);
  bool same = difference.empty();
  if (verdict.kind == VerdictKind::kSkip) {
    // A case that the record shows as skipped, too, is reproduced.
    same = target.recorded && Judge(recorded).kind == VerdictKind::kSkip;
    Show(same ? Ink::kFaint : Ink::kBad, "skipped", verdict.reason);
  } else if (!same) {
    Show(Ink::kBad, "differs", "first divergence: " + difference);
    fmt::print(console_.out, "  now: {}\n", VerdictLine(verdict));
  } else if (!target.recorded &&
             !IsBrokenAsFound(target.item.one, now, verdict)) {
    same = false;
    Show(Ink::kBad, "differs",
         fmt::format("{} does not occur: {}", FoundName(target.item.one),
                     VerdictLine(verdict)));
  } else {
    Show(Ink::kGood, "reproduced", AsBefore(target, verdict));
  }
  // An error in the explanation does not change the verdict.
  const Status explained = Explain(target.item, now);
  if (!explained.ok()) {
    fmt::print(
        console_.out,
        "  its first difference from the reference cannot be found: {}\n",
        explained.message());
  }
  if (same) PrintWithoutEachFault(target.item, verdict);
  console_.out << std::flush;
  return same;
}

Result<bool> Replayer::ReplayCrashState(const std::string& file) {
  PosixStorage storage;
  ASSIGN_OR_RETURN(const std::string text,
                   ReadFile(storage, file, kMaxScenarioBytes));
  const Result<CrashFinding> finding = CrashFindingFromJson(text);
  if (!finding.ok()) {
    return InvalidArgument(
        fmt::format("{}: {}", file, finding.status().message()));
  }
  fmt::print(console_.out, "{}: {}\n", finding->finding.id,
             finding->finding.event);
  const Result<CrashStateFinding> now =
      RepeatCrashFinding(*finding, references_);
  if (now.status().code() == Code::kNotFound) {
    Show(Ink::kBad, "differs",
         "the finding does not occur: " + now.status().message());
    return false;
  }
  if (now.status().code() == Code::kInvalidArgument) {
    return InvalidArgument(fmt::format("{}: {}", file, now.status().message()));
  }
  RETURN_IF_ERROR(now.status());
  const bool same = now->found == finding->finding.found;
  Show(same ? Ink::kGood : Ink::kBad, same ? "reproduced" : "differs",
       fmt::format("expected {}, found {}", now->expected, now->found));
  if (!same) {
    fmt::print(console_.out, "  recorded: {}\n", finding->finding.found);
  }
  for (const std::string& line : now->survived) {
    fmt::print(console_.out, "  {}\n", line);
  }
  return same;
}

int FailReplay(Console& console, const Status& status, ExitCode code) {
  fmt::print(console.err, "gauntlet replay: {}\n",
             EscapeBytes(status.message()));
  return static_cast<int>(code);
}

}  // namespace

int RunReplay(const ReplayCommand& requested, Console& console) {
  InstallSignalHandlers();
  InstallCrashNotice();
  ReplayCommand command = requested;
  Result<std::string> file = FindFindingFile(command);
  if (!file.ok()) return FailReplay(console, file.status(), ExitCode::kUsage);
  if (!file->empty()) command.target = *std::move(file);
  if (command.target.ends_with(kCrashFindingEnding)) {
    if (command.world == WorldChoice::kReal) {
      return FailReplay(
          console,
          InvalidArgument(fmt::format(
              "--world: expected sim, found real: {} is a disk that a "
              "power cut left, and those are simulated",
              command.target)),
          ExitCode::kUsage);
    }
    const Result<bool> same = Replayer(command.runs_directory, console)
                                  .ReplayCrashState(command.target);
    if (!same.ok()) return FailReplay(console, same.status(), ExitCode::kUsage);
    return static_cast<int>(*same ? ExitCode::kOk : ExitCode::kNoVerdict);
  }
  std::string errors;
  const Result<std::vector<ReplayTarget>> targets =
      FindReplayTargets(command, errors);
  if (!errors.empty()) {
    console.err << errors;
    return static_cast<int>(ExitCode::kUsage);
  }
  if (!targets.ok())
    return FailReplay(console, targets.status(), ExitCode::kUsage);
  Replayer replayer(command.runs_directory, console);
  if (const auto ready = replayer.Prepare(); !ready.ok()) {
    return FailReplay(console, ready.status(), ExitCode::kUsage);
  }
  ExitCode code = ExitCode::kOk;
  for (const ReplayTarget& target : *targets) {
    const Result<bool> same = replayer.Replay(target);
    if (replayer.interrupted()) {
      fmt::print(console.err, "gauntlet replay: interrupted\n");
      return static_cast<int>(ExitCode::kInterrupted);
    }
    if (!same.ok())
      return FailReplay(console, same.status(), ExitCode::kNoVerdict);
    if (!*same) code = ExitCode::kNoVerdict;
  }
  return static_cast<int>(code);
}

}  // namespace gauntlet
