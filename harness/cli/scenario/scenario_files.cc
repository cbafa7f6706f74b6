#include "harness/cli/scenario/scenario_files.h"

#include <filesystem>
#include <set>
#include <string_view>

#include "engine/cli/flags/flags.h"
#include "engine/utf8.h"
#include "harness/cli/run_folders/old_runs.h"
#include "harness/cli/run_folders/stored_records.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr int kDeepest = 16;

bool IsScenarioName(std::string_view name) {
  return name.ends_with(".yaml") || name.ends_with(".yml");
}

// Returns true iff the folder has the files of a run or an exploration. Such a
// folder has a scenario file for each case, and a search for scenarios must
// skip these files.
bool IsOutputOfRun(const std::string& folder, std::string_view name) {
  return IsRunId(name) || IsFolderOfRun(folder);
}

// Adds the scenario files in and below the folder, except hidden ones and those
// of stored runs. kNotFound: there is no such folder.
Status AddFolder(Storage& storage, const std::string& folder, int depth,
                 std::set<std::string>& files) {
  if (depth > kDeepest) {
    return InvalidArgument(folder + ": folders are nested too deep");
  }
  const Result<std::vector<DirectoryEntry>> entries = storage.List(folder);
  if (!entries.ok()) {
    return Status(entries.status().code(),
                  entries.status().message() +
                      "; name another folder, or the scenario files");
  }
  for (const DirectoryEntry& entry : *entries) {
    if (entry.name.starts_with('.')) continue;
    const std::string path =
        folder.ends_with('/') ? folder + entry.name : folder + "/" + entry.name;
    if (entry.kind == FileKind::kDirectory) {
      if (IsOutputOfRun(path, entry.name)) continue;
      RETURN_IF_ERROR(AddFolder(storage, path, depth + 1, files));
    } else if (IsScenarioName(entry.name)) {
      files.insert(path);
    }
  }
  return OkStatus();
}

// Returns true iff nothing exists at the path, not even a dangling link.
bool IsFree(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::symlink_status(path, ignored).type() ==
         std::filesystem::file_type::not_found;
}

// Returns the first path of each file, if several paths lead to it.
std::vector<std::string> WithoutOtherNames(const std::set<std::string>& paths) {
  std::vector<std::string> files;
  std::set<std::filesystem::path> seen;
  for (const std::string& path : paths) {
    std::error_code error;
    const auto real = std::filesystem::canonical(path, error);
    if (error || seen.insert(real).second) files.push_back(path);
  }
  return files;
}

std::string NothingAt(const std::string& path) {
  if (path == "-") {
    return "-: scenarios are not read from standard input; name a file or a "
           "folder";
  }
  std::string message = NoSuchScenario(path, "file or folder");
  if (path.find_first_of("./") != path.npos) return message;
  return fmt::format("{}; to select by a label, use gauntlet run FOLDER -L {}",
                     message, path);
}

}  // namespace

std::string NoSuchScenario(const std::string& path, std::string_view kind) {
  return fmt::format("{}: no such scenario {}{}", path, kind,
                     DidYouMeanFile(path));
}

Result<std::vector<std::string>> FindScenarioFiles(
    Storage& storage, const std::vector<std::string>& paths) {
  std::set<std::string> files;
  for (const std::string& given : paths) {
    const std::string path = std::filesystem::path(given).lexically_normal();
    std::error_code ignored;
    const bool is_folder = std::filesystem::is_directory(path, ignored);
    const bool is_other = !is_folder && std::filesystem::exists(path, ignored);
    if (IsFree(path) && !path.empty()) {
      return NotFound(NothingAt(path));
    }
    if (IsScenarioName(path) && !is_folder) {
      ASSIGN_OR_RETURN(const auto file, storage.Open(path, OpenMode::kRead));
      files.insert(path);
    } else if (is_other || path.empty()) {
      return InvalidArgument(fmt::format(
          "{}: expected a folder, or a file that ends in .yaml or .yml",
          path.empty() ? "''" : path));
    } else {
      RETURN_IF_ERROR(AddFolder(storage, path, 0, files));
    }
  }
  return WithoutOtherNames(files);
}

std::string NoScenarioFileIn(const std::vector<std::string>& paths) {
  return fmt::format("no file that ends in .yaml or .yml in {}",
                     EscapeBytes(fmt::format("{}", fmt::join(paths, ", "))));
}

}  // namespace gauntlet
