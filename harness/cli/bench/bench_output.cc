#include "harness/cli/bench/bench_output.h"

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
    return BenchOutput(std::move(folder.path), std::move(folder.created),
                       /*is_new_run=*/false);
  }
  Result<OutputFolder> made = MakeRunOutput(runs);
  if (!made.ok()) return ChooseAnotherFolder(made.status(), "--out");
  // Users read this path, so it is relative if `runs` is.
  return BenchOutput(runs / made->path.filename(), std::move(made->created),
                     /*is_new_run=*/true);
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
  const Result<std::filesystem::path> absolute = AbsoluteFolder(path_);
  if (absolute.ok()) RemoveEmptyFolders(*absolute, created_);
}

ExitCode ExitWithoutFigures(const Status& status) {
  return status.code() == Code::kCancelled ? ExitCode::kInterrupted
                                           : ExitCode::kViolated;
}

}  // namespace gauntlet
