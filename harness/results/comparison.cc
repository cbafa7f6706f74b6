#include "harness/results/comparison.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "engine/utf8.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

class FolderComparison {
 public:
  FolderComparison(const std::string& found, const std::string& expected,
                   const ResultChoice& choice)
      : found_folder_(found), expected_folder_(expected), choice_(choice) {}

  Result<ResultComparison> Run() {
    ASSIGN_OR_RETURN(
        const std::vector<std::string> expected,
        ListResultFiles(expected_folder_, choice_, comparison_.notes));
    std::vector<std::string> notes;
    ASSIGN_OR_RETURN(const std::vector<std::string> found,
                     ListResultFiles(found_folder_, choice_, notes));
    for (std::string& note : notes) AddNote(std::move(note));
    std::ranges::set_difference(expected, found,
                                std::back_inserter(comparison_.missing));
    std::ranges::set_difference(found, expected,
                                std::back_inserter(comparison_.unexpected));
    std::vector<std::string> both;
    std::ranges::set_intersection(found, expected, std::back_inserter(both));
    for (const std::string& name : both) RETURN_IF_ERROR(CompareFiles(name));
    return std::move(comparison_);
  }

 private:
  // Differences and counts of one file.
  struct FileComparison {
    std::vector<ResultDifference> differences;
    uint64_t differing = 0;
  };

  void AddNote(std::string note) {
    if (std::ranges::count(comparison_.notes, note) == 0)
      comparison_.notes.push_back(std::move(note));
  }
  void AddNote(const std::string& name, const std::string& note) {
    if (!note.empty())
      AddNote(fmt::format("{}: {}", EscapeBytes(name), EscapeBytes(note)));
  }

  Status CompareFiles(const std::string& name) {
    ASSIGN_OR_RETURN(ResultFile found, OpenResultFile(found_folder_, name));
    ASSIGN_OR_RETURN(ResultFile expected,
                     OpenResultFile(expected_folder_, name));
    AddNote(name, found.note);
    AddNote(name, expected.note);
    std::string reason;
    if (found.format == expected.format) {
      FileComparison file;
      const Status status = CompareValues(found, expected, file);
      if (status.ok()) {
        Take(name, expected, std::move(file));
        return OkStatus();
      }
      if (status.code() != Code::kDataLoss) return status;
      reason = status.message();
    } else {
      reason = fmt::format("{} instead of {}", FileFormatName(found.format),
                           FileFormatName(expected.format));
    }
    if (found.format == FileFormat::kLink ||
        expected.format == FileFormat::kLink) {
      FileComparison file{.differing = 1};
      file.differences.push_back({.tensor = {.mismatch = reason}});
      Take(name, expected, std::move(file));
      return OkStatus();
    }
    return CompareAsBytes(name, reason);
  }

  Status CompareAsBytes(const std::string& name, const std::string& reason) {
    ASSIGN_OR_RETURN(const ResultFile found, OpenAsBytes(found_folder_, name));
    ASSIGN_OR_RETURN(const ResultFile expected,
                     OpenAsBytes(expected_folder_, name));
    AddNote(name, "compared as bytes: " + reason);
    FileComparison file;
    RETURN_IF_ERROR(CompareValues(found, expected, file));
    Take(name, expected, std::move(file));
    return OkStatus();
  }

  // Compares the values of two files. Both are sorted by name.
  Status CompareValues(const ResultFile& found, const ResultFile& expected,
                       FileComparison& file) const {
    auto a = found.tensors.begin();
    auto b = expected.tensors.begin();
    while (a != found.tensors.end() || b != expected.tensors.end()) {
      if (b == expected.tensors.end() ||
          (a != found.tensors.end() && a->name < b->name)) {
        AddDifference(UnexpectedTensor(a++->name), file);
      } else if (a == found.tensors.end() || b->name < a->name) {
        AddDifference(MissingTensor(b++->name), file);
      } else {
        ASSIGN_OR_RETURN(auto difference, CompareResultTensors(*a++, *b++));
        if (difference) AddDifference(*std::move(difference), file);
      }
    }
    return OkStatus();
  }

  void AddDifference(ResultDifference difference, FileComparison& file) const {
    ++file.differing;
    if (file.differences.size() < choice_.max_differences)
      file.differences.push_back(std::move(difference));
  }

  void Take(const std::string& name, const ResultFile& expected,
            FileComparison file) {
    ++comparison_.files;
    comparison_.tensors += expected.tensors.size();
    comparison_.bytes += expected.size;
    comparison_.differing += file.differing;
    for (ResultDifference& difference : file.differences) {
      if (comparison_.differences.size() == choice_.max_differences) return;
      difference.file = name;
      comparison_.differences.push_back(std::move(difference));
    }
  }

  const std::string& found_folder_;
  const std::string& expected_folder_;
  const ResultChoice& choice_;
  ResultComparison comparison_;
};

}  // namespace

Result<ResultComparison> CompareResults(const std::string& found_folder,
                                        const std::string& expected_folder,
                                        const ResultChoice& choice) {
  return FolderComparison(found_folder, expected_folder, choice).Run();
}

}  // namespace gauntlet
