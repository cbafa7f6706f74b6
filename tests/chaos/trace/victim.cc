// A program to be traced: each command does one thing with the files of a
// directory, which is its first argument.
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <sched.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace {

using Arguments = std::vector<std::string>;

std::string self;  // path of this program

// Ends the program unless the call succeeded.
template <typename Number>
Number Must(Number result, const char* what) {
  if (result >= 0) return result;
  std::perror(what);
  std::exit(99);  // NOLINT(concurrency-mt-unsafe)
}
#define MUST(call) Must((call), #call)

int Create(const std::string& path, int flags = 0) {
  return MUST(open(path.c_str(), O_CREAT | O_RDWR | flags, 0644));
}

std::string Bytes(size_t size, int seed) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<char>((i * 31 + static_cast<size_t>(seed)) % 251);
  return bytes;
}

void Write(int fd, const std::string& bytes) {
  MUST(write(fd, bytes.data(), bytes.size()));
}

void WriteFile(const std::string& path, const std::string& bytes) {
  const int fd = Create(path);
  Write(fd, bytes);
  close(fd);
}

// Ignores the result of a call that may fail.
template <typename Number>
void Ignore(Number) {}

void AwaitChild(pid_t child) {
  int status = 0;
  MUST(waitpid(child, &status, 0));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) std::exit(98);
}

int Plain(const Arguments& arguments) {
  const std::string dir = arguments[0];
  MUST(mkdir((dir + "/sub").c_str(), 0750));
  const int fd = Create(dir + "/sub/a");
  Write(fd, Bytes(5000, 1));
  MUST(pwrite(fd, "hello", 5, 20000));
  MUST(ftruncate(fd, 30000));
  MUST(fchmod(fd, 0600));
  MUST(fsync(fd));
  MUST(fdatasync(fd));
  MUST(rename((dir + "/sub/a").c_str(), (dir + "/b").c_str()));
  MUST(link((dir + "/b").c_str(), (dir + "/sub/c").c_str()));
  MUST(symlink("../b", (dir + "/sub/s").c_str()));
  Write(fd, "more");
  const int parent = MUST(open(dir.c_str(), O_RDONLY | O_DIRECTORY));
  MUST(fsync(parent));
  MUST(mkdirat(parent, "gone", 0755));
  MUST(unlinkat(parent, "gone", AT_REMOVEDIR));
  WriteFile(dir + "/short", "x");
  MUST(unlink((dir + "/short").c_str()));
  WriteFile(dir + "/emptied", "some bytes");
  MUST(open((dir + "/emptied").c_str(), O_WRONLY | O_TRUNC));
  const timespec times[2] = {{.tv_sec = 1000, .tv_nsec = 5},
                             {.tv_sec = 2000, .tv_nsec = 7}};
  MUST(utimensat(parent, "emptied", times, 0));
  MUST(syncfs(parent));
  return 0;
}

int Threads(const Arguments& arguments) {
  const int shared = Create(arguments[0] + "/shared");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const int own = Create(arguments[0] + "/own" + std::to_string(t));
      for (int i = 0; i < 50; ++i) {
        Write(shared, Bytes(100, t * 50 + i));
        Write(own, Bytes(33, i));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return 0;
}

int Vfork(const Arguments& arguments) {
  const std::string path = arguments[0] + "/by-vfork";
  const pid_t child = vfork();
  if (child == 0) {
    const int fd = open(path.c_str(), O_CREAT | O_WRONLY, 0644);
    if (write(fd, "vfork", 5) != 5) _exit(1);
    execl("/bin/true", "true", nullptr);
    _exit(1);
  }
  AwaitChild(child);
  WriteFile(arguments[0] + "/after", "after");
  return 0;
}

int Spawn(const Arguments& arguments) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1,
                                   (arguments[0] + "/output").c_str(),
                                   O_CREAT | O_WRONLY, 0644);
  std::string name = "echo";
  std::string text = "spawned";
  char* const argv[] = {name.data(), text.data(), nullptr};
  pid_t child = 0;
  MUST(-posix_spawn(&child, "/bin/echo", &actions, nullptr, argv, environ));
  AwaitChild(child);
  return 0;
}

// Calls exec in the middle of another thread's write.
int ExecFromThread(const Arguments& arguments) {
  const int fd = Create(arguments[0] + "/before");
  const std::string bytes = Bytes(size_t{64} << 20U, 1);
  std::thread writer([&] {
    while (true) Write(fd, bytes);
  });
  std::thread caller([&] {
    struct stat status = {};
    while (status.st_size == 0) fstat(fd, &status);
    execl(self.c_str(), "victim", "one", arguments[0].c_str(), nullptr);
    std::exit(97);
  });
  caller.join();
  return 96;
}

int One(const Arguments& arguments) {
  WriteFile(arguments[0] + "/one", "one");
  return 0;
}

int Append(const Arguments& arguments) {
  std::vector<pid_t> children;
  for (int child = 0; child < 2; ++child) {
    children.push_back(MUST(fork()));
    if (children.back() != 0) continue;
    const int fd = Create(arguments[0] + "/log", O_APPEND);
    for (int i = 0; i < 100; ++i)
      Write(fd, std::to_string(child) + " " + std::to_string(i) + "\n");
    return 0;
  }
  for (const pid_t child : children) AwaitChild(child);
  return 0;
}

int Vectors(const Arguments& arguments) {
  const int fd = Create(arguments[0] + "/v");
  std::string first = "first ";
  std::string second = "second ";
  const iovec vectors[2] = {{first.data(), first.size()},
                            {second.data(), second.size()}};
  MUST(writev(fd, vectors, 2));
  MUST(pwritev(fd, vectors, 2, 100));
  MUST(pwritev2(fd, vectors, 2, -1, 0));
  MUST(pwritev2(fd, vectors, 2, 3, RWF_APPEND));
  MUST(pwritev2(fd, vectors, 1, 50, RWF_DSYNC));
  MUST(pwritev2(fd, vectors, 1, 60, RWF_SYNC));
  const int appending = Create(arguments[0] + "/v", O_APPEND);
  MUST(pwrite(appending, "end", 3, 0));
  const int synced = Create(arguments[0] + "/synced", O_DSYNC);
  Write(synced, "synced");
  return 0;
}

int Copies(const Arguments& arguments) {
  const std::string dir = arguments[0];
  WriteFile(dir + "/source", Bytes(200'000, 3));
  const int source = Create(dir + "/source");
  const int copied = Create(dir + "/copied");
  loff_t from = 1000;
  loff_t to = 500;
  MUST(copy_file_range(source, &from, copied, &to, 70'000, 0));
  MUST(copy_file_range(source, &from, copied, nullptr, 3000, 0));
  const int sent = Create(dir + "/sent");
  off_t offset = 77;
  MUST(sendfile(sent, source, &offset, 100'000));
  int pipe_ends[2] = {};
  MUST(pipe(pipe_ends));
  const int spliced = Create(dir + "/spliced");
  const std::string piped = Bytes(5000, 9);
  Write(pipe_ends[1], piped);
  loff_t at = 11;
  MUST(splice(pipe_ends[0], nullptr, spliced, &at, 5000, 0));
  Write(pipe_ends[1], piped);
  MUST(splice(pipe_ends[0], nullptr, spliced, nullptr, 5000, 0));
  return 0;
}

// Moves bytes through pipes and memory files into a file.
int Pipes(const Arguments& arguments) {
  const int fd = Create(arguments[0] + "/f");
  int first[2] = {};
  int second[2] = {};
  MUST(pipe(first));
  MUST(pipe(second));
  std::string bytes = Bytes(4000, 2);
  const iovec memory = {bytes.data(), bytes.size()};
  MUST(vmsplice(first[1], &memory, 1, 0));
  MUST(tee(first[0], second[1], 4000, 0));
  MUST(splice(first[0], nullptr, fd, nullptr, 4000, 0));
  MUST(splice(second[0], nullptr, fd, nullptr, 4000, 0));
  const int memory_file = MUST(memfd_create("memory", 0));
  Write(memory_file, Bytes(3000, 6));
  off_t begin = 0;
  MUST(sendfile(fd, memory_file, &begin, 3000));
  return 0;
}

int Clone(const Arguments& arguments) {
  const std::string dir = arguments[0];
  WriteFile(dir + "/source", Bytes(65'536, 3));
  const int source = Create(dir + "/source");
  const int whole = Create(dir + "/whole");
  if (ioctl(whole, FICLONE, source) != 0) return 77;  // not on this file system
  const int part = Create(dir + "/part");
  file_clone_range range = {};
  range.src_fd = source;
  range.src_offset = 4096;
  range.src_length = 8192;
  range.dest_offset = 16'384;
  MUST(ioctl(part, FICLONERANGE, &range));
  return 0;
}

int Direct(const Arguments& arguments) {
  const int fd = open((arguments[0] + "/direct").c_str(),
                      O_CREAT | O_RDWR | O_DIRECT, 0644);
  if (fd < 0 && errno == EINVAL) return 77;  // not on this file system
  MUST(fd);
  void* const memory = std::aligned_alloc(4096, 16384);
  std::memset(memory, 'd', 16384);
  const ssize_t count = write(fd, memory, 16384);
  if (count < 0 && errno == EINVAL) return 77;
  MUST(count);
  MUST(pwrite(fd, memory, 4096, 32768));
  return 0;
}

int Allocate(const Arguments& arguments) {
  const int fd = Create(arguments[0] + "/f");
  Write(fd, Bytes(65536, 5));
  MUST(fallocate(fd, 0, 60000, 20000));
  MUST(fallocate(fd, FALLOC_FL_KEEP_SIZE, 100000, 4096));
  MUST(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 5000, 9000));
  MUST(fallocate(fd, FALLOC_FL_ZERO_RANGE, 30000, 3000));
  MUST(fallocate(fd, FALLOC_FL_COLLAPSE_RANGE, 4096, 4096));
  MUST(fallocate(fd, FALLOC_FL_INSERT_RANGE, 8192, 4096));
  MUST(truncate((arguments[0] + "/f").c_str(), 70000));
  return 0;
}

int Renames(const Arguments& arguments) {
  const std::string dir = arguments[0];
  WriteFile(dir + "/a", "a");
  WriteFile(dir + "/b", "b");
  MUST(renameat2(AT_FDCWD, (dir + "/a").c_str(), AT_FDCWD, (dir + "/b").c_str(),
                 RENAME_EXCHANGE));
  MUST(mkdir((dir + "/tmp-1").c_str(), 0755));
  const int fd = Create(dir + "/tmp-1/data");
  Write(fd, "before");
  MUST(rename((dir + "/tmp-1").c_str(), (dir + "/step-1").c_str()));
  Write(fd, " after");
  WriteFile(dir + "/step-1/more", "more");
  MUST(rename((dir + "/a").c_str(), (dir + "/b").c_str()));
  if (renameat2(AT_FDCWD, (dir + "/b").c_str(), AT_FDCWD,
                (dir + "/step-1").c_str(), RENAME_NOREPLACE) == 0) {
    return 1;
  }
  return 0;
}

int Names(const Arguments& arguments) {
  const std::string dir = arguments[0];
  // Not watched, although the name begins like that of the watched directory.
  MUST(mkdir((dir + "2").c_str(), 0755));
  WriteFile(dir + "2/outside", "outside");
  MUST(mkdir((dir + "/sub").c_str(), 0755));
  WriteFile(dir + "/sub/../by-dots", "dots");
  WriteFile(dir + "2/../" + dir.substr(dir.rfind('/') + 1) + "/by-outside",
            "in by outside");
  MUST(symlink(dir.c_str(), (dir + "2/link").c_str()));
  WriteFile(dir + "2/link/by-link", "link");
  MUST(symlink((dir + "/target").c_str(), (dir + "2/dangling").c_str()));
  WriteFile(dir + "2/dangling", "by a dangling link");
  MUST(chdir((dir + "/sub").c_str()));
  WriteFile("relative", "relative");
  WriteFile("../../" + dir.substr(dir.rfind('/') + 1) + "2/also-outside", "no");
  const int sub = MUST(open(".", O_RDONLY | O_DIRECTORY));
  const int at = MUST(openat(sub, "by-at", O_CREAT | O_WRONLY, 0644));
  Write(at, "at");
  return 0;
}

int Unnamed(const Arguments& arguments) {
  const std::string dir = arguments[0];
  const int fd = open(dir.c_str(), O_TMPFILE | O_RDWR, 0640);
  if (fd < 0 && errno == EOPNOTSUPP) return 77;
  MUST(fd);
  Write(fd, "unnamed");
  MUST(linkat(AT_FDCWD, ("/proc/self/fd/" + std::to_string(fd)).c_str(),
              AT_FDCWD, (dir + "/named").c_str(), AT_SYMLINK_FOLLOW));
  Write(fd, " and named");
  MUST(rename((dir + "/named").c_str(), (dir + "/renamed").c_str()));
  Write(fd, " and renamed");
  const int other = MUST(open(dir.c_str(), O_TMPFILE | O_RDWR, 0600));
  Write(other, "named by its descriptor");
  // Fails without a capability.
  Ignore(linkat(other, "", AT_FDCWD, (dir + "/other").c_str(), AT_EMPTY_PATH));
  return 0;
}

// Creates files in the directory that the second argument names, outside the
// watched one. They can get the inodes of watched files that were removed.
int UsedAgain(const Arguments& arguments) {
  const int removed = Create(arguments[0] + "/removed");
  MUST(unlink((arguments[0] + "/removed").c_str()));
  Write(removed, "it has no name");
  for (int i = 0; i < 20; ++i) {
    const int unnamed = open(arguments[0].c_str(), O_TMPFILE | O_RDWR, 0600);
    if (unnamed < 0 && errno == EOPNOTSUPP) return 77;
    close(unnamed);
    const std::string outside = arguments[1] + "/" + std::to_string(i);
    WriteFile(outside, "nobody records this");
    MUST(unlink(outside.c_str()));
    WriteFile(arguments[0] + "/gone", "");
    MUST(unlink((arguments[0] + "/gone").c_str()));
    WriteFile(outside, "nor this");
  }
  return 0;
}

// Moves files into and out of the watched directory. The second argument is a
// directory that is not watched.
int Moves(const Arguments& arguments) {
  const std::string dir = arguments[0];
  const std::string outside = arguments[1];
  WriteFile(outside + "/tmp", Bytes(9000, 4));
  MUST(rename((outside + "/tmp").c_str(), (dir + "/moved").c_str()));
  const int fd = MUST(open((dir + "/moved").c_str(), O_WRONLY));
  Write(fd, "changed");
  MUST(mkdir((outside + "/tree").c_str(), 0755));
  MUST(mkdir((outside + "/tree/sub").c_str(), 0755));
  const int inner = Create(outside + "/tree/sub/file");
  Write(inner, "inner");
  MUST(symlink("file", (outside + "/tree/sub/link").c_str()));
  MUST(rename((outside + "/tree").c_str(), (dir + "/tree").c_str()));
  Write(inner, " more");
  WriteFile(outside + "/linked", "linked");
  MUST(link((outside + "/linked").c_str(), (dir + "/linked").c_str()));
  const int by_outside = MUST(open((outside + "/linked").c_str(), O_WRONLY));
  Write(by_outside, "LINK");
  WriteFile(dir + "/leaves", "leaves");
  MUST(rename((dir + "/leaves").c_str(), (outside + "/left").c_str()));
  WriteFile(outside + "/left", "nobody records this");
  return 0;
}

// Moves, replaces and removes FIFOs and a socket, which are not recorded.
int SpecialFiles(const Arguments& arguments) {
  MUST(chdir(arguments[0].c_str()));
  MUST(mkfifo("fifo", 0644));
  MUST(chmod("fifo", 0600));
  MUST(link("fifo", "second"));
  WriteFile("replaced", "replaced");
  MUST(rename("fifo", "replaced"));
  WriteFile("new", "new");
  MUST(rename("new", "second"));
  WriteFile("other", "other");
  MUST(renameat2(AT_FDCWD, "other", AT_FDCWD, "replaced", RENAME_EXCHANGE));
  MUST(renameat2(AT_FDCWD, "other", AT_FDCWD, "second", RENAME_EXCHANGE));
  MUST(mkdir("directory", 0755));
  MUST(rename("second", "directory/fifo"));
  MUST(rename("directory", "moved"));
  MUST(unlink("moved/fifo"));
  const int server = MUST(socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
  MUST(bind(server, reinterpret_cast<const sockaddr*>(&address),
            sizeof address));
  MUST(unlink("socket"));
  return 0;
}

int Mapping(const Arguments& arguments) {
  const std::string dir = arguments[0];
  const int fd = Create(dir + "/mapped");
  MUST(ftruncate(fd, 8192));
  void* const memory =
      mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return 1;
  std::memcpy(memory, "one", 3);
  MUST(msync(memory, 8192, MS_SYNC));
  WriteFile(dir + "/marker", "");
  std::memcpy(memory, "two", 3);
  MUST(munmap(memory, 8192));
  void* const later = mmap(nullptr, 8192, PROT_READ, MAP_SHARED, fd, 0);
  MUST(mprotect(later, 8192, PROT_READ | PROT_WRITE));
  std::memcpy(later, "six", 3);
  return 0;
}

int Descriptors(const Arguments& arguments) {
  const int fd = Create(arguments[0] + "/f");
  const int copy = MUST(dup(fd));
  const int high = MUST(fcntl(fd, F_DUPFD, 100));
  Write(fd, "original ");
  Write(copy, "copy ");
  Write(high, "high ");
  const std::string number = std::to_string(fd);
  const pid_t child = MUST(fork());
  if (child == 0) {
    Write(copy, "forked ");
    execl(self.c_str(), "victim", "write-to", number.c_str(), nullptr);
    _exit(1);
  }
  AwaitChild(child);
  int sockets[2] = {};
  MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
  const pid_t receiver = MUST(fork());
  char control[CMSG_SPACE(sizeof(int))] = {};
  char byte = 'x';
  iovec data = {&byte, 1};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (receiver == 0) {
    close(fd);
    close(copy);
    close(high);
    MUST(recvmsg(sockets[1], &message, 0));
    int passed = -1;
    std::memcpy(&passed, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof passed);
    Write(passed, "passed ");
    return 0;
  }
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof fd);
  std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  MUST(sendmsg(sockets[0], &message, 0));
  AwaitChild(receiver);
  return 0;
}

// Writes by descriptors that another process opened, or that replace others.
int TakenDescriptors(const Arguments& arguments) {
  int pipe_ends[2] = {};
  MUST(pipe(pipe_ends));
  const pid_t child = MUST(fork());
  if (child == 0) {
    const int fd = Create(arguments[0] + "/of-child");
    if (write(pipe_ends[1], &fd, sizeof fd) != sizeof fd) return 1;
    while (true) pause();
  }
  int fd = -1;
  if (read(pipe_ends[0], &fd, sizeof fd) != sizeof fd) return 2;
  const int process = static_cast<int>(MUST(syscall(SYS_pidfd_open, child, 0)));
  Write(static_cast<int>(MUST(syscall(SYS_pidfd_getfd, process, fd, 0))),
        "taken");
  MUST(kill(child, SIGKILL));
  MUST(waitpid(child, nullptr, 0));
  const int own = Create(arguments[0] + "/own");
  const int other = Create(arguments[0] + "/other");
  MUST(dup3(own, other, O_CLOEXEC));
  Write(other, "by dup3");
  return 0;
}

// Opens files by handles instead of paths.
int Handles(const Arguments& arguments) {
  const std::string path = arguments[0] + "/f";
  WriteFile(path, "some bytes");
  alignas(file_handle) std::array<char, sizeof(file_handle) + MAX_HANDLE_SZ>
      memory = {};
  auto* const handle = reinterpret_cast<file_handle*>(memory.data());
  handle->handle_bytes = MAX_HANDLE_SZ;
  int mount = 0;
  if (name_to_handle_at(AT_FDCWD, path.c_str(), handle, &mount, 0) != 0)
    return 77;
  const int parent = MUST(open(arguments[0].c_str(), O_RDONLY | O_DIRECTORY));
  const int fd = open_by_handle_at(parent, handle, O_WRONLY | O_TRUNC);
  if (fd < 0) return 77;  // without the capability
  Write(fd, "new");
  return 0;
}

// Starts processes and programs by calls that no library makes.
int Starts(const Arguments& arguments) {
  clone_args how = {};
  how.exit_signal = SIGCHLD;
  const auto child =
      static_cast<pid_t>(MUST(syscall(SYS_clone3, &how, sizeof how)));
  if (child == 0) {
    WriteFile(arguments[0] + "/by-clone3", "clone3");
    const int program = open(self.c_str(), O_PATH);
    const char* const argv[] = {"victim", "one", arguments[0].c_str(), nullptr};
    syscall(SYS_execveat, program, "", argv, environ, AT_EMPTY_PATH);
    _exit(1);
  }
  AwaitChild(child);
  return 0;
}

int UntracedClone(const Arguments&) {
  clone_args how = {};
  how.flags = CLONE_UNTRACED;
  how.exit_signal = SIGCHLD;
  if (syscall(SYS_clone3, &how, sizeof how) != -1 || errno != ENOSYS) return 1;
  const auto child = syscall(SYS_clone, CLONE_UNTRACED | SIGCHLD, nullptr,
                             nullptr, nullptr, nullptr);
  return child == -1 && errno == ENOSYS ? 0 : 2;
}

// Makes calls that no operation describes. Some fail without rights, or on some
// file systems.
int NotRecorded(const Arguments& arguments) {
  MUST(chdir(arguments[0].c_str()));
  const int fd = Create("f");
  Ignore(setxattr("f", "user.a", "1", 1, 0));
  Ignore(lsetxattr("f", "user.b", "1", 1, 0));
  Ignore(fsetxattr(fd, "user.c", "1", 1, 0));
  Ignore(chown("f", getuid(), getgid()));
  Ignore(fchown(fd, 12345, static_cast<gid_t>(-1)));
  Ignore(fchownat(AT_FDCWD, "f", static_cast<uid_t>(-1), 12345, 0));
  MUST(mkfifo("fifo", 0600));
  const int server = MUST(socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
  MUST(bind(server, reinterpret_cast<const sockaddr*>(&address),
            sizeof address));
  WriteFile("moved", "moved");
  Ignore(renameat2(AT_FDCWD, "moved", AT_FDCWD, "to", RENAME_WHITEOUT));
  constexpr unsigned long kZeroRange = 0x40305839;  // FS_IOC_ZERO_RANGE
  const std::array<char, 48> range = {};
  Ignore(ioctl(fd, kZeroRange, range.data()));
  MUST(mkdir("mounted", 0755));
  // Both calls fail, and the tracer notes them all the same.
  Ignore(syscall(SYS_move_mount, AT_FDCWD, "none", AT_FDCWD, "mounted", 0));
  Ignore(mount("none", "mounted", "no-such-type", 0, nullptr));
  return 0;
}

// Closes descriptors in ways other than close.
int Closes(const Arguments& arguments) {
  MUST(chdir(arguments[0].c_str()));
  MUST(dup2(STDOUT_FILENO, Create("by-dup2")));
  MUST(dup3(STDOUT_FILENO, Create("by-dup3"), 0));
  const int ranged = Create("by-close-range");
  const auto range = static_cast<unsigned>(ranged);
  MUST(close_range(range, range, CLOSE_RANGE_CLOEXEC));
  MUST(close_range(range, range, 0));
  const int left = Create("by-exit");
  MUST(dup2(left, left));
  return MUST(open("by-exit", O_RDONLY)) < 0 ? 1 : 0;
}

int WriteTo(const Arguments& arguments) {
  Write(std::stoi(arguments[0]), "inherited ");
  return 0;
}

int ChangingBuffer(const Arguments& arguments) {
  std::string buffer = Bytes(1U << 20U, 1);
  std::atomic<bool> ends = false;
  std::thread changer([&] {
    for (size_t i = 0; !ends; i = (i + 4099) % buffer.size()) ++buffer[i];
  });
  const int fd = Create(arguments[0] + "/f");
  for (int i = 0; i < 20; ++i) Write(fd, buffer);
  ends = true;
  changer.join();
  return 0;
}

int UnreadableMemory(const Arguments& arguments) {
  void* const memory =
      mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const int fd = Create(arguments[0] + "/f");
  if (write(fd, memory, 4096) >= 0 || errno != EFAULT) return 1;
  std::string good = "good";
  const iovec vectors[2] = {{good.data(), good.size()}, {memory, 4096}};
  if (writev(fd, vectors, 2) != 4) return 2;
  if (open(static_cast<const char*>(memory), O_CREAT | O_WRONLY, 0644) >= 0)
    return 3;
  return 0;
}

// Opens a write-only descriptor of a file that its owner cannot read.
int WriteOnly(const Arguments& arguments) {
  const int fd = MUST(
      open((arguments[0] + "/f").c_str(), O_CREAT | O_WRONLY | O_EXCL, 0200));
  std::string first = "first ";
  std::string second = "second";
  const iovec vectors[2] = {{first.data(), first.size()},
                            {second.data(), second.size()}};
  MUST(writev(fd, vectors, 2));
  MUST(fchmod(fd, 0600));
  return 0;
}

// Starts children that never end, each in its own session. Writes their process
// ids to the file that the second argument names, which is not watched.
int Sessions(const Arguments& arguments) {
  std::string numbers = std::to_string(getpid());
  for (int i = 0; i < 2; ++i) {
    const pid_t child = MUST(fork());
    if (child == 0) {
      setsid();
      alarm(60);
      const bool is_writer = fork() == 0;
      alarm(60);
      while (is_writer) {
        const int fd = Create(arguments[0] + "/worker", O_APPEND);
        Write(fd, "x");
        close(fd);
      }
      while (true) pause();
    }
    numbers += " " + std::to_string(child);
  }
  WriteFile(arguments[1], numbers);
  const int fd = Create(arguments[0] + "/main");
  for (int i = 0; i < 10; ++i) Write(fd, "0123456789");
  while (true) pause();
}

// Stops and continues a child; its parent sees both.
int Stops(const Arguments& arguments) {
  const pid_t child = MUST(fork());
  if (child == 0) {
    WriteFile(arguments[0] + "/before", "before");
    raise(SIGSTOP);
    WriteFile(arguments[0] + "/after", "after");
    return 0;
  }
  int status = 0;
  MUST(waitpid(child, &status, WUNTRACED));
  if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGSTOP) return 1;
  // Leaves time for a child that did not really stop to continue.
  usleep(50'000);
  if (access((arguments[0] + "/after").c_str(), F_OK) == 0) return 2;
  MUST(kill(child, SIGCONT));
  MUST(waitpid(child, &status, WCONTINUED));
  if (!WIFCONTINUED(status)) return 3;
  AwaitChild(child);
  return 0;
}

int Int80(const Arguments&) {
  long result = 20;  // getpid of 32-bit calls
  asm volatile("int $0x80" : "+a"(result) : : "memory");
  return result == -ENOSYS ? 0 : 1;
}

int X32(const Arguments&) {
  if (syscall(0x40000000 + SYS_getpid) != -1 || errno != ENOSYS) return 1;
  return 0;
}

int NoCall(const Arguments&) {
  return syscall(-1) == -1 && errno == ENOSYS ? 0 : 1;
}

int AsynchronousIo(const Arguments&) {
  if (syscall(SYS_io_uring_setup, 4, nullptr) != -1 || errno != ENOSYS)
    return 1;
  if (syscall(SYS_io_setup, 4, nullptr) != -1 || errno != ENOSYS) return 2;
  return 0;
}

int TraceMe(const Arguments&) {
  return ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == -1 ? 0 : 1;
}

int Background(const Arguments& arguments) {
  if (MUST(fork()) != 0) return 5;
  setsid();
  alarm(60);
  WriteFile(arguments[0] + "/daemon", std::to_string(getpid()));
  while (true) pause();
}

int Exit(const Arguments& arguments) { return std::stoi(arguments[0]); }

int Die(const Arguments& arguments) {
  raise(std::stoi(arguments[0]));
  return 0;
}

// Interrupts the process group, as the terminal does.
int Interrupt(const Arguments&) {
  signal(SIGINT, [](int) { _exit(7); });
  kill(0, SIGINT);
  return 1;
}

int Terminated(const Arguments& arguments) {
  static std::string path;
  path = arguments[0] + "/on-term";
  signal(SIGTERM, [](int) {
    const int fd = open(path.c_str(), O_CREAT | O_WRONLY, 0644);
    if (write(fd, "saved", 5) != 5) _exit(1);
  });
  const int fd = Create(arguments[0] + "/f");
  for (int i = 0; i < 5; ++i) Write(fd, "x");
  while (true) pause();
}

// Writes ten times, and exits with the number of writes that failed with
// ENOSPC.
int UntilError(const Arguments& arguments) {
  const int fd = Create(arguments[0] + "/f");
  int failures = 0;
  for (int i = 0; i < 10; ++i) {
    if (write(fd, "0123456789", 10) < 0 && errno == ENOSPC) ++failures;
  }
  return failures;
}

// Returns true iff the thread sleeps in a call: neither stopped by a tracer nor
// running.
bool Sleeps(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string text;
  std::getline(file, text);
  return text.find(") S ") != std::string::npos;
}

// One thread waits in splice for bytes that another one sends after its own
// write.
int Overlap(const Arguments& arguments) {
  int pipe_ends[2] = {};
  MUST(pipe(pipe_ends));
  std::atomic<pid_t> reading = 0;
  std::thread reader([&] {
    const int fd = Create(arguments[0] + "/spliced");
    reading = gettid();
    MUST(splice(pipe_ends[0], nullptr, fd, nullptr, 5, 0));
  });
  // Waits at most five seconds for the thread to sleep.
  for (int i = 0; i < 5000 && (reading == 0 || !Sleeps(reading)); ++i)
    usleep(1000);
  const int fd = Create(arguments[0] + "/f");
  Write(fd, "while the other waits");
  MUST(fsync(fd));
  Write(pipe_ends[1], "12345");
  reader.join();
  return 0;
}

// A splice that a signal interrupts starts again, and counts once.
int Restarted(const Arguments& arguments) {
  struct sigaction action = {};
  action.sa_handler = [](int) {};
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  int pipe_ends[2] = {};
  MUST(pipe(pipe_ends));
  const pid_t parent = getpid();
  const pid_t child = MUST(fork());
  if (child == 0) {
    for (int i = 0; i < 3; ++i) {
      usleep(20'000);
      kill(parent, SIGUSR1);
    }
    usleep(20'000);
    Write(pipe_ends[1], "12345");
    return 0;
  }
  const int fd = Create(arguments[0] + "/f");
  MUST(splice(pipe_ends[0], nullptr, fd, nullptr, 5, 0));
  AwaitChild(child);
  return 0;
}

// Makes calls that no other command makes.
int OtherCalls(const Arguments& arguments) {
  const std::string dir = arguments[0];
  const int parent = MUST(open(dir.c_str(), O_PATH | O_DIRECTORY));
  open_how how = {};
  how.flags = O_CREAT | O_WRONLY;
  how.mode = 0644;
  Write(static_cast<int>(
            MUST(syscall(SYS_openat2, parent, "by-openat2", &how, sizeof how))),
        "openat2");
  how.resolve = RESOLVE_IN_ROOT;
  Write(static_cast<int>(
            MUST(syscall(SYS_openat2, parent, "/in-root", &how, sizeof how))),
        "in root");
  Write(MUST(creat((dir + "/by-creat").c_str(), 0600)), "creat");
  MUST(mknod((dir + "/by-mknod").c_str(), S_IFREG | 0640, 0));
  MUST(mkfifo((dir + "2").c_str(), 0600));
  MUST(unlink((dir + "2").c_str()));
  sync();
  // Puts a path at the end of mapped memory.
  void* const pages = mmap(nullptr, 8192, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char* const page_end = static_cast<char*>(pages) + 4096;
  MUST(munmap(page_end, 4096));
  const std::string path = dir + "/at-page-end";
  char* const at_end = page_end - path.size() - 1;
  std::memcpy(at_end, path.c_str(), path.size() + 1);
  Write(MUST(open(at_end, O_CREAT | O_WRONLY, 0644)), "page end");
  const int fd = Create(dir + "/mapped");
  MUST(ftruncate(fd, 8192));
  void* const small = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0);
  void* const large = mremap(small, 4096, 8192, MREMAP_MAYMOVE);
  MUST(mprotect(large, 8192, PROT_READ | PROT_WRITE));
  std::memset(large, 'm', 8192);
  MUST(sync_file_range(fd, 0, 8192, SYNC_FILE_RANGE_WRITE));
  // Writes into the mapping as from another address space.
  std::string text = "from elsewhere";
  const iovec local = {text.data(), text.size()};
  const iovec remote = {large, text.size()};
  MUST(process_vm_writev(getpid(), &local, 1, &remote, 1, 0));
  return 0;
}

// Changes the root to the parent of the watched directory.
int Chrooted(const Arguments& arguments) {
  const size_t slash = arguments[0].rfind('/');
  const std::string name = arguments[0].substr(slash);
  if (chroot(arguments[0].substr(0, slash).c_str()) != 0) return 77;
  WriteFile(name + "/in-a-root", "absolute");
  MUST(chdir(name.c_str()));
  WriteFile("relative", "relative");
  return 0;
}

int Hidden(const Arguments& arguments) {
  MUST(prctl(PR_SET_DUMPABLE, 0));
  return One(arguments);
}

int Read(const Arguments& arguments) {
  const int fd = MUST(open((arguments[0] + "/f").c_str(), O_RDONLY));
  char byte = 0;
  MUST(read(fd, &byte, 1));
  return 0;
}

// Makes COUNT writes of 4 KiB each, at the same 64 offsets.
int Blocks(const Arguments& arguments) {
  const int fd = Create(arguments[0] + "/blocks");
  const std::string block = Bytes(4096, 1);
  for (int i = 0; i < std::stoi(arguments[1]); ++i)
    MUST(pwrite(fd, block.data(), block.size(), i % 64 * 4096));
  return 0;
}

// Runs operations from a file, one per line. Operations that fail have no
// effect.
class Script {
 public:
  explicit Script(std::string dir) : dir_(std::move(dir)) {}

  void Do(const std::string& line) {
    std::istringstream words(line);
    std::string verb;
    std::string first;
    std::string second;
    int number = 0;
    int size = 0;
    words >> verb >> first >> second >> number >> size;
    const std::string a = dir_ + "/" + first;
    const std::string b = dir_ + "/" + second;
    int& slot = slots_[number % 3];
    if (verb == "open") {
      if (slot > 0) close(slot);
      slot = open(a.c_str(), O_CREAT | O_RDWR, 0600 + size % 64);
    } else if (verb == "create") {
      close(open(a.c_str(), O_CREAT | O_EXCL | O_WRONLY, 0644));
    } else if (verb == "empty") {
      close(open(a.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0644));
    } else if (verb == "unnamed") {
      if (slot > 0) close(slot);
      slot = open(a.c_str(), O_TMPFILE | O_RDWR, 0644);
    } else if (verb == "name") {
      linkat(AT_FDCWD, ("/proc/self/fd/" + std::to_string(slot)).c_str(),
             AT_FDCWD, a.c_str(), AT_SYMLINK_FOLLOW);
    } else if (verb == "write") {
      const std::string bytes = Bytes(static_cast<size_t>(size), number);
      Ignore(write(slot, bytes.data(), bytes.size()));
    } else if (verb == "pwrite") {
      const std::string bytes = Bytes(static_cast<size_t>(size), number);
      Ignore(pwrite(slot, bytes.data(), bytes.size(), size * 3 % 10'000));
    } else if (verb == "append") {
      const int fd = open(a.c_str(), O_APPEND | O_WRONLY);
      const std::string bytes = Bytes(static_cast<size_t>(size), number);
      Ignore(write(fd, bytes.data(), bytes.size()));
      close(fd);
    } else if (verb == "truncate") {
      Ignore(truncate(a.c_str(), size));
    } else if (verb == "punch") {
      Ignore(fallocate(slot, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, number,
                       size + 1));
    } else if (verb == "allocate") {
      Ignore(fallocate(slot, 0, number, size + 1));
    } else if (verb == "rename") {
      Ignore(rename(a.c_str(), b.c_str()));
    } else if (verb == "exchange") {
      Ignore(
          renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE));
    } else if (verb == "link") {
      Ignore(link(a.c_str(), b.c_str()));
    } else if (verb == "symlink") {
      Ignore(symlink(first.c_str(), b.c_str()));
    } else if (verb == "unlink") {
      Ignore(unlink(a.c_str()));
    } else if (verb == "mkdir") {
      Ignore(mkdir(a.c_str(), 0755));
    } else if (verb == "rmdir") {
      Ignore(rmdir(a.c_str()));
    } else if (verb == "chmod") {
      Ignore(chmod(a.c_str(), 0600 + static_cast<mode_t>(size % 64)));
    } else if (verb == "fsync") {
      Ignore(fsync(slot));
    }
  }

 private:
  const std::string dir_;
  int slots_[3] = {-1, -1, -1};
};

// Number of rounds. In each round the ranks write files, in an order that
// differs between runs, and then meet at one barrier.
constexpr int kRounds = 3;

void WriteRankFile(const std::string& dir, const std::string& rank, int round) {
  const std::string path = dir + "/" + rank + "-" + std::to_string(round);
  const int file = open(path.c_str(), O_CREAT | O_WRONLY, 0644);
  if (write(file, "data", 4) != 4) _exit(3);
  close(file);
}

// Arguments: directory, descriptor to announce its arrival at the barrier,
// descriptor to wait for release, and "polls" for a rank that does not sleep.
int Rank(const Arguments& arguments) {
  const int here = std::stoi(arguments[1]);
  const int go = std::stoi(arguments[2]);
  if (arguments[3] == "polls") fcntl(go, F_SETFL, O_NONBLOCK);
  std::mt19937 random(static_cast<unsigned>(getpid() ^ time(nullptr)));
  for (int round = 1; round <= kRounds; ++round) {
    const auto end = std::chrono::steady_clock::now() +
                     std::chrono::milliseconds(random() % 15);
    while (std::chrono::steady_clock::now() < end) {
    }
    WriteRankFile(arguments[0], getenv("RANK"), round);
    char byte = 0;
    if (write(here, "x", 1) != 1) return 4;
    ssize_t count = -1;
    while (count < 0) count = read(go, &byte, 1);
    if (count == 0) return 5;
  }
  return 0;
}

// Arguments: directory, number of ranks, "sleeps" or "polls". Like a launcher,
// ends all ranks if one dies.
int Ranks(const Arguments& arguments) {
  const int count = std::stoi(arguments[1]);
  std::vector<std::array<int, 2>> here(static_cast<size_t>(count));
  std::vector<std::array<int, 2>> go(static_cast<size_t>(count));
  std::vector<pid_t> ranks;
  for (size_t i = 0; i < here.size(); ++i) {
    if (pipe2(here[i].data(), O_CLOEXEC) != 0) return 6;
    if (pipe2(go[i].data(), O_CLOEXEC) != 0) return 6;
    const pid_t child = fork();
    if (child == 0) {
      const int mine[] = {dup(here[i][1]), dup(go[i][0])};
      setenv("RANK", std::to_string(i).c_str(), 1);
      execl(self.c_str(), self.c_str(), "rank", arguments[0].c_str(),
            std::to_string(mine[0]).c_str(), std::to_string(mine[1]).c_str(),
            arguments[2].c_str(), nullptr);
      _exit(7);
    }
    ranks.push_back(child);
    close(here[i][1]);
    close(go[i][0]);
  }
  for (int round = 1; round <= kRounds; ++round) {
    for (const auto& pipe : here) {
      char byte = 0;
      if (read(pipe[0], &byte, 1) == 1) continue;
      for (const pid_t rank : ranks) kill(rank, SIGTERM);
      return 1;
    }
    for (const auto& pipe : go) {
      if (write(pipe[1], "x", 1) != 1) return 1;
    }
  }
  for (const pid_t rank : ranks) waitpid(rank, nullptr, 0);
  return 0;
}

int RunScript(const Arguments& arguments) {
  Script script(arguments[0]);
  std::ifstream lines(arguments[1]);
  for (std::string line; std::getline(lines, line);) script.Do(line);
  return 0;
}

const std::map<std::string, std::function<int(const Arguments&)>> kCommands = {
    {"plain", Plain},
    {"threads", Threads},
    {"vfork", Vfork},
    {"spawn", Spawn},
    {"exec-from-thread", ExecFromThread},
    {"one", One},
    {"append", Append},
    {"vectors", Vectors},
    {"copies", Copies},
    {"clone", Clone},
    {"direct", Direct},
    {"allocate", Allocate},
    {"renames", Renames},
    {"names", Names},
    {"unnamed", Unnamed},
    {"moves", Moves},
    {"special-files", SpecialFiles},
    {"mapping", Mapping},
    {"descriptors", Descriptors},
    {"write-to", WriteTo},
    {"closes", Closes},
    {"pipes", Pipes},
    {"taken-descriptors", TakenDescriptors},
    {"handles", Handles},
    {"starts", Starts},
    {"untraced-clone", UntracedClone},
    {"not-recorded", NotRecorded},
    {"changing-buffer", ChangingBuffer},
    {"unreadable-memory", UnreadableMemory},
    {"write-only", WriteOnly},
    {"sessions", Sessions},
    {"stops", Stops},
    {"int80", Int80},
    {"x32", X32},
    {"no-call", NoCall},
    {"used-again", UsedAgain},
    {"asynchronous-io", AsynchronousIo},
    {"trace-me", TraceMe},
    {"background", Background},
    {"exit", Exit},
    {"die", Die},
    {"interrupt", Interrupt},
    {"terminated", Terminated},
    {"until-error", UntilError},
    {"overlap", Overlap},
    {"restarted", Restarted},
    {"hidden", Hidden},
    {"read", Read},
    {"other-calls", OtherCalls},
    {"chrooted", Chrooted},
    {"blocks", Blocks},
    {"rank", Rank},
    {"ranks", Ranks},
    {"script", RunScript},
};

}  // namespace

int main(int argc, char** argv) {
  umask(022);
  alarm(60);
  self = argv[0];
  const auto command =
      argc < 2 ? kCommands.end() : kCommands.find(std::string(argv[1]));
  if (command == kCommands.end()) return 96;
  return command->second(Arguments(argv + 2, argv + argc));
}
