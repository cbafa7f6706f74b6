// Result files of a training program: their names, and their values.
#ifndef GAUNTLET_HARNESS_RESULTS_RESULT_FILE_H_
#define GAUNTLET_HARNESS_RESULTS_RESULT_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/status.h"
#include "harness/results/byte_source.h"
#include "harness/results/tensor_list.h"

namespace gauntlet {

// Patterns of fnmatch(3) for paths below the folder; * also matches "/".
struct ResultChoice {
  std::vector<std::string> files = {"*"};
  std::vector<std::string> left_out;
  // Number of differences that are described; all are counted.
  size_t max_differences = 20;
};

// Returns the sorted paths, below the folder, of the chosen files and links.
// Adds a note for each pipe or other special file. kNotFound: the folder does
// not exist.
Result<std::vector<std::string>> ListResultFiles(
    const std::string& folder, const ResultChoice& choice,
    std::vector<std::string>& notes);

enum class FileFormat : uint8_t {
  kBytes,
  kLink,
  kSafetensors,
  kNpy,
  kNpz,
  kTorch,
  kKeras,
  kZip,
  kHdf5,
};
// Returns "bytes", "safetensors", …
std::string_view FileFormatName(FileFormat format);

struct ResultFile {
  FileFormat format = FileFormat::kBytes;
  uint64_t size = 0;
  std::vector<ResultTensor> tensors;  // by name
  std::string note;  // reason why it is read as bytes; "" if there is none
};

// Opens a file. The content determines the format; if it has no signature, the
// suffix does. A file that cannot be read in its format is read as bytes, and
// its note states the reason. A link is not followed: its only value is its
// target as a text. The target is relative to `folder` if it is below `folder`.
Result<ResultFile> OpenResultFile(const std::string& folder,
                                  const std::string& name);
// Opens the same file as bytes.
Result<ResultFile> OpenAsBytes(const std::string& folder,
                               const std::string& name);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RESULTS_RESULT_FILE_H_
