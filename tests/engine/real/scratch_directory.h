// A directory in $TMPDIR or /tmp that exists during a test, and file functions
// for tests.
#ifndef GAUNTLET_TESTS_ENGINE_REAL_SCRATCH_DIRECTORY_H_
#define GAUNTLET_TESTS_ENGINE_REAL_SCRATCH_DIRECTORY_H_

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "engine/check.h"
#include <stdlib.h>

namespace gauntlet {

class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::string name =
        std::filesystem::temp_directory_path() / "gauntlet-test-XXXXXX";
    CHECK(mkdtemp(name.data()) != nullptr, "no scratch directory");
    path_ = name;
  }
  ~ScratchDirectory() { std::filesystem::remove_all(path_); }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  std::string operator/(const std::string& name) const {
    return path_ + "/" + name;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline std::string TextOf(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_ENGINE_REAL_SCRATCH_DIRECTORY_H_
