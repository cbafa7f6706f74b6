#include "chaos/crash/directory_builder.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/chaos/crash/written_log.h"
#include "tests/chaos/inject/child_process.h"
#include "tests/chaos/trace/directory_text.h"
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// A builder with a cache, and the directory that it builds in.
class Built {
 public:
  explicit Built(const OperationLog& log, BuildOptions options = {})
      : builder_(log, WithCache(std::move(options))) {}

  Status Build(const std::string& id) {
    const std::string target = folder_.Make("target");
    fs::remove_all(target);
    folder_.Make("target");
    return builder_.Build(*ParseCrashStateId(id), {target});
  }
  std::string Text(const std::string& id) {
    const Status status = Build(id);
    return status.ok() ? DirectoryText(target()) : status.ToString();
  }
  std::string target() const { return folder_.path() + "/target"; }
  std::string cache() const { return folder_.path() + "/cache"; }

 private:
  BuildOptions WithCache(BuildOptions options) {
    options.cache = folder_.Make("cache");
    return options;
  }

  Folder folder_;
  DirectoryBuilder builder_;
};

struct stat StatusOfName(const std::string& path) {
  struct stat status = {};
  EXPECT_EQ(lstat(path.c_str(), &status), 0) << path;
  return status;
}

TEST(DirectoryBuilderTest, BuildsTreesWithLinksAndModes) {
  WrittenLog log;
  log.MakeDirectory("d");
  log.Create("d/a");
  log.Write("d/a", "text", 5000);
  log.SetMode("d/a", 0400);
  log.Link("d/a", "b");
  log.Symlink("l", "../nowhere");
  log.SetMode("d", 0500);
  Built built(log.log());
  ASSERT_TRUE(built.Build("kill-7").ok());
  const std::string content = std::string(5000, '\0') + "text";
  EXPECT_EQ(ContentsOf(built.target() + "/b"), content);
  EXPECT_EQ(DirectoryText(built.target()),
            fmt::format("b 400 5004 bytes {0} same as b\n"
                        "d/ 500\n"
                        "d/a 400 5004 bytes {0} same as b\n"
                        "l -> ../nowhere\n",
                        DigestOf(content).Short()));
  fs::permissions(built.target() + "/d", fs::perms::owner_all);
}

TEST(DirectoryBuilderTest, BuiltFileHasTheDigestOfItsContent) {
  WrittenLog log;
  log.Create("a");
  log.Write("a", std::string(10000, 'x'));
  log.Write("a", "behind a hole", uint64_t{3} << 20U);
  const OperationLog& written = log.log();
  LogWalk walk(written);
  ASSERT_TRUE(walk.AdvanceTo(3).ok());
  ContentDigests digests(written);
  const uint64_t number = written.operations()[0].file;
  const auto of_content = digests.Of(*walk.now().Find(number)->content);
  Built built(written);
  ASSERT_TRUE(built.Build("kill-3").ok());
  const auto of_file = ContentDigestOfFile(built.target() + "/a");
  ASSERT_TRUE(of_content.ok() && of_file.ok());
  EXPECT_EQ(*of_file, *of_content);
  fs::resize_file(built.target() + "/a", (uint64_t{3} << 20U) + 12);
  EXPECT_NE(*ContentDigestOfFile(built.target() + "/a"), *of_content);
}

TEST(DirectoryBuilderTest, RestoresTimes) {
  WrittenLog log;
  log.MakeDirectory("d");
  log.Create("d/a");
  log.Create("b");
  log.Write("d/a", "text");
  log.SetTimes("b", 1'234'567'890);
  Built built(log.log());
  ASSERT_TRUE(built.Build("kill-5").ok());
  const auto time = [&](const std::string& name) {
    const timespec at = StatusOfName(built.target() + "/" + name).st_mtim;
    return at.tv_sec * 1'000'000'000 + at.tv_nsec;
  };
  const int64_t start = log.log().list().start_time;
  EXPECT_EQ(time("d"), start + 2'000'000);
  EXPECT_EQ(time("d/a"), start + 4'000'000);
  EXPECT_EQ(time("b"), 1'234'567'890);
}

TEST(DirectoryBuilderTest, RestoresTimesOfFilesOfBefore) {
  WrittenLog log;
  auto directory = log.Named(OperationKind::kMakeDirectory, "d");
  directory.implied = true;
  directory.file = log.log().AddFile({.device = 1, .inode = 8});
  directory.modification_time = 3'000'000'000;
  log.Add(directory);
  auto file = log.Named(OperationKind::kEnter, "d/a");
  file.implied = true;
  file.file = log.log().AddFile({.device = 1, .inode = 9});
  file.modification_time = 2'000'000'000;
  log.Add(file);
  Built built(log.log());
  ASSERT_TRUE(built.Build("kill-2").ok());
  EXPECT_EQ(StatusOfName(built.target() + "/d").st_mtim.tv_sec, 3);
  EXPECT_EQ(StatusOfName(built.target() + "/d/a").st_mtim.tv_sec, 2);
}

TEST(DirectoryBuilderTest, SeveralDirectoriesHaveTheirTargets) {
  WrittenLog log(2);
  log.Create("a");
  auto other = log.Named(OperationKind::kMakeDirectory, "b");
  other.file = log.log().AddFile({.device = 1, .inode = 9});
  other.name.directory = 1;
  log.Add(other);
  const Folder folder;
  DirectoryBuilder builder(log.log(), {.cache = folder.Make("cache")});
  ASSERT_TRUE(
      builder.Build({.operations = 2}, {folder.Make("0"), folder.Make("1")})
          .ok());
  EXPECT_TRUE(fs::exists(folder.path() + "/0/a"));
  EXPECT_TRUE(fs::exists(folder.path() + "/1/b"));
}

TEST(DirectoryBuilderTest, GoesBackAndForth) {
  WrittenLog log;
  log.Create("a");

  for (int i = 0; i < 300; ++i) log.Write("a", std::string(1, 'x'), i);
  Built built(log.log());
  for (const int n : {250, 10, 130, 129, 301, 1, 200}) {
    ASSERT_TRUE(built.Build(fmt::format("kill-{}", n)).ok());
    EXPECT_EQ(fs::file_size(built.target() + "/a"), n - 1);
  }
}

TEST(DirectoryBuilderTest, BuildsTornWritesAndPowerLosses) {
  WrittenLog log;
  log.Create("a");
  log.Write("a", Sectors(16));
  Built built(log.log());
  ASSERT_TRUE(built.Build("torn-1-700").ok());
  EXPECT_EQ(ContentsOf(built.target() + "/a"), Sectors(16).substr(0, 700));
  ASSERT_TRUE(built.Build("ext4-2-file1.s4096").ok());
  EXPECT_EQ(ContentsOf(built.target() + "/a"), Sectors(8));
}

TEST(DirectoryBuilderTest, ReadOnlyFilesShareTheirBytesFromThirdTimeOn) {
  WrittenLog log;
  log.Create("data");
  log.Write("data", "data");
  log.Create("model");
  log.Write("model", "model");
  Built built(log.log(), {.is_read_only = [](const FileName& name) {
                return name.path == "data";
              }});
  const std::string first = built.Text("kill-4");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(built.Text("kill-4"), first);
  EXPECT_EQ(StatusOfName(built.target() + "/data").st_nlink, 2);
  EXPECT_EQ(StatusOfName(built.target() + "/model").st_nlink, 1);
}

TEST(DirectoryBuilderTest, BuildsIndependentCopies_OfWritableFiles) {
  WrittenLog log;
  log.Create("a");
  log.Write("a", "text");
  Built built(log.log());
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(built.Build("kill-2").ok());
    EXPECT_EQ(ContentsOf(built.target() + "/a"), "text");
    std::ofstream(built.target() + "/a") << "changed by a trial";
  }
}

TEST(DirectoryBuilderTest, ContentOfManyPiecesComesFromCache) {
  WrittenLog log;
  log.Create("a");
  std::string text(8000, '\0');
  for (uint64_t i = 0; i < 40; ++i) {
    log.Write("a", std::to_string(i), 200 * i);
    text.replace(200 * i, std::to_string(i).size(), std::to_string(i));
  }
  text.resize(7802);
  Built built(log.log());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(built.Build("kill-41").ok());
    EXPECT_EQ(ContentsOf(built.target() + "/a"), text);
  }
  EXPECT_FALSE(fs::is_empty(built.cache()));
}

TEST(DirectoryBuilderTest, TargetThatIsMissingOrNotEmptyIsRefused) {
  WrittenLog log;
  log.Create("a");
  const Folder folder;
  DirectoryBuilder builder(log.log(), {.cache = folder.Make("cache")});
  folder.Make("full/something");
  for (const std::string& target :
       {folder.path() + "/missing", folder.path() + "/full"}) {
    const Status status = builder.Build({.operations = 1}, {target});
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr(target));
  }
  EXPECT_EQ(builder.Build({.operations = 1}, {}).message(),
            "expected 1 target directories, as many as the log has, found 0");
  EXPECT_TRUE(fs::exists(folder.path() + "/full/something"));
}

TEST(DirectoryBuilderTest, NameThatLeavesTargetIsRefused) {
  for (const std::string name : {"..", "../x", "d/..", "d/../../x", "/x"}) {
    WrittenLog log;
    log.MakeDirectory("d");
    log.Create("a");
    log.Create(name);
    Built built(log.log());
    EXPECT_EQ(built.Build("kill-3").code(), Code::kDataLoss) << name;
    EXPECT_TRUE(fs::is_empty(built.target())) << name;
  }
}

TEST(DirectoryBuilderTest, NothingIsWrittenThroughLinks) {
  WrittenLog log;
  const Folder outside;
  log.Symlink("l", outside.path());
  log.Create("l/a");
  Built built(log.log());
  EXPECT_EQ(built.Build("kill-2").code(), Code::kDataLoss);
  EXPECT_TRUE(fs::is_empty(outside.path()));
}

TEST(DirectoryBuilderTest, DamagedLogIsRefusedAndLeavesNothing) {
  WrittenLog log;
  log.MakeDirectory("d");
  log.Create("d/a");
  log.Write("d/a", "text");
  log.SetMode("d", 0500);
  log.Create("e");
  log.Write("e", "other");
  Built built(log.log());
  // From the third build on, the builder has found that it cannot clone, and no
  // longer computes digests of its own.
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(built.Build("kill-3").ok());
  std::fstream(log.folder() + "/bytes",
               std::ios::in | std::ios::out | std::ios::binary)
      .seekp(6)
      .put('X');
  const Status status = built.Build("kill-6");
  EXPECT_EQ(status.code(), Code::kDataLoss);
  EXPECT_THAT(status.message(), HasSubstr("kill-6: "));
  EXPECT_THAT(status.message(), HasSubstr("record again"));
  EXPECT_TRUE(fs::is_empty(built.target()));
}

// Limits the size of files: a write fails as on a full disk, without filling
// one.
class SizeLimit {
 public:
  explicit SizeLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
  }
  ~SizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_ = {};
  void (*handler_)(int) = nullptr;
};

TEST(DirectoryBuilderTest, FailedWrite_IsReportedInOneLine_AndLeavesNothing) {
  WrittenLog log;
  log.MakeDirectory("d");
  log.Create("d/a");
  log.Write("d/a", std::string(20'000, 'x'));
  Built built(log.log());
  Status status;
  {
    const SizeLimit limit(10'000);
    status = built.Build("kill-3");
  }
  EXPECT_EQ(status.code(), Code::kForbidden);
  EXPECT_THAT(status.message(), HasSubstr(built.target()));
  EXPECT_THAT(status.message(), HasSubstr("d/a"));
  EXPECT_THAT(status.message(), testing::Not(HasSubstr("\n")));
  EXPECT_TRUE(fs::is_empty(built.target()));
}

constexpr int kMayNotMount = 77;

// Mounts a disk of 64 KiB at the path, visible only to this process. Call it in
// a child process.
void MountSmallDisk(const std::string& path) {
  if (unshare(CLONE_NEWNS) != 0 ||
      mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("tmpfs", path.c_str(), "tmpfs", 0, "size=64k") != 0) {
    _exit(kMayNotMount);
  }
}

TEST(DirectoryBuilderTest, FullDiskIsOneLineAndLeavesNothing) {
  WrittenLog log;
  log.MakeDirectory("d");
  log.Create("d/a");
  log.Write("d/a", std::string(200'000, 'x'));
  const Folder folder;
  const std::string target = folder.Make("target");
  const std::string cache = folder.Make("cache");
  const pid_t child = StartChild([&] {
    MountSmallDisk(target);
    DirectoryBuilder builder(log.log(), {.cache = cache});
    const Status status = builder.Build({.operations = 3}, {target});
    std::ofstream(cache + "/found")
        << status.ToString() << (fs::is_empty(target) ? "" : ", not empty");
  });
  const std::string end = WaitFor(child);
  if (end == fmt::format("exit {}", kMayNotMount))
    GTEST_SKIP() << "needs the right to mount";
  ASSERT_EQ(end, "exit 0");
  const std::string found = ContentsOf(cache + "/found");
  EXPECT_THAT(found, testing::StartsWith(
                         "RESOURCE_EXHAUSTED: kill-3: " + target + "/d/a: "));
  EXPECT_THAT(found, testing::EndsWith("No space left on device"));
}

}  // namespace
}  // namespace gauntlet
