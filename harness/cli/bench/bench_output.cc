#include "harness/cli/bench/bench_output.h"

#include <system_error>
#include <utility>

#include "harness/cli/run_folders/run_directory.h"
#include "harness/run/files/text_file.h"

namespace gauntlet {

Result<BenchOutput> BenchOutput::Make(const std::string& out,
                                      const std::filesystem::path& runs) {
  if (!out.empty()) {
    // Releases the lock on the folder at once, because TrialsFolder locks the
    // same folder.
    ASSIGN_OR_RETURN(OutputFolder folder, MakeFindingsDirectory(out, ""));
    return BenchOutput(std::move(folder.path), /*is_new_run=*/false);
  }
  Result<std::filesystem::path> made = MakeRunDirectory(runs);
  if (made.ok()) return BenchOutput(*std::move(made), /*is_new_run=*/true);
  return ChooseAnotherFolder(made.status(), "--out");
}

std::filesystem::path BenchOutput::report() const {
  return path_ / kReportFileName;
}

Status BenchOutput::Write(const std::string& json,
                          const std::string& page) const {
  RETURN_IF_ERROR(WriteTextFile(path_ / kResultFileName, json));
  RETURN_IF_ERROR(WriteTextFile(report(), page));
  if (!is_new_run_) return OkStatus();
  return LinkLatest(path_.parent_path(), path_.filename().string());
}

void BenchOutput::RemoveIfEmpty() const {
  std::error_code error;
  std::filesystem::remove(path_, error);
}

ExitCode ExitWithoutFigures(const Status& status) {
  return status.code() == Code::kCancelled ? ExitCode::kInterrupted
                                           : ExitCode::kViolated;
}

}  // namespace gauntlet
