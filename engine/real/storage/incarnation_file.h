// Names of the files of one incarnation of a worker: its events, its output
// and, on a cluster, its trace.
#ifndef GAUNTLET_ENGINE_REAL_STORAGE_INCARNATION_FILE_H_
#define GAUNTLET_ENGINE_REAL_STORAGE_INCARNATION_FILE_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace gauntlet {

// Returns "worker-1-incarnation-2.log" for the ending ".log".
std::string IncarnationFileName(int worker, int incarnation,
                                std::string_view ending);

// Returns worker and incarnation of a file with this ending, such as 1 and 2
// for "worker-1-incarnation-2.log". Also accepts the name that earlier versions
// gave to it: "worker-1-life-2.log". nullopt: the file has another name.
std::optional<std::pair<int, int>> ParseIncarnationFileName(
    std::string_view name, std::string_view ending);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_STORAGE_INCARNATION_FILE_H_
