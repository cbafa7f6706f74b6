// A temporary folder of a test.
#ifndef GAUNTLET_TESTS_CHAOS_TRACE_FOLDER_H_
#define GAUNTLET_TESTS_CHAOS_TRACE_FOLDER_H_

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace gauntlet {

// A folder that is removed with all its contents.
class Folder {
 public:
  Folder() {
    std::string name =
        std::filesystem::temp_directory_path() / "gauntlet-traced-XXXXXX";
    // Resolves links, because the kernel reports paths without links.
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
