// Result files of a training program: which there are, and their values.
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

// Patterns of fnmatch(3) for paths below the folder, in which * takes "/" too.
struct ResultChoice {
  std::vector<std::string> files = {"*"};
  std::vector<std::string> left_out;
  // So many differences are described; all are counted.
  size_t max_differences = 20;
};

// Paths below the folder of the files and links that are chosen, sorted. Pipes
// and other special files get a note each. kNotFound: there is no such folder.
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
// "bytes", "safetensors".
std::string_view FileFormatName(FileFormat format);

struct ResultFile {
  FileFormat format = FileFormat::kBytes;
  uint64_t size = 0;
  std::vector<ResultTensor> tensors;  // by name
  std::string note;  // why it is taken as bytes; "": no such reason
};

// Opens a file by its content, and by its suffix only where the content has no
// mark. A file that is not readable as its format is taken as bytes, and its
// note says why. A link has one text: where it leads to, below `folder` if it
// is there; it is not followed.
Result<ResultFile> OpenResultFile(const std::string& folder,
                                  const std::string& name);
// The same file as bytes.
Result<ResultFile> OpenAsBytes(const std::string& folder,
                               const std::string& name);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RESULTS_RESULT_FILE_H_
