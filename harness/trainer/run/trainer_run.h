// One run of a training program: its settings and its outcome.
//
// A run has a process of its own, `gauntlet trainer-run FOLDER`, because it
// enters namespaces and traces the program. Both processes communicate by two
// files in the folder: kRunFile and kRunEndFile.
#ifndef GAUNTLET_HARNESS_TRAINER_RUN_TRAINER_RUN_H_
#define GAUNTLET_HARNESS_TRAINER_RUN_TRAINER_RUN_H_

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/trace/injection.h"
#include "chaos/trace/log/operation_log.h"
#include "engine/status.h"
#include "engine/world/clock.h"

namespace gauntlet {

inline constexpr std::string_view kRunVerb = "trainer-run";
inline constexpr std::string_view kRunFile = "run.json";
inline constexpr std::string_view kRunEndFile = "end.json";
// Exit code of the run's process: no space is left for kRunEndFile.
inline constexpr int kDiskFullExit = 28;

// Mounts the directory `from` at `at`, for this run only.
struct DirectoryMount {
  std::string from;
  std::string at;
};

enum class Isolation : uint8_t {
  kNamespaces,  // own namespaces of mounts and processes
  kNone,        // same mounts and processes as this process
};
enum class NetworkAccess : uint8_t {
  kPrivate,  // only a loopback device of its own
  kShared,   // the network of this machine
};

struct TrainerRun {
  std::vector<std::string> arguments;
  std::string working_directory;
  std::vector<std::string> environment;  // all of it, "NAME=value"
  // Receives standard output and error, at most kMostOutput bytes.
  std::string output_file;
  Isolation isolation = Isolation::kNamespaces;
  NetworkAccess network = NetworkAccess::kPrivate;  // only if kNamespaces
  std::vector<DirectoryMount> mounts;
  // Directories that the program changes, at the paths that it sees: they are
  // traced, and reads in them are reported.
  std::vector<std::string> directories;
  std::string log_folder;  // of the operation log; empty: do not record
  LogLimits log_limits;
  std::vector<Injection> injections;
  bool ranks_take_turns = false;  // see TraceOptions
  Duration time_limit = std::chrono::hours(1);
  Duration background_grace = std::chrono::seconds(2);
  // Folder of the fork server (fork_server.h) that runs the program; empty: a
  // fresh process. REQUIRES kNamespaces, no log and no injections.
  std::string fork_server;
};
inline constexpr uint64_t kMostOutput = uint64_t{64} << 20U;

// A file in one of TrainerRun::directories.
struct FileRead {
  uint32_t directory = 0;  // index of the directory
  std::string path;        // relative to the directory
  auto operator<=>(const FileRead&) const = default;
};

struct TrainerRunEnd {
  int exit_code = 0;
  int signal = 0;             // signal that ended it; 0: none
  bool is_killed = false;     // by an injection
  bool is_timed_out = false;  // killed at the time limit
  int background_processes = 0;
  double seconds = 0;
  std::vector<std::string> injected_at;  // the operation of each fault, as text
  // Files that the program read and had not created, replaced or changed
  // before, ordered by first read.
  std::vector<FileRead> reads;
  bool are_reads_complete = true;  // false: the kernel dropped some
  // Files created, moved to or changed in directories that existed at the
  // start.
  std::vector<FileRead> made;
  std::vector<std::string> notes;
};

inline bool EndedWell(const TrainerRunEnd& end) {
  return end.exit_code == 0 && end.signal == 0 && !end.is_timed_out;
}

// Returns "exit code 3" or "signal 11".
std::string ExitText(const TrainerRunEnd& end);

// kInvalidArgument: a text is not UTF-8.
Result<std::string> TrainerRunToJson(const TrainerRun& run);
// kDataLoss: the text is no TrainerRun; the message names kRunFile.
Result<TrainerRun> TrainerRunFromJson(const std::string& text);
std::string TrainerRunEndToJson(const Result<TrainerRunEnd>& end);
// Returns the outcome or the error that was written. kDataLoss: the text is
// neither; the message names kRunEndFile.
Result<TrainerRunEnd> TrainerRunEndFromJson(const std::string& text);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_RUN_TRAINER_RUN_H_
