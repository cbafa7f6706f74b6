#include "chaos/trace/process/process_files.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <cstdio>
#include <ctime>

#include "engine/real/posix/folder_entries.h"
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace gauntlet {
namespace {

// Reads a small file of /proc; empty if it cannot be read.
std::string ReadProcFile(const std::string& path) {
  const Descriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  if (!fd.valid()) return text;
  std::array<char, 4096> piece;
  while (true) {
    const ssize_t count = read(fd.get(), piece.data(), piece.size());
    if (count <= 0) return text;
    text.append(piece.data(), static_cast<size_t>(count));
  }
}

template <typename Number>
std::optional<Number> ParseNumber(std::string_view text, int base) {
  Number value = 0;
  const auto result =
      std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (result.ec != std::errc()) return std::nullopt;
  return value;
}

// Returns the number after "NAME:" and white space, as in files of /proc.
template <typename Number>
std::optional<Number> FieldOf(std::string_view text, std::string_view name,
                              int base = 10) {
  const size_t at = text.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + name.size());
  const size_t digits = text.find_first_not_of(" \t");
  if (digits == std::string_view::npos) return std::nullopt;
  return ParseNumber<Number>(text.substr(digits), base);
}

// Returns the path with /proc/self and the like replaced by the thread's; empty
// for any other path. The original path, opened by this process, would lead to
// this process's descriptors.
std::string WithOwnProc(pid_t thread, std::string_view path) {
  struct Own {
    std::string_view name;
    std::string replacement;
  };
  const std::array<Own, 6> owns = {{
      {"/proc/self", fmt::format("/proc/{}", thread)},
      {"/proc/thread-self", fmt::format("/proc/{}", thread)},
      {"/dev/fd", fmt::format("/proc/{}/fd", thread)},
      {"/dev/stdin", DescriptorPath(thread, 0)},
      {"/dev/stdout", DescriptorPath(thread, 1)},
      {"/dev/stderr", DescriptorPath(thread, 2)},
  }};
  for (const Own& own : owns) {
    if (!path.starts_with(own.name)) continue;
    const std::string_view rest = path.substr(own.name.size());
    if (rest.empty() || rest.front() == '/')
      return own.replacement + std::string(rest);
  }
  return "";
}

}  // namespace

std::string DescriptorPath(pid_t thread, int descriptor) {
  return fmt::format("/proc/{}/fd/{}", thread, descriptor);
}

std::vector<int> DescriptorsOf(pid_t thread) {
  std::vector<int> descriptors;
  for (const auto& entry : EntriesOf(fmt::format("/proc/{}/fd", thread))) {
    const auto number = ParseNumber<int>(entry.path().filename().string(), 10);
    if (number) descriptors.push_back(*number);
  }
  std::sort(descriptors.begin(), descriptors.end());
  return descriptors;
}

std::optional<DescriptorInfo> ReadDescriptorInfo(pid_t thread, int descriptor) {
  const std::string text =
      ReadProcFile(fmt::format("/proc/{}/fdinfo/{}", thread, descriptor));
  const auto position = FieldOf<uint64_t>(text, "pos:");
  const auto flags = FieldOf<int>(text, "flags:", 8);
  if (!position || !flags) return std::nullopt;
  return DescriptorInfo{.position = *position, .flags = *flags};
}

std::string PathFromHere(pid_t thread, int directory, std::string_view path) {
  if (path.starts_with('/')) {
    const std::string own = WithOwnProc(thread, path);
    if (!own.empty()) return own;
    return fmt::format("/proc/{}/root{}", thread, path);
  }
  if (directory == AT_FDCWD)
    return fmt::format("/proc/{}/cwd/{}", thread, path);
  if (path.empty()) return DescriptorPath(thread, directory);
  return fmt::format("{}/{}", DescriptorPath(thread, directory), path);
}

std::string ReadLinkText(const std::string& path) {
  return ReadLinkText(AT_FDCWD, path);
}

std::string ReadLinkText(int directory, const std::string& name) {
  std::array<char, PATH_MAX> text;
  const ssize_t size =
      readlinkat(directory, name.c_str(), text.data(), text.size());
  if (size < 0) return "";
  return {text.data(), static_cast<size_t>(size)};
}

std::optional<struct stat> StatusOf(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return status;
}

std::optional<struct stat> StatusOf(int descriptor) {
  struct stat status = {};
  if (fstat(descriptor, &status) != 0) return std::nullopt;
  return status;
}

FileIdentity IdentityOf(const struct stat& status) {
  return {.device = status.st_dev, .inode = status.st_ino};
}

bool IsRecordedType(const struct stat& status) {
  return S_ISREG(status.st_mode) || S_ISDIR(status.st_mode) ||
         S_ISLNK(status.st_mode);
}

uint32_t PermissionsOf(const struct stat& status) {
  return status.st_mode & 07777U;
}

void SetMetadata(FileOperation& operation, const struct stat& status) {
  const auto nanoseconds = [](const timespec& time) {
    return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  };
  operation.mode = PermissionsOf(status);
  operation.access_time = nanoseconds(status.st_atim);
  operation.modification_time = nanoseconds(status.st_mtim);
}

Descriptor OpenName(const std::string& path, int flags) {
  return Descriptor(open(path.c_str(), O_PATH | O_CLOEXEC | flags));
}

int32_t RankOfProcess(pid_t process) {
  const std::string text =
      '\0' + ReadProcFile(fmt::format("/proc/{}/environ", process));
  for (const std::string_view name :
       {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    const std::string key = fmt::format("{}{}=", '\0', name);
    const size_t at = text.find(key);
    if (at == std::string::npos) continue;
    const auto rank = ParseNumber<int32_t>(
        std::string_view(text).substr(at + key.size()), 10);
    if (rank && *rank >= 0) return *rank;
  }
  return kUnknownRank;
}

pid_t ProcessOfThread(pid_t thread) {
  const std::string text = ReadProcFile(fmt::format("/proc/{}/status", thread));
  return FieldOf<pid_t>(text, "\nTgid:").value_or(thread);
}

char StateOfThread(pid_t process, pid_t thread) {
  const std::string text =
      ReadProcFile(fmt::format("/proc/{}/task/{}/stat", process, thread));
  // The name before the state may contain parentheses too.
  const size_t name_end = text.rfind(") ");
  if (name_end == std::string::npos || name_end + 2 >= text.size()) return 'X';
  return text[name_end + 2];
}

int64_t ProcessorTimeOf(pid_t process) {
  clockid_t clock = 0;
  timespec time = {};
  if (clock_getcpuclockid(process, &clock) != 0) return 0;
  if (clock_gettime(clock, &time) != 0) return 0;
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

pid_t TracerOf(pid_t process) {
  const std::string text =
      ReadProcFile(fmt::format("/proc/{}/status", process));
  return FieldOf<pid_t>(text, "\nTracerPid:").value_or(0);
}

std::vector<FileIdentity> FilesMappedIn(pid_t process, uint64_t from,
                                        uint64_t to) {
  const std::string text = ReadProcFile(fmt::format("/proc/{}/maps", process));
  std::vector<FileIdentity> files;
  for (size_t at = 0; at < text.size();) {
    const size_t line_end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, line_end - at);
    at = line_end + 1;
    // A line: 7f0c4000-7f0c5000 rw-s 00000000 fd:01 4711 /a/path
    uint64_t begin = 0;
    uint64_t end = 0;
    std::array<char, 5> permissions = {};
    unsigned major_number = 0;
    unsigned minor_number = 0;
    uint64_t inode = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %4s %*x %x:%x %lu", &begin, &end,
                    permissions.data(), &major_number, &minor_number,
                    &inode) != 6) {
      continue;
    }
    if (permissions[3] != 's' || begin >= to || end <= from) continue;
    files.push_back(
        {.device = makedev(major_number, minor_number), .inode = inode});
  }
  return files;
}

}  // namespace gauntlet
