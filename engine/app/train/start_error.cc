#include "engine/app/train/start_error.h"

#include <cerrno>
#include <cstring>

#include "engine/cli/flags/flags.h"
#include <fmt/format.h>
#include <unistd.h>

namespace gauntlet {

Status StartError(const Status& taken, const std::string& path) {
  // kInvalidArgument is about the job, not about the path.
  const bool is_of_job = taken.code() == Code::kInvalidArgument;
  if (taken.ok() || is_of_job || access(path.c_str(), R_OK) == 0) {
    return Annotate(taken, "--init-from");
  }
  const int error = errno;
  const bool is_missing = error == ENOENT || error == ENOTDIR;
  std::string advice = is_missing ? DidYouMeanFile(path) : "";
  if (advice.empty()) {
    advice = is_missing ? "; gauntlet train writes one with --ckpt or --export"
                        : "; check its permissions";
  }
  return Status(
      taken.code(),
      fmt::format("--init-from: {}: expected a checkpoint, an --export folder "
                  "or a weights file, found {}{}",
                  path,
                  is_missing ? std::string("nothing")
                             : fmt::format("one that cannot be read ({})",
                                           std::strerror(error)),
                  advice));
}

}  // namespace gauntlet
