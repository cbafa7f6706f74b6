#include "harness/trainer/run/private_namespaces.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <system_error>

#include "engine/real/posix/descriptor.h"
#include "engine/real/posix/posix_status.h"
#include <fcntl.h>
#include <fmt/format.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gauntlet {
namespace {

Status NotPermitted(std::string_view step, int error) {
  return Forbidden(fmt::format("namespaces are not permitted here: {}: {}",
                               step, std::generic_category().message(error)));
}

// Returns the error for a root directory that is no mount point. The root of a
// chroot is none, unless it was bind-mounted.
Status RootIsNoMountPoint() {
  return Forbidden(
      "namespaces cannot be used here: / is the directory of a chroot and not "
      "a mount point, so its mount propagation cannot be changed (EINVAL; to "
      "use namespaces, run mount --bind DIR DIR on that directory, outside of "
      "the chroot, and enter it again)");
}

Status WriteProcFile(const char* path, const std::string& text) {
  const Descriptor file(open(path, O_WRONLY | O_CLOEXEC));
  if (file.valid() && write(file.get(), text.data(), text.size()) ==
                          static_cast<ssize_t>(text.size())) {
    return OkStatus();
  }
  return NotPermitted(path, errno);
}

// Moves this process into new namespaces. Without root privileges, also creates
// a user namespace that maps only this user and group.
Status Unshare(int namespaces) {
  if (unshare(namespaces) == 0) return OkStatus();
  if (errno != EPERM) return NotPermitted("unshare", errno);
  const uid_t user = geteuid();
  const gid_t group = getegid();
  if (unshare(CLONE_NEWUSER | namespaces) != 0)
    return NotPermitted("unshare", errno);
  RETURN_IF_ERROR(WriteProcFile("/proc/self/setgroups", "deny"));
  RETURN_IF_ERROR(
      WriteProcFile("/proc/self/uid_map", fmt::format("{0} {0} 1", user)));
  return WriteProcFile("/proc/self/gid_map", fmt::format("{0} {0} 1", group));
}

Status StartLoopback() {
  const Descriptor socket_fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request = {};
  std::strncpy(request.ifr_name, "lo", sizeof request.ifr_name - 1);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  if (!socket_fd.valid() || ioctl(socket_fd.get(), SIOCSIFFLAGS, &request) != 0)
    return NotPermitted("loopback", errno);
  return OkStatus();
}

Status Mount(const std::vector<DirectoryMount>& mounts) {
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return errno == EINVAL ? RootIsNoMountPoint()
                           : NotPermitted("private mounts", errno);
  if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC,
            nullptr) != 0) {
    return NotPermitted("mount of /proc", errno);
  }
  for (const DirectoryMount& one : mounts) {
    if (mount(one.from.c_str(), one.at.c_str(), nullptr, MS_BIND, nullptr) != 0)
      return NotPermitted("mount of " + one.at, errno);
  }
  return OkStatus();
}

Status Prepare(const std::vector<DirectoryMount>& mounts,
               NetworkAccess network) {
  RETURN_IF_ERROR(Mount(mounts));
  return network == NetworkAccess::kPrivate ? StartLoopback() : OkStatus();
}

// Reads from a pipe to its end.
std::string ReadAll(int fd) {
  std::string text;
  std::array<char, 512> piece = {};
  while (true) {
    const ssize_t count =
        RetryOnInterrupt([&] { return read(fd, piece.data(), piece.size()); });
    if (count <= 0) return text;
    text.append(piece.data(), static_cast<size_t>(count));
  }
}

}  // namespace

Result<int> RunInNamespaces(const std::vector<DirectoryMount>& mounts,
                            NetworkAccess network,
                            const std::function<int()>& body) {
  RETURN_IF_ERROR(
      Unshare(CLONE_NEWNS | CLONE_NEWPID |
              (network == NetworkAccess::kPrivate ? CLONE_NEWNET : 0)));
  std::array<int, 2> ends = {};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    return PosixError(errno, "pipe", "create");
  const Descriptor report(ends[0]);
  Descriptor report_end(ends[1]);
  const pid_t child = fork();
  if (child < 0) return PosixError(errno, "run", "fork");
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const Status status = Prepare(mounts, network);
    if (!status.ok()) {
      const std::string& text = status.message();
      const ssize_t ignored = write(report_end.get(), text.data(), text.size());
      static_cast<void>(ignored);
      _exit(1);
    }
    report_end.Reset();
    const int code = body();
    std::fflush(nullptr);
    _exit(code);
  }
  report_end.Reset();
  const std::string failure = ReadAll(report.get());
  int status = 0;
  RetryOnInterrupt([&] { return waitpid(child, &status, 0); });
  if (!failure.empty()) return Forbidden(failure);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace gauntlet
