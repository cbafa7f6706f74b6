// The folder for the results of a benchmark.
#ifndef GAUNTLET_HARNESS_CLI_BENCH_BENCH_OUTPUT_H_
#define GAUNTLET_HARNESS_CLI_BENCH_BENCH_OUTPUT_H_

#include <filesystem>
#include <string>
#include <utility>

#include "engine/cli/exit_code.h"
#include "engine/status.h"

namespace gauntlet {

class BenchOutput {
 public:
  // Creates the folder `out`; if `out` is "", a new folder below `runs`.
  // kInvalidArgument: the folder cannot be created, or has files in it.
  static Result<BenchOutput> Make(const std::string& out,
                                  const std::filesystem::path& runs);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path report() const;

  // Writes result.json and report.html. If the folder is below `runs`, the link
  // `latest` then points to it.
  Status Write(const std::string& json, const std::string& page) const;
  // If Make created the folder and nothing was written to it, removes it and
  // its empty parents that Make created.
  void RemoveIfEmpty() const;

 private:
  BenchOutput(std::filesystem::path path, std::filesystem::path created,
              bool is_new_run)
      : path_(std::move(path)),
        created_(std::move(created)),
        is_new_run_(is_new_run) {}

  std::filesystem::path path_;
  std::filesystem::path created_;  // OutputFolder::created
  bool is_new_run_;                // true: the folder is below `runs`
};

// Returns the exit code of a benchmark that measured nothing.
ExitCode ExitWithoutFigures(const Status& status);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_BENCH_BENCH_OUTPUT_H_
