// A folder of a test.
#ifndef GAUNTLET_TESTS_CHAOS_TRACE_FOLDER_H_
#define GAUNTLET_TESTS_CHAOS_TRACE_FOLDER_H_

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace gauntlet {

// Removed with all that is in it.
class Folder {
 public:
  Folder() {
    std::string name =
        std::filesystem::temp_directory_path() / "gauntlet-traced-XXXXXX";
    // Resolved: names of the kernel have no links.
    if (mkdtemp(name.data()) != nullptr)
      path_ = std::filesystem::canonical(name);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }
  std::string Make(const std::string& name) const {
    std::filesystem::create_directories(path_ + "/" + name);
    return path_ + "/" + name;
  }

 private:
  std::string path_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_CHAOS_TRACE_FOLDER_H_
