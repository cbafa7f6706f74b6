#include "engine/app/train/output_places.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "engine/ckpt/format/store_names.h"
#include "engine/cli/output_file.h"
#include "engine/train/save/model_export.h"
#include "engine/world/directories.h"
#include <fmt/format.h>
#include <unistd.h>

namespace gauntlet {
namespace {

// Creates one level only, so that a typo does not create a tree.
Status MakePlace(Storage& storage, const std::string& directory) {
  if (directory.empty()) return OkStatus();
  const Status made = storage.MakeDirectory(directory);
  return made.code() == Code::kAlreadyExists ? OkStatus() : made;
}

// Creates the checkpoint directory if it is missing, and checks that all paths
// in it will fit the limits of the file system.
Status MakeStore(Storage& storage, const std::string& directory) {
  if (directory.empty()) return OkStatus();
  if (!storage.List(directory).ok()) {
    const Status made =
        MakeDurableDirectory(storage, WithoutLastSlashes(directory));
    if (made.code() == Code::kForbidden) {
      return Forbidden(made.message() +
                       "; name a folder that this user may create or write");
    }
    RETURN_IF_ERROR(made);
  }
  return CheckPathsFit(storage, directory);
}

}  // namespace

Status MakeSummaryPlace(Storage& storage, const std::string& directory) {
  if (directory.empty() || storage.List(directory).ok()) return OkStatus();
  const Status made =
      MakeDurableDirectory(storage, WithoutLastSlashes(directory));
  return made.code() == Code::kResourceExhausted ? OkStatus() : made;
}

Status MakeChiefPlaces(Storage& storage, const TrainCommand& command) {
  const TrainOptions& options = command.options;
  RETURN_IF_ERROR(Annotate(MakeSummaryPlace(storage, options.summary.directory),
                           "--tensorboard"));
  if (options.export_directory.empty()) return OkStatus();
  return Annotate(PrepareExport(storage, options.export_directory), "--export");
}

Status CheckOutputPlace(Storage& storage, const std::string& directory) {
  if (directory.empty()) return OkStatus();
  const Status listed = storage.List(directory).status();
  if (listed.code() == Code::kNotFound) return OkStatus();
  if (!listed.ok()) return InvalidArgument(listed.message());
  if (access(directory.c_str(), W_OK | X_OK) == 0) return OkStatus();
  return InvalidArgument(
      fmt::format("{}: {}", directory, std::strerror(errno)));
}

Status CheckOutputPlaces(Storage& storage, const TrainCommand& command) {
  const std::array<std::pair<std::string_view, const std::string*>, 5> places =
      {{{"--events", &command.events_directory},
        {"--logs", &command.logs_directory},
        {"--plan-state", &command.plan_state_directory},
        {"--tensorboard", &command.options.summary.directory},
        {"--ckpt", &command.options.checkpoint.directory}}};
  for (const auto& [flag, directory] : places) {
    RETURN_IF_ERROR(Annotate(CheckOutputPlace(storage, *directory), flag));
  }
  return Annotate(CheckOutputFile(command.trace_file), "--trace");
}

Status MakeOutputPlaces(Storage& storage, const TrainCommand& command) {
  RETURN_IF_ERROR(
      Annotate(MakePlace(storage, command.events_directory), "--events"));
  RETURN_IF_ERROR(
      Annotate(MakePlace(storage, command.logs_directory), "--logs"));
  RETURN_IF_ERROR(Annotate(
      MakeStore(storage, command.options.checkpoint.directory), "--ckpt"));
  return MakeChiefPlaces(storage, command);
}

}  // namespace gauntlet
