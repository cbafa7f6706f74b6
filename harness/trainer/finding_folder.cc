#include "harness/trainer/finding_folder.h"

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "chaos/crash/crash_state.h"
#include "chaos/crash/directory_builder.h"
#include "engine/text/counted.h"
#include "harness/run/files/shell_word.h"
#include "harness/run/files/text_file.h"
#include "harness/trainer/finding_scenario.h"
#include "harness/trainer/run/trainer_command.h"
#include "harness/trainer/verdict/finding_advice.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

bool HasState(CrashFault fault) {
  return fault == CrashFault::kKill || fault == CrashFault::kTornWrite ||
         fault == CrashFault::kPowerLoss;
}

// Replaces paths of this machine in a text that is to be sent to other people.
std::string WithoutPaths(std::string text, const TrainerRuns& runs) {
  std::error_code error;
  const std::string here = fs::current_path(error).string();
  for (const auto& [path, name] :
       {std::pair(runs.out_place().string(), std::string(kOutPlace)),
        std::pair(runs.temporary_place().string(), std::string("$TMPDIR")),
        std::pair(here + "/", std::string())}) {
    if (path.size() > 1) ReplaceAll(text, path, name);
  }
  return text;
}

std::string CommentLines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += "# " + line + "\n";
  return text;
}

// Returns the first lines of a script: the comments, and commands that enter
// the working directory of the runs. The directory's path is that on this
// machine.
std::string ScriptHead(const std::vector<std::string>& comments) {
  std::error_code error;
  return fmt::format(
      "#!/bin/sh\n{}"
      "# Variables that this script does not set are those of its caller.\n"
      "set -eu\n"
      "here=$(cd \"$(dirname \"$0\")\" && pwd)\n"
      "cd {}\n",
      CommentLines(comments), ShellWord(fs::current_path(error).string()));
}

// Returns shell commands that compare the results with those of the recorded
// run, and exit with 1 if they differ.
std::string ComparisonScript(const TrialSetting& setting,
                             const CrashTrial& trial,
                             const CommandPlaces& places) {
  const RunFolder& recorded = setting.recording.run;
  const std::string& result_command = setting.plan.result_command;
  std::string compare;
  std::string expected;
  if (!result_command.empty()) {
    expected = setting.check.OutputFile(recorded).string();
    compare = fmt::format(
        "{} </dev/null >\"$here/result.txt\" 2>&1 || same=no\n"
        "cmp \"$here/result.txt\" \"$expected\" || same=no\n",
        ShellCommand({"/bin/sh", "-c", FillPlaces(result_command, places)}));
  } else {
    expected = recorded.out().string();
    compare = "for file in";
    for (const std::string& file : trial.different_files)
      compare += " " + ShellWord(file);
    compare += fmt::format(
        "; do\n"
        "  cmp {}/\"$file\" \"$expected/$file\" || same=no\n"
        "done\n",
        ShellWord(places.out));
  }
  return fmt::format(
      "expected={}\n"
      "same=yes\n"
      "{}"
      "if [ $same = no ]; then\n"
      "  echo \"diverged: expected the results of the undisturbed run, "
      "$expected\"\n"
      "  exit 1\n"
      "fi\n"
      "echo \"equal results: $expected\"\n",
      ShellWord(expected), compare);
}

// Returns shell commands that print the files that the crash left, run `resume`
// (which resumes the run), and print the finding. The exit code is 0 if the run
// no longer rewrites the file that it rewrote in the crash test; else 1.
std::string LostWorkScript(const TrainerFinding& finding,
                           const CrashTrial& trial, const CommandPlaces& places,
                           const std::string& resume) {
  std::string begin = fmt::format(
      "echo {}\n(cd {} && find . -type f | sort)\n",
      ShellWord(fmt::format("files left by the crash in {}:", places.out)),
      ShellWord(places.out));
  std::string end =
      "echo \"look for the checkpoint or the step in the output above: this "
      "script cannot see which file the run read\"\n";
  if (!trial.made_again.empty()) {
    const std::string& file = trial.made_again.front().path;
    const std::string stamp =
        fmt::format("$(stat -c '%i %y' {} || true)",
                    ShellWord((fs::path(places.out) / file).string()));
    begin += fmt::format("before=\"{}\"\n", stamp);
    end = fmt::format(
        "if [ \"{}\" = \"$before\" ]; then\n"
        "  echo {}\n"
        "  exit 0\n"
        "fi\n",
        stamp,
        ShellWord(fmt::format("no work lost: {} was not made again", file)));
  }
  return fmt::format(
      "{}{}{}"
      "echo {}\n"
      "echo \"to judge a changed program: gauntlet run $here/scenario.yaml\"\n"
      "exit 1\n",
      begin, resume, end, ShellWord("lost-work: " + finding.reason));
}

std::string StateScript(const TrialSetting& setting,
                        const TrainerFinding& finding,
                        const CrashTrial& trial) {
  const std::string out = setting.runs.out_place().string();
  const std::string temporary = setting.runs.temporary_place().string();
  std::vector<std::string> comments = {finding.title, trial.point};
  comments.insert(comments.end(), trial.lost.begin(), trial.lost.end());
  comments.push_back(finding.reason);
  comments.emplace_back(
      "The directory before/ is as the crash left it; the command resumes from "
      "it.");
  const CommandPlaces places{.out = out, .port = std::string(kDefaultPort)};
  const std::string command =
      ShellCommand(FillPlaces(ResumeCommand(setting.plan), places)) +
      " </dev/null\n";
  std::string run = "exec " + command;
  if (finding.verdict == RecoveryVerdict::kDiverged)
    run = command + ComparisonScript(setting, trial, places);
  if (finding.verdict == RecoveryVerdict::kLostWork)
    run = LostWorkScript(finding, trial, places, command);
  return fmt::format(
      "{head}"
      "rm -rf {out} {tmp}\n"
      "mkdir -p {parent}\n"
      "cp -a \"$here/before/out\" {out}\n"
      "cp -a \"$here/before/tmp\" {tmp}\n"
      "export {variables}\n"
      "{run}",
      fmt::arg("head", ScriptHead(comments)), fmt::arg("out", ShellWord(out)),
      fmt::arg("tmp", ShellWord(temporary)),
      fmt::arg("parent", ShellWord(fs::path(out).parent_path().string())),
      fmt::arg("variables", ShellCommand(setting.runs.OwnVariables())),
      fmt::arg("run", run));
}

// Returns a script that calls Gauntlet: the fault happens while the program
// runs, which requires the tracer.
std::string FaultScript(const TrialSetting& setting,
                        const TrainerFinding& finding,
                        const CrashTrial& trial) {
  const std::string head =
      ScriptHead({finding.title, trial.point, finding.reason});
  // If the test is a scenario, the options are in scenario.yaml and not on a
  // command line.
  if (!setting.plan.places.empty())
    return head + "exec gauntlet run \"$here/scenario.yaml\"\n";
  return fmt::format("{}exec gauntlet crash-test {}--only {} -- {}\n", head,
                     setting.plan.options.empty()
                         ? ""
                         : ShellCommand(setting.plan.options) + " ",
                     trial.id, ShellCommand(setting.plan.command));
}

std::string IssueDraft(const TrialSetting& setting,
                       const CrashTestResult& result,
                       const TrainerFinding& finding, const CrashTrial& trial) {
  std::string lost;
  for (const std::string& line : trial.lost) lost += "  - " + line + "\n";
  std::string tail;
  for (const std::string& line : trial.tail) tail += "    " + line + "\n";
  const std::string advice =
      AdviceOnFinding(finding, result.trials, result.logs);
  return WithoutPaths(
      fmt::format(
          "# {}\n\n"
          "Command: `{}`; resumed with `{}`.\n\n"
          "## What happened\n\n"
          "- Fault ({}): {}.\n{}"
          "- Then: {}.\n{}\n"
          "## Expected\n\n"
          "The resumed run continues from the newest checkpoint that was "
          "complete, and ends with the results of a run that was not "
          "disturbed.\n\n"
          "{}"
          "## How often\n\n"
          "{} of {} that were tried. Found by gauntlet crash-test {}.\n",
          finding.title, result.command, result.resume_command,
          CrashFaultName(trial.fault), trial.point, lost, finding.reason,
          tail.empty() ? "" : "\nIts last output:\n\n" + tail,
          advice.empty() ? "" : "## Advice\n\n- " + advice + ".\n\n",
          Counted(finding.trials.size(), "crash state"), result.trials.size(),
          result.version),
      setting.runs);
}

// `number`: number of the finding, from 1.
Status WriteFinding(const TrialSetting& setting, const CrashTestResult& result,
                    size_t number, DirectoryBuilder& builder,
                    const fs::path& findings) {
  const fs::path folder = findings / std::to_string(number);
  const TrainerFinding& finding = result.findings[number - 1];
  const CrashTrial& trial = result.trials[finding.trials.front()];
  RETURN_IF_ERROR(MakeDirectories(folder));
  std::string script;
  if (HasState(trial.fault)) {
    const fs::path out = folder / "before" / "out";
    const fs::path temporary = folder / "before" / "tmp";
    RETURN_IF_ERROR(MakeDirectories(out));
    RETURN_IF_ERROR(MakeDirectories(temporary));
    ASSIGN_OR_RETURN(const CrashState state, ParseCrashStateId(trial.id));
    RETURN_IF_ERROR(builder.Build(state, {out.string(), temporary.string()}));
    script = StateScript(setting, finding, trial);
  } else {
    script = FaultScript(setting, finding, trial);
  }
  RETURN_IF_ERROR(WriteTextFile(folder / "repro.sh", script));
  RETURN_IF_ERROR(
      WriteTextFile(folder / "scenario.yaml",
                    ScenarioOfFinding(setting.plan, setting.recording.log,
                                      finding, trial, number)));
  return WriteTextFile(folder / "issue.md",
                       IssueDraft(setting, result, finding, trial));
}

}  // namespace

Status WriteFindings(const TrialSetting& setting, const CrashTestResult& result,
                     const fs::path& folder) {
  if (result.findings.empty()) return OkStatus();
  const fs::path cache = setting.recording.ContentsFolder();
  RETURN_IF_ERROR(MakeDirectories(cache));
  DirectoryBuilder builder(setting.recording.log, {.cache = cache.string()});
  const size_t count = std::min(result.findings.size(), kMostFindingFolders);
  for (size_t number = 1; number <= count; ++number) {
    RETURN_IF_ERROR(
        WriteFinding(setting, result, number, builder, folder / "findings"));
  }
  return OkStatus();
}

}  // namespace gauntlet
