// One run of somebody else's program: what is to be run, and how it ended.
//
// A trial runs in a process of its own, `gauntlet trial FOLDER`, because it
// enters namespaces and traces. The two talk through files of the folder:
// kTrialFile and kTrialEndFile.
#ifndef GAUNTLET_HARNESS_TRAINER_RUN_TRIAL_H_
#define GAUNTLET_HARNESS_TRAINER_RUN_TRIAL_H_

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

inline constexpr std::string_view kTrialFile = "trial.json";
inline constexpr std::string_view kTrialEndFile = "end.json";

// The directory `from` is seen at `at`, by this trial alone.
struct DirectoryMount {
  std::string from;
  std::string at;
};

enum class Isolation : uint8_t {
  kNamespaces,  // of mounts and processes
  kNone,        // the program runs where this process does; no mounts
};
enum class NetworkAccess : uint8_t {
  kPrivate,  // a loopback of its own, and nothing else
  kShared,   // that of this machine
};

struct TrainerTrial {
  std::vector<std::string> arguments;
  std::string working_directory;
  std::vector<std::string> environment;  // all of it, "NAME=value"
  // Takes standard output and error, at most kMostOutput bytes of them.
  std::string output_file;
  Isolation isolation = Isolation::kNamespaces;
  NetworkAccess network = NetworkAccess::kPrivate;  // under kNamespaces
  std::vector<DirectoryMount> mounts;
  // Directories that the program changes, as it sees them: those that are
  // traced, and whose reads are reported.
  std::vector<std::string> directories;
  std::string log_folder;  // of the operation log; empty: none is recorded
  LogLimits log_limits;
  std::vector<Injection> injections;
  bool ranks_take_turns = false;  // see TraceOptions
  Duration time_limit = std::chrono::hours(1);
  Duration background_grace = std::chrono::seconds(2);
  // Folder of the fork server (fork_server.h) that runs the program; empty: it
  // is a fresh process. Under kNamespaces, without log and injections.
  std::string fork_server;
};
inline constexpr uint64_t kMostOutput = uint64_t{64} << 20U;

// A file that was read, which was there when the program started.
struct FileRead {
  uint32_t directory = 0;  // index among the trial's
  std::string path;        // below it
  auto operator<=>(const FileRead&) const = default;
};

struct TrialEnd {
  int exit_code = 0;
  int signal = 0;             // not 0: it was ended by this signal
  bool is_killed = false;     // by an injection
  bool is_timed_out = false;  // killed at the time limit
  int background_processes = 0;
  double seconds = 0;
  std::vector<std::string> injected_at;  // each fault's operation, in words
  std::vector<FileRead> reads;           // in the order of their first read
  bool are_reads_complete = true;        // false: the kernel dropped some
  // Files made, moved to or changed in directories that were there at the
  // start.
  std::vector<FileRead> made;
  std::vector<std::string> notes;
};

inline bool EndedWell(const TrialEnd& end) {
  return end.exit_code == 0 && end.signal == 0 && !end.is_timed_out;
}

// "exit code 3" or "signal 11".
std::string ExitText(const TrialEnd& end);

// kInvalidArgument: text that is not UTF-8.
Result<std::string> TrialToJson(const TrainerTrial& trial);
// kDataLoss, naming the file.
Result<TrainerTrial> TrialFromJson(const std::string& text);
std::string TrialEndToJson(const Result<TrialEnd>& end);
// The Status that was written; kDataLoss, naming the file.
Result<TrialEnd> TrialEndFromJson(const std::string& text);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_RUN_TRIAL_H_
