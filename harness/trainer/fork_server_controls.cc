#include "harness/trainer/fork_server_controls.h"

#include <filesystem>
#include <utility>
#include <vector>

#include "engine/text/counted.h"
#include "harness/run/files/text_file.h"
#include "harness/trainer/crash_trials.h"
#include "harness/trainer/python/python_command.h"
#include "harness/trainer/run/trainer_run.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

Status Off(const std::string& reason) { return FailedPrecondition(reason); }

class TestedServer {
 public:
  TestedServer(const CrashTestPlan& plan, const TrainerRuns& runs,
               const Recording& recording, const ResultCheck& check)
      : plan_(plan), runs_(runs), recording_(recording), check_(check) {}

  // kFailedPrecondition: the server is off, for the reason in the message.
  Result<std::unique_ptr<ForkServer>> Start(const ResumedRun* fresh) {
    if (!plan_.uses_fork_server) return Off("--fresh");
    if (!plan_.only.empty()) return Off("there is one trial");
    ASSIGN_OR_RETURN(const PythonCommand command,
                     ParsePythonCommand(ResumeCommand(plan_)));
    ASSIGN_OR_RETURN(const RunFolder own, runs_.NewFolder("fork-server"));
    ASSIGN_OR_RETURN(
        std::string modules,
        ListModules(command, own.folder, fresh == nullptr ? 0 : fresh->point));
    ASSIGN_OR_RETURN(std::unique_ptr<ForkServer> server,
                     ForkServer::Start({.command = command,
                                        .environment = runs_.Environment(),
                                        .modules = std::move(modules),
                                        .folder = own.folder,
                                        .interrupted = runs_.interrupted()}));
    RETURN_IF_ERROR(CheckUndisturbedRun(*server));
    if (fresh != nullptr) RETURN_IF_ERROR(CheckResume(*server, *fresh));
    return server;
  }

 private:
  Result<TrainerRunEnd> Run(const RunFolder& folder,
                            const std::vector<std::string>& arguments,
                            const ForkServer* server) {
    return runs_.Run(folder, {.arguments = arguments,
                              .time_limit = RunTimeLimit(plan_, recording_.end),
                              .fork_server = server});
  }

  Result<std::string> ListModules(const PythonCommand& command,
                                  const std::filesystem::path& folder,
                                  uint64_t point) {
    const std::filesystem::path list = folder / "listed.txt";
    ASSIGN_OR_RETURN(const std::vector<std::string> arguments,
                     ModuleListCommand(command, folder, list));
    ASSIGN_OR_RETURN(const RunFolder run,
                     FolderAfterKill(runs_, recording_, point, "module-list"));
    RETURN_IF_ERROR(Run(run, arguments, nullptr).status());
    TrainerRuns::Remove(run);
    std::string modules = ReadTextFile(list);
    if (modules.empty())
      return Off("the program leaves no list of its modules at its end");
    return modules;
  }

  Status CheckUndisturbedRun(const ForkServer& server) {
    ASSIGN_OR_RETURN(const RunFolder run, runs_.NewFolder("forked-run"));
    ASSIGN_OR_RETURN(const TrainerRunEnd end, Run(run, plan_.command, &server));
    const std::string failure = FailureOf(end, run);
    if (!failure.empty())
      return Off(fmt::format("an undisturbed run in it ends with {}", failure));
    ASSIGN_OR_RETURN(const ResultDifferences differences, check_.Compare(run));
    TrainerRuns::Remove(run);
    if (differences.lines.empty()) return OkStatus();
    return Off(
        fmt::format("an undisturbed run in it ends with other results: {}",
                    differences.lines.front()));
  }

  Status CheckResume(const ForkServer& server, const ResumedRun& fresh) {
    ASSIGN_OR_RETURN(
        const RunFolder run,
        FolderAfterKill(runs_, recording_, fresh.point, "forked-resume"));
    ASSIGN_OR_RETURN(const TrainerRunEnd end,
                     Run(run, ResumeCommand(plan_), &server));
    ASSIGN_OR_RETURN(const ResultDifferences expected,
                     check_.Compare(fresh.run));
    ASSIGN_OR_RETURN(const ResultDifferences found, check_.Compare(run));
    const bool agrees = end.exit_code == fresh.end.exit_code &&
                        end.signal == fresh.end.signal &&
                        end.is_timed_out == fresh.end.is_timed_out &&
                        found.lines.empty() == expected.lines.empty() &&
                        found.files == expected.files;
    const std::string failure = FailureOf(end, run);
    TrainerRuns::Remove(run);
    if (agrees) return OkStatus();
    return Off(fmt::format(
        "a resume in it ends otherwise than one in a fresh process: {}",
        !failure.empty()       ? failure
        : !found.lines.empty() ? found.lines.front()
                               : "it ends well"));
  }

  const CrashTestPlan& plan_;
  const TrainerRuns& runs_;
  const Recording& recording_;
  const ResultCheck& check_;
};

std::string NoteOf(const ForkServer& server) {
  std::string note = fmt::format("fork server: {} imported once",
                                 Counted(server.module_count(), "module"));
  if (!server.skipped().empty())
    note += fmt::format(", not {}", fmt::join(server.skipped(), ", "));
  return note;
}

}  // namespace

Result<ForkServerChoice> ChooseForkServer(
    const CrashTestPlan& plan, const TrainerRuns& runs,
    const Recording& recording, const ResultCheck& check,
    const std::optional<ResumedRun>& stop_and_resume) {
  if (runs.isolation() == Isolation::kNone) {
    if (stop_and_resume) TrainerRuns::Remove(stop_and_resume->run);
    return ForkServerChoice();
  }
  Result<std::unique_ptr<ForkServer>> server =
      TestedServer(plan, runs, recording, check)
          .Start(stop_and_resume ? &*stop_and_resume : nullptr);
  if (stop_and_resume) TrainerRuns::Remove(stop_and_resume->run);
  if (server.ok()) {
    std::string note = NoteOf(**server);
    return ForkServerChoice{.server = std::move(*server),
                            .note = std::move(note)};
  }
  if (server.status().code() != Code::kFailedPrecondition)
    return server.status();
  return ForkServerChoice{
      .server = nullptr,
      .note = fmt::format("fork server off: {}", server.status().message())};
}

}  // namespace gauntlet
