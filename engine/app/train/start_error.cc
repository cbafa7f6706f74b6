#include "engine/app/train/start_error.h"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "engine/cli/flags/flags.h"
#include <fmt/format.h>
#include <unistd.h>

namespace gauntlet {
namespace {

// Returns true iff the path is a symbolic link. If the link is dangling, the
// error of the load already names the missing target, and needs no advice.
bool IsLink(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_symlink(path, error);
}

}  // namespace

Status DescribeStartError(const Status& loaded, const std::string& path) {
  // kInvalidArgument concerns the job, not the path.
  const bool is_of_job = loaded.code() == Code::kInvalidArgument;
  if (loaded.ok() || is_of_job || access(path.c_str(), R_OK) == 0) {
    return Annotate(loaded, "--init-from");
  }
  const int error = errno;
  const bool is_missing = error == ENOENT || error == ENOTDIR;
  if (is_missing && IsLink(path)) return Annotate(loaded, "--init-from");
  std::string advice = is_missing ? DidYouMeanFile(path) : "";
  if (advice.empty() && is_missing) {
    advice = "; gauntlet train writes one with --ckpt or --export";
  } else if (error == EACCES) {
    advice = "; check its permissions";
  }
  return Status(
      loaded.code(),
      fmt::format("--init-from: {}: expected a checkpoint, an --export folder "
                  "or a weights file, found {}{}",
                  path,
                  is_missing
                      ? std::string("nothing")
                      : fmt::format("one that cannot be read ({})",
                                    std::generic_category().message(error)),
                  advice));
}

}  // namespace gauntlet
