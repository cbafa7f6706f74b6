// Lists a folder without exceptions. A range-based loop over
// std::filesystem::directory_iterator throws if the listing fails on the way.
#ifndef GAUNTLET_ENGINE_REAL_POSIX_FOLDER_ENTRIES_H_
#define GAUNTLET_ENGINE_REAL_POSIX_FOLDER_ENTRIES_H_

#include <filesystem>
#include <system_error>
#include <vector>

namespace gauntlet {

// Returns the entries of the folder in the order of the file system. After an
// error, returns the entries that were found before it.
std::vector<std::filesystem::directory_entry> EntriesOf(
    const std::filesystem::path& folder, std::error_code& error);

// As EntriesOf above, for callers that treat an unreadable folder as an empty
// one.
std::vector<std::filesystem::directory_entry> EntriesOf(
    const std::filesystem::path& folder);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_POSIX_FOLDER_ENTRIES_H_
