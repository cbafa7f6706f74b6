// Descriptors and paths of a traced process, asked of /proc each time, so that
// it does not matter how a descriptor came about: opened, duplicated, inherited
// or passed over a socket (man 5 proc).
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

// "/proc/TID/fd/N". Opening it opens the same file anew.
std::string DescriptorPath(pid_t thread, int descriptor);

struct DescriptorInfo {
  uint64_t position = 0;
  int flags = 0;  // of open(2) and fcntl(2)
};
// nullopt if it is closed.
std::optional<DescriptorInfo> ReadDescriptorInfo(pid_t thread, int descriptor);

// A path that a thread gives to a system call, as this process can open it:
// absolute ones below the thread's root, others below its working directory or
// the descriptor `directory`, and /proc/self is the thread's own.
std::string PathFromHere(pid_t thread, int directory, std::string_view path);

// Text of a symbolic link; empty if it is none.
std::string ReadLinkText(const std::string& path);
std::string ReadLinkText(int directory, const std::string& name);

std::optional<struct stat> StatusOf(const std::string& path);  // follows links
std::optional<struct stat> StatusOf(int descriptor);
FileIdentity IdentityOf(const struct stat& status);
uint32_t PermissionsOf(const struct stat& status);
// The mode and the times of an operation.
void SetMetadata(FileOperation& operation, const struct stat& status);

// O_PATH: only names the file, and waits for nothing. Invalid if it is absent.
Descriptor OpenName(const std::string& path, int flags = 0);

// The rank in the environment that the process' program was started with.
int32_t RankOfProcess(pid_t process);
// The process that a thread belongs to; the thread's own number if it has
// ended.
pid_t ProcessOfThread(pid_t thread);
// The letter of its state: S sleeps, R runs (man 5 proc); X if it has ended.
char StateOfThread(pid_t process, pid_t thread);
// Nanoseconds that all threads of the process have run so far.
int64_t ProcessorTimeOf(pid_t process);
// 0 if nobody traces the process.
pid_t TracerOf(pid_t process);

// Files with a shared mapping in [from, to).
std::vector<FileIdentity> FilesMappedIn(pid_t process, uint64_t from,
                                        uint64_t to);

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_TRACE_PROCESS_PROCESS_FILES_H_
