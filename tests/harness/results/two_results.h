// Folders of two results, and their comparison in words.
#ifndef GAUNTLET_TESTS_HARNESS_RESULTS_TWO_RESULTS_H_
#define GAUNTLET_TESTS_HARNESS_RESULTS_TWO_RESULTS_H_

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "harness/results/comparison.h"
#include "tests/engine/real/scratch_directory.h"

namespace gauntlet {

class TwoResults {
 public:
  void Found(const std::string& name, std::string_view bytes) {
    Write(scratch_ / "found", name, bytes);
  }
  void Expected(const std::string& name, std::string_view bytes) {
    Write(scratch_ / "expected", name, bytes);
  }
  std::string found() const { return scratch_ / "found"; }
  std::string expected() const { return scratch_ / "expected"; }

  // Returns the differences. Checks that the digests differ iff there are any.
  std::vector<std::string> Differences(const ResultChoice& choice = {}) {
    const auto comparison = CompareResults(found(), expected(), choice);
    if (!comparison.ok()) return {comparison.status().ToString()};
    EXPECT_EQ(comparison->IsEqual(), *DigestOfResult(found(), choice) ==
                                         *DigestOfResult(expected(), choice));
    comparison_ = *comparison;
    return DescribeDifferences(*comparison);
  }
  // The last comparison.
  const ResultComparison& comparison() const { return comparison_; }

 private:
  static void Write(const std::string& folder, const std::string& name,
                    std::string_view bytes) {
    const std::filesystem::path path = std::filesystem::path(folder) / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
  }

  ScratchDirectory scratch_;
  ResultComparison comparison_;
};

// Returns the differences of two files.
inline std::vector<std::string> DifferencesOf(const std::string& name,
                                              std::string_view found,
                                              std::string_view expected) {
  TwoResults results;
  results.Found(name, found);
  results.Expected(name, expected);
  return results.Differences();
}

// A file with the given content, opened by OpenResultFile.
struct OpenedFile {
  explicit OpenedFile(const std::string& name, std::string_view bytes) {
    const ScratchDirectory scratch;
    std::ofstream(scratch / name, std::ios::binary) << bytes;
    Result<ResultFile> opened = OpenResultFile(scratch.path(), name);
    EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    if (opened.ok()) file = *std::move(opened);
  }

  // Returns text like "float32 [2,3]"; "" if there is no tensor of that name.
  std::string TypeOf(std::string_view tensor) const {
    for (const ResultTensor& one : file.tensors) {
      if (one.name != tensor) continue;
      std::string shape;
      for (const uint64_t size : one.shape) {
        if (!shape.empty()) shape += ",";
        shape += std::to_string(size);
      }
      return one.type.name + " [" + shape + "]";
    }
    return "";
  }
  std::string BytesOf(std::string_view tensor) const {
    for (const ResultTensor& one : file.tensors) {
      if (one.name != tensor) continue;
      auto bytes = ReadWhole(*one.bytes, uint64_t{1} << 20, tensor);
      return bytes.ok() ? *bytes : bytes.status().message();
    }
    return "no such tensor";
  }

  ResultFile file;
};

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_HARNESS_RESULTS_TWO_RESULTS_H_
