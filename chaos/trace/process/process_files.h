// Descriptors and paths of a traced process, read from /proc each time, so that
// the origin of a descriptor does not matter: opened, duplicated, inherited or
// received over a socket (man 5 proc).
#ifndef GAUNTLET_CHAOS_TRACE_PROCESS_PROCESS_FILES_H_
#define GAUNTLET_CHAOS_TRACE_PROCESS_PROCESS_FILES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/trace/log/file_operation.h"
#include "engine/real/posix/descriptor.h"
#include <sys/stat.h>
#include <sys/types.h>

namespace gauntlet {

// Returns "/proc/TID/fd/N". Opening this path opens the same file, with a new
// file description.
std::string DescriptorPath(pid_t thread, int descriptor);

// Returns the open descriptors in ascending order; empty if /proc hides them.
std::vector<int> DescriptorsOf(pid_t thread);

struct DescriptorInfo {
  uint64_t position = 0;
  int flags = 0;  // of open(2) and fcntl(2)
};
// Returns nullopt if the descriptor is closed.
std::optional<DescriptorInfo> ReadDescriptorInfo(pid_t thread, int descriptor);

// Translates a path argument of the thread into a path for this process. An
// absolute path is taken below the thread's root, a relative one below its
// working directory or the descriptor `directory`; /proc/self means the
// thread's process.
std::string PathFromHere(pid_t thread, int directory, std::string_view path);

// Returns the text of a symbolic link; empty if it is not a link.
std::string ReadLinkText(const std::string& path);
std::string ReadLinkText(int directory, const std::string& name);

std::optional<struct stat> StatusOf(const std::string& path);  // follows links
std::optional<struct stat> StatusOf(int descriptor);
FileIdentity IdentityOf(const struct stat& status);
// Returns true for a file, directory or symbolic link; false for a device, FIFO
// or socket.
bool IsRecordedType(const struct stat& status);
uint32_t PermissionsOf(const struct stat& status);
// Sets the mode and times of the operation.
void SetMetadata(FileOperation& operation, const struct stat& status);

// Opens with O_PATH, which only names the file and never blocks. Invalid if the
// file is absent.
Descriptor OpenName(const std::string& path, int flags = 0);

// Returns the rank in the environment with which the process's program was
// started.
int32_t RankOfProcess(pid_t process);
// Returns the process of a thread; the thread's own number if it has ended.
pid_t ProcessOfThread(pid_t thread);
// Returns the letter of the thread's state: S sleeping, R running (man 5 proc);
// X if it has ended.
char StateOfThread(pid_t process, pid_t thread);
// Returns the CPU time of all threads of the process, in nanoseconds.
int64_t ProcessorTimeOf(pid_t process);
// Returns the tracer's process; 0 if the process is not traced.
pid_t TracerOf(pid_t process);

// Returns the files with a shared mapping in [from, to).
std::vector<FileIdentity> FilesMappedIn(pid_t process, uint64_t from,
                                        uint64_t to);

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_TRACE_PROCESS_PROCESS_FILES_H_
