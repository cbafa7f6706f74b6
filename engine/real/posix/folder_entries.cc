#include "engine/real/posix/folder_entries.h"

namespace gauntlet {

std::vector<std::filesystem::directory_entry> EntriesOf(
    const std::filesystem::path& folder, std::error_code& error) {
  std::vector<std::filesystem::directory_entry> entries;
  std::filesystem::directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator();
       entry.increment(error)) {
    entries.push_back(*entry);
  }
  return entries;
}

std::vector<std::filesystem::directory_entry> EntriesOf(
    const std::filesystem::path& folder) {
  std::error_code ignored;
  return EntriesOf(folder, ignored);
}

}  // namespace gauntlet
