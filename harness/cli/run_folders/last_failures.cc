#include "harness/cli/run_folders/last_failures.h"

#include "engine/text/counted.h"
#include "harness/cli/run_folders/old_runs.h"
#include "harness/cli/run_folders/run_directory.h"
#include "harness/cli/run_folders/stored_records.h"
#include "harness/cli/run_folders/stored_runs.h"
#include "harness/oracle/judge.h"
#include "harness/record/record_file.h"
#include "harness/record/result/case_tries.h"
#include "harness/record/result/result_file.h"
#include "harness/run/files/text_file.h"
#include "reports/failures.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

Result<RunResult> ReadResultFile(const fs::path& file) {
  Parsed<RunResult> result = ReadResult(ReadTextFile(file), file.string());
  if (result.ok()) return *std::move(result.value);
  return InvalidArgument("--last-failed: " + result.error);
}

// Returns the newest killed run that began after the run that `latest` names;
// "" if there is none.
std::string FindKilledRun(const fs::path& runs) {
  std::error_code none;
  const std::string latest =
      fs::read_symlink(runs / "latest", none).lexically_normal().filename();
  std::string newest;
  for (const std::string& name : FoldersIn(runs)) {
    const fs::path run = runs / name;
    const bool is_killed = IsRunId(name) && IsFile(run / kUnfinishedFileName) &&
                           !IsFolderOfRun(run) && !IsBeingWritten(run);
    if (!is_killed || IsOlderRun(name, latest)) continue;
    if (newest.empty() || IsOlderRun(newest, name)) newest = name;
  }
  return newest;
}

// Returns the verdict of the case's first try; kNotRun if it has no record.
VerdictKind VerdictOfRecord(const fs::path& run, const CaseResult& one) {
  const fs::path folder = run / FolderOfTry(one.name, one.world, 1);
  const Result<Record> record = LoadRecord(folder / kRecordFileName);
  return record.ok() ? Judge(*record).kind : VerdictKind::kNotRun;
}

Result<RunResult> ReadKilledRun(const fs::path& run) {
  ASSIGN_OR_RETURN(RunResult result, ReadResultFile(run / kUnfinishedFileName));
  for (CaseResult& one : result.cases) {
    one.verdict.kind = VerdictOfRecord(run, one);
  }
  return result;
}

std::string NoteOn(const RunResult& killed) {
  const uint64_t not_run = CountCases(killed).not_run;
  const std::string cases = Counted(killed.cases.size(), "case");
  return fmt::format(
      "run {} has no {} (killed, or no space left): {}", killed.run,
      kResultFileName,
      not_run == 0
          ? fmt::format(
                "the verdicts of its {} are computed from their records", cases)
          : fmt::format("{} of its {} {} as not run", not_run, cases,
                        not_run == 1 ? "has no record and counts"
                                     : "have no record and count"));
}

}  // namespace

std::string_view WithoutTime(std::string_view name) {
  const size_t begin = name.rfind('(');
  const std::string_view time =
      begin == name.npos ? std::string_view() : name.substr(begin + 1);
  const size_t of = time.find("of");
  const auto is_number = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  };
  const bool is_time = time.ends_with(')') && of != time.npos &&
                       is_number(time.substr(0, of)) &&
                       is_number(time.substr(of + 2, time.size() - of - 3));
  return is_time ? name.substr(0, begin) : name;
}

Result<LastFailures> FindLastFailures(const fs::path& runs) {
  const std::string killed = FindKilledRun(runs);
  const fs::path file = runs / "latest" / kResultFileName;
  std::error_code error;
  if (killed.empty() && !fs::exists(file, error)) {
    const fs::path last = fs::canonical(runs / "latest", error);
    if (!error && IsUnfinishedRun(last)) {
      return InvalidArgument(
          fmt::format("--last-failed: the verdicts of run {} are missing: {}",
                      last.filename().string(), WhyUnfinished(last)));
    }
    return InvalidArgument(
        fmt::format("--last-failed: no earlier run in {}", runs.string()));
  }
  ASSIGN_OR_RETURN(const RunResult last, killed.empty()
                                             ? ReadResultFile(file)
                                             : ReadKilledRun(runs / killed));
  LastFailures failures;
  if (!killed.empty()) failures.note = NoteOn(last);
  for (const CaseResult& one : last.cases) {
    if (IsFailure(one) || one.verdict.kind == VerdictKind::kNotRun) {
      failures.cases.emplace(one.name, one.world);
      failures.cases.emplace(WithoutTime(one.name), one.world);
    }
  }
  return failures;
}

}  // namespace gauntlet
