#include "engine/real/storage/posix_storage.h"

#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/real/host/real_host.h"
#include "engine/real/posix/posix_status.h"
#include "engine/real/posix/regular_file.h"
#include "engine/real/process/child_process.h"
#include "tests/engine/real/scratch_directory.h"
#include "tests/engine/real/test_process.h"
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gauntlet {
namespace {

std::span<const std::byte> Bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// A file system of 1 MiB in memory.
class SmallDisk {
 public:
  explicit SmallDisk(std::string path) : path_(std::move(path)) {
    mounted_ = mkdir(path_.c_str(), 0700) == 0 &&
               mount("tmpfs", path_.c_str(), "tmpfs", 0, "size=1m") == 0;
  }
  ~SmallDisk() {
    if (mounted_) umount2(path_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  bool mounted() const { return mounted_; }

 private:
  const std::string path_;
  bool mounted_ = false;
};

TEST(PosixStorageTest, FullDiskIsResourceExhausted) {
  const ScratchDirectory scratch;
  const SmallDisk disk(scratch / "disk");
  if (!disk.mounted()) GTEST_SKIP() << "mounting a tmpfs needs root";
  PosixStorage storage;
  const auto file =
      storage.Open(scratch / "disk/file", OpenMode::kCreateExclusive);
  const Status status =
      (*file)->WriteAt(0, Bytes(std::string(size_t{2} << 20, 'x')));
  EXPECT_EQ(status.ToString(), "RESOURCE_EXHAUSTED: " + scratch.path() +
                                   "/disk/file: write: No space left on "
                                   "device");
}

TEST(PosixStorageTest, ShortWriteIsCompletedOrFails) {
  const ScratchDirectory scratch;
  PosixStorage storage;
  const auto file = storage.Open(scratch / "file", OpenMode::kCreateExclusive);
  const auto former_handler = signal(SIGXFSZ, SIG_IGN);
  rlimit former = {};
  getrlimit(RLIMIT_FSIZE, &former);
  const rlimit small = {.rlim_cur = 5000, .rlim_max = former.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const Status status = (*file)->WriteAt(0, Bytes(std::string(8192, 'x')));
  setrlimit(RLIMIT_FSIZE, &former);
  signal(SIGXFSZ, former_handler);
  EXPECT_EQ(status.code(), Code::kForbidden) << status.ToString();
  EXPECT_THAT(status.message(), testing::HasSubstr("ulimit -f"));
  EXPECT_EQ(*(*file)->Size(), 5000u);
}

TEST(PosixStorageTest, TooManyOpenFiles_NamesTheLimit) {
  if (std::string_view(GAUNTLET_SANITIZE).find("undefined") !=
      std::string_view::npos) {
    GTEST_SKIP() << "UBSan needs a descriptor for its vptr check";
  }
  const ScratchDirectory scratch;
  PosixStorage storage;
  rlimit former = {};
  getrlimit(RLIMIT_NOFILE, &former);
  const Descriptor next(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  const rlimit none = {.rlim_cur = static_cast<rlim_t>(next.get()),
                       .rlim_max = former.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);
  const auto file = storage.Open(scratch / "file", OpenMode::kCreateExclusive);
  const auto list = storage.List(scratch.path());
  setrlimit(RLIMIT_NOFILE, &former);
  EXPECT_EQ(file.status().code(), Code::kIoError);
  EXPECT_EQ(list.status().code(), Code::kIoError);
  EXPECT_THAT(file.status().message(), testing::HasSubstr("ulimit -n"));
}

// Codes differ by what a caller can do: free disk space, report to a user, or
// try again.
TEST(PosixStatusTest, ErrorsHaveTheCodesOfTheStorageContract) {
  const std::vector<std::pair<int, Code>> table = {
      {ENOENT, Code::kNotFound},
      {EEXIST, Code::kAlreadyExists},
      {ENOTEMPTY, Code::kAlreadyExists},
      {ENOSPC, Code::kResourceExhausted},
      {EDQUOT, Code::kResourceExhausted},
      {EACCES, Code::kForbidden},
      {EPERM, Code::kForbidden},
      {EROFS, Code::kForbidden},
      {EFBIG, Code::kForbidden},
      {ENAMETOOLONG, Code::kForbidden},
      {EIO, Code::kIoError},
      {EMFILE, Code::kIoError},
      {ENFILE, Code::kIoError},
  };
  for (const auto& [error, code] : table) {
    EXPECT_EQ(PosixError(error, "thing", "write").code(), code) << error;
  }
}

TEST(PosixStorageTest, FreeBytes_AreOfThePathsFileSystem) {
  PosixStorage storage;
  const ScratchDirectory scratch;
  EXPECT_GT(storage.FreeBytes(scratch.path()).value(), 0u);
  EXPECT_EQ(storage.FreeBytes("/proc").value(), 0u);
  EXPECT_EQ(storage.FreeBytes(scratch / "none").status().code(),
            Code::kNotFound);
}

TEST(PosixStorageTest, OnlyRegularFilesCanBeOpened) {
  const ScratchDirectory scratch;
  PosixStorage storage;
  ASSERT_EQ(mkfifo((scratch / "pipe").c_str(), 0600), 0);
  ASSERT_TRUE(storage.MakeDirectory(scratch / "folder").ok());
  for (const char* name : {"pipe", "folder"}) {
    for (const OpenMode mode : {OpenMode::kRead, OpenMode::kReadWrite}) {
      EXPECT_EQ(storage.Open(scratch / name, mode).status().code(),
                Code::kIoError)
          << name;
    }
  }
}

TEST(PosixStorageTest, LinkToADirectoryIsNoDirectory) {
  const ScratchDirectory scratch;
  PosixStorage storage;
  ASSERT_TRUE(storage.MakeDirectory(scratch / "folder").ok());
  ASSERT_EQ(symlink("folder", (scratch / "to-folder").c_str()), 0);
  ASSERT_EQ(symlink("nothing", (scratch / "to-nothing").c_str()), 0);
  ASSERT_EQ(mkfifo((scratch / "pipe").c_str(), 0600), 0);
  const auto entries = storage.List(scratch.path());
  std::vector<std::string> found;
  for (const DirectoryEntry& entry : *entries) {
    found.push_back(
        fmt::format("{}: {}", entry.name, FileKindName(entry.kind)));
  }
  EXPECT_THAT(found,
              testing::ElementsAre("folder: a directory",
                                   "pipe: neither a file nor a directory",
                                   "to-folder: a symbolic link to a directory",
                                   "to-nothing: a link to something that "
                                   "does not exist"));
  EXPECT_TRUE(
      storage.Remove(scratch / "to-folder", FileKind::kDirectoryLink).ok());
  EXPECT_EQ(storage.List(scratch.path())->size(), 3u);
}

TEST(PosixStorageTest, PrivateFilesAreTheirOwnersAlone_WhateverTheUmask) {
  const ScratchDirectory scratch;
  PosixStorage storage;
  const mode_t before = umask(0);
  const bool made = storage.CreatePrivate(scratch / "secret").ok();
  umask(before);
  ASSERT_TRUE(made);
  struct stat info = {};
  ASSERT_EQ(stat((scratch / "secret").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  EXPECT_TRUE(storage.OpenPrivate(scratch / "secret").ok());
  EXPECT_EQ(storage.CreatePrivate(scratch / "secret").status().code(),
            Code::kAlreadyExists);
  EXPECT_EQ(storage.OpenPrivate(scratch / "none").status().code(),
            Code::kNotFound);
  for (const mode_t mode : {0640u, 0604u, 0610u}) {
    ASSERT_EQ(chmod((scratch / "secret").c_str(), mode), 0);
    const Status open = storage.OpenPrivate(scratch / "secret").status();
    EXPECT_EQ(open.code(), Code::kFailedPrecondition);
    EXPECT_THAT(open.message(),
                testing::HasSubstr(fmt::format("mode {:04o}", mode)));
  }
}

// Any user who may write to the directory can put a secret there.
TEST(PosixStorageTest, PrivateFilesAreNeitherLinksNorAnotherUsers) {
  const ScratchDirectory scratch;
  PosixStorage storage;
  const std::string secret = scratch / "secret";
  ASSERT_TRUE(storage.CreatePrivate(secret).ok());
  ASSERT_EQ(symlink(secret.c_str(), (scratch / "link").c_str()), 0);
  const Status link = storage.OpenPrivate(scratch / "link").status();
  EXPECT_EQ(link.code(), Code::kFailedPrecondition);
  EXPECT_THAT(link.message(), testing::HasSubstr("found a link"));
  if (chown(secret.c_str(), 12345, getegid()) != 0) {
    GTEST_SKIP() << "chown needs root";
  }
  const Status theirs = storage.OpenPrivate(secret).status();
  EXPECT_EQ(theirs.code(), Code::kFailedPrecondition);
  EXPECT_THAT(theirs.message(), testing::HasSubstr("user 12345"));
}

// A file server that squashes root makes itself the owner of what root creates
// there: the directory and the secret.
TEST(PosixStorageTest, PrivateFilesMayBeTheDirectoryOwners) {
  const ScratchDirectory scratch;
  PosixStorage storage;
  const std::string directory = scratch / "store";
  ASSERT_EQ(mkdir(directory.c_str(), 0755), 0);
  const std::string secret = directory + "/secret";
  ASSERT_TRUE(storage.CreatePrivate(secret).ok());
  for (const std::string& path : {directory, secret}) {
    if (chown(path.c_str(), 12345, getegid()) != 0) {
      GTEST_SKIP() << "chown needs root";
    }
  }
  EXPECT_TRUE(storage.OpenPrivate(secret).ok());
}

TEST(PosixStorageTest, RenameToANewNameReplacesNothing) {
  const ScratchDirectory scratch;
  PosixStorage storage;
  for (const char* name : {"a", "b"}) {
    const auto file =
        storage.Open(scratch / name, OpenMode::kCreateExclusive).value();
    ASSERT_TRUE(file->WriteAt(0, Bytes(name)).ok());
  }
  EXPECT_EQ(storage.RenameToNew(scratch / "a", scratch / "b").code(),
            Code::kAlreadyExists);
  EXPECT_EQ(TextOf(scratch / "b"), "b");
  EXPECT_TRUE(storage.RenameToNew(scratch / "a", scratch / "c").ok());
  EXPECT_EQ(TextOf(scratch / "c"), "a");
  EXPECT_EQ(storage.RenameToNew(scratch / "a", scratch / "d").code(),
            Code::kNotFound);
}

TEST(PosixStorageTest, ErrorsNamePathAndOperation) {
  PosixStorage storage;
  EXPECT_EQ(storage.Rename("/no/a", "/no/b").ToString(),
            "NOT_FOUND: /no/a: rename to /no/b: No such file or directory");
  EXPECT_EQ(storage.SyncDirectory("/dev/null").ToString(),
            "IO_ERROR: /dev/null: open directory: Not a directory");
  EXPECT_EQ(storage.SyncDirectory("/proc").ToString(),
            "IO_ERROR: /proc: fsync of directory: Invalid argument (this file "
            "system cannot sync directories; choose a folder of another one)");
  EXPECT_EQ(storage.List("/dev/null").status().ToString(),
            "IO_ERROR: /dev/null: expected a folder, found a file there or "
            "above it");
}

TEST(PosixStorageTest, DescriptorsAreClosedByExecAndLocksStayAwayFromLowOnes) {
  const ScratchDirectory scratch;
  PosixStorage storage;
  const auto lock = storage.Lock(scratch / "lock");
  ASSERT_EQ(storage.HeldLocks().size(), 1u);
  EXPECT_GE(storage.HeldLocks()[0], 10);
  EXPECT_EQ(fcntl(storage.HeldLocks()[0], F_GETFD), FD_CLOEXEC);
}

TEST(PosixStorageTest, LockConflictNamesTheHolder) {
  const ScratchDirectory scratch;
  PosixStorage storage;
  std::ofstream(scratch / "lock") << std::string(5000, 'x') << "\n";
  const auto lock = storage.Lock(scratch / "lock");
  ASSERT_TRUE(lock.ok()) << lock.status().ToString();
  const Status refused = storage.Lock(scratch / "lock").status();
  EXPECT_EQ(refused.code(), Code::kAlreadyExists);
  EXPECT_THAT(refused.message(),
              testing::MatchesRegex(
                  fmt::format("{}: locked by process {} on {} since "
                              "[0-9-]*T[0-9:]*Z: .*engine_real_test.*",
                              scratch / "lock", getpid(), RealHost().Name())));
}

TEST(PosixStorageTest, LockWithoutAHoldersName_IsOfAnotherProcess) {
  const ScratchDirectory scratch;
  const Descriptor other(
      open((scratch / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(flock(other.get(), LOCK_EX), 0);
  EXPECT_EQ(PosixStorage().Lock(scratch / "lock").status().message(),
            scratch / "lock" + ": locked by another process");
}

// A lock file gets the name of its holder, which would be written through a
// pipe or a link.
TEST(PosixStorageTest, LockIsNoPipeLinkOrDirectory) {
  const ScratchDirectory scratch;
  PosixStorage storage;
  ASSERT_EQ(mkfifo((scratch / "pipe").c_str(), 0600), 0);
  std::ofstream(scratch / "mine") << "text";
  std::filesystem::create_symlink(scratch / "mine", scratch / "link");
  ASSERT_TRUE(storage.MakeDirectory(scratch / "folder").ok());
  for (const char* const name : {"pipe", "link", "folder"}) {
    const Status refused = storage.Lock(scratch / name).status();
    EXPECT_EQ(refused.code(), Code::kInvalidArgument);
    EXPECT_THAT(refused.message(), testing::EndsWith("; remove it"));
  }
  EXPECT_EQ(TextOf(scratch / "mine"), "text");
}

TEST(PosixStorageTest, LinkToNothing_IsNeitherThereNorFreeAndNamesItsTarget) {
  const ScratchDirectory scratch;
  PosixStorage storage;
  std::filesystem::create_symlink("not-mounted/ckpt", scratch / "ckpt");
  for (const Status& status :
       {storage.List(scratch / "ckpt").status(),
        storage.MakeDirectory(scratch / "ckpt"),
        storage.Open(scratch / "ckpt", OpenMode::kRead).status()}) {
    EXPECT_EQ(status.code(), Code::kIoError);
    EXPECT_THAT(status.message(), testing::HasSubstr("ckpt: "));
    EXPECT_THAT(status.message(),
                testing::HasSubstr(": it is a link to not-mounted/ckpt, which "
                                   "does not exist"));
  }
}

mode_t ModeOf(const std::string& path) {
  struct stat info = {};
  return stat(path.c_str(), &info) == 0 ? info.st_mode & 0777 : 0;
}

TEST(PosixStorageTest, ModesFollowTheUmaskAndLetNobodyElseWrite) {
  struct Case {
    mode_t mask, file, directory;
  };
  for (const auto& [mask, file, directory] :
       {Case{0, 0664, 0775}, Case{022, 0644, 0755}, Case{077, 0600, 0700}}) {
    const ScratchDirectory scratch;
    PosixStorage storage;
    const mode_t before = umask(mask);
    EXPECT_TRUE(storage.MakeDirectory(scratch / "made").ok());
    EXPECT_TRUE(storage.Open(scratch / "new", OpenMode::kCreateExclusive).ok());
    EXPECT_TRUE(storage.Open(scratch / "tmp", OpenMode::kCreateTruncate).ok());
    EXPECT_TRUE(storage.Lock(scratch / "lock").ok());
    EXPECT_TRUE(OpenToAppend(scratch / "log").ok());
    umask(before);
    EXPECT_EQ(ModeOf(scratch / "made"), directory);
    for (const char* const name : {"new", "tmp", "lock", "log"}) {
      EXPECT_EQ(ModeOf(scratch / name), file) << name << " " << mask;
    }
  }
}

TEST(PosixStorageTest, ProcessThatInheritsALockHoldsIt) {
  const ScratchDirectory scratch;
  PosixStorage storage;
  auto lock = storage.Lock(scratch / "lock");
  const auto child = StartChild({.path = "/bin/sleep",
                                 .arguments = {"1000"},
                                 .environment = {},
                                 .log_file = {},
                                 .kept_descriptors = storage.HeldLocks()});
  ASSERT_TRUE(child.ok()) << child.status().ToString();
  lock->reset();
  EXPECT_TRUE(storage.HeldLocks().empty());
  EXPECT_EQ(storage.Lock(scratch / "lock").status().code(),
            Code::kAlreadyExists);
  SendSignal(*child, SIGKILL);
  AwaitEnd(*child);
  EXPECT_TRUE(storage.Lock(scratch / "lock").ok());
}

}  // namespace
}  // namespace gauntlet
