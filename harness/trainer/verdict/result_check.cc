#include "harness/trainer/verdict/result_check.h"

#include <algorithm>
#include <set>
#include <utility>

#include "engine/text/counted.h"
#include "harness/results/comparison.h"
#include "harness/run/files/text_file.h"
#include "harness/trainer/text/name_pattern.h"
#include <fmt/format.h>
#include <fnmatch.h>

namespace gauntlet {
namespace {

constexpr size_t kDescribed = 1000;
constexpr size_t kShown = 5;

// Returns the folder of the run, with the output file of the result command.
RunFolder FolderOfCommand(RunFolder run) {
  run.output_name = "result.txt";
  return run;
}

}  // namespace

ResultCheck::ResultCheck(const CrashTestPlan& plan, const TrainerRuns& runs,
                         RunFolder reference)
    : plan_(&plan), runs_(&runs), reference_(std::move(reference)) {}

Result<ResultCheck> ResultCheck::Make(const CrashTestPlan& plan,
                                      const TrainerRuns& runs,
                                      const RunFolder& reference) {
  ResultCheck check(plan, runs, reference);
  if (!plan.result_command.empty()) {
    ASSIGN_OR_RETURN(check.output_, check.CommandOutput(reference));
    return check;
  }
  std::vector<std::string> ignored;
  ASSIGN_OR_RETURN(const std::vector<std::string> all,
                   ListResultFiles(reference.out().string(), {}, ignored));
  for (const std::string& pattern : plan.results) {
    const bool matches = std::ranges::any_of(all, [&](const std::string& name) {
      return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
    });
    if (matches) continue;
    return InvalidArgument(fmt::format(
        "--result: expected a pattern of files that the program leaves below "
        "{{out}}, found none for {}; it leaves {}{}",
        pattern, Counted(all.size(), "file"),
        all.empty() ? "" : ", the first is " + all.front()));
  }
  ResultChoice choice;
  if (!plan.results.empty()) choice.files = plan.results;
  ASSIGN_OR_RETURN(check.files_,
                   ListResultFiles(reference.out().string(), choice, ignored));
  if (!check.files_.empty()) return check;
  return InvalidArgument(
      "the program leaves no file below {out}: expected a result to compare "
      "(--result-cmd prints one)");
}

void ResultCheck::LeaveOut(const std::vector<std::string>& files) {
  std::erase_if(files_, [&](const std::string& name) {
    return std::ranges::find(files, name) != files.end();
  });
}

std::string ResultCheck::Compared() const {
  return plan_->result_command.empty() ? Counted(files_.size(), "file")
                                       : "what --result-cmd prints";
}

std::filesystem::path ResultCheck::OutputFile(const RunFolder& run) {
  return FolderOfCommand(run).output();
}

Result<std::string> ResultCheck::CommandOutput(const RunFolder& run) const {
  const RunFolder folder = FolderOfCommand(run);
  ASSIGN_OR_RETURN(
      const TrainerRunEnd end,
      runs_->Run(folder, {.arguments = {"/bin/sh", "-c", plan_->result_command},
                          .time_limit = std::chrono::minutes(10)}));
  const std::string output = ReadTextFile(folder.output());
  if (EndedWell(end)) return output;
  return InvalidArgument(fmt::format(
      "--result-cmd: expected a command that ends with 0, found {}: {}",
      ExitText(end), output.substr(0, output.find('\n'))));
}

Result<ResultDifferences> ResultCheck::Compare(const RunFolder& run) const {
  ResultDifferences differences;
  if (!plan_->result_command.empty()) {
    const Result<std::string> output = CommandOutput(run);
    if (output.status().code() == Code::kInvalidArgument) {
      differences.lines.push_back(output.status().message());
      return differences;
    }
    RETURN_IF_ERROR(output.status());
    if (*output != output_) {
      differences.lines.push_back(
          fmt::format("--result-cmd prints \"{}\" instead of \"{}\"",
                      output->substr(0, output->find('\n')),
                      output_.substr(0, output_.find('\n'))));
    }
    return differences;
  }
  ResultChoice choice{.files = {}, .max_differences = kDescribed};
  for (const std::string& name : files_)
    choice.files.push_back(ExactPattern(name));
  const std::string expected = reference_.out().string();
  const std::string found = run.out().string();
  ASSIGN_OR_RETURN(const ResultComparison comparison,
                   CompareResults(found, expected, choice));
  if (comparison.IsEqual()) return differences;
  differences.lines = DescribeDifferences(comparison);
  if (differences.lines.size() > kShown) differences.lines.resize(kShown);
  std::set<std::string> files(comparison.missing.begin(),
                              comparison.missing.end());
  for (const ResultDifference& difference : comparison.differences)
    files.insert(difference.file);
  differences.files.assign(files.begin(), files.end());
  return differences;
}

}  // namespace gauntlet
