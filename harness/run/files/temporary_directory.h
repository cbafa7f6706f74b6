// A directory that this process creates and removes.
#ifndef GAUNTLET_HARNESS_RUN_FILES_TEMPORARY_DIRECTORY_H_
#define GAUNTLET_HARNESS_RUN_FILES_TEMPORARY_DIRECTORY_H_

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "engine/status.h"

namespace gauntlet {

class TemporaryDirectory {
 public:
  // Creates a directory in $TMPDIR: "gauntlet-PURPOSE-x7Yq1z".
  static Result<std::unique_ptr<TemporaryDirectory>> Make(
      std::string_view purpose);
  // Creates a directory in `parent`, which must exist. `purpose` is a part of
  // its name.
  static Result<std::unique_ptr<TemporaryDirectory>> MakeIn(
      const std::filesystem::path& parent, std::string_view purpose);
  // Removes the directory with all its contents.
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  explicit TemporaryDirectory(std::string path) : path_(std::move(path)) {}

  const std::string path_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FILES_TEMPORARY_DIRECTORY_H_
