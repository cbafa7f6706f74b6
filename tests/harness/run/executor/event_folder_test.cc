#include "harness/run/executor/event_folder.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <unistd.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

class EventFolderTest : public testing::Test {
 protected:
  EventFolderTest() { fs::create_directories(folder_); }
  ~EventFolderTest() override { fs::remove_all(folder_); }

  // Appends a header and the steps `first` to `last` to the file `name` of
  // worker 1.
  void Append(int first, int last,
              const char* name = "worker-1-incarnation-2.jsonl") {
    std::ofstream file(folder_ / name, std::ios::app);
    file << R"({"kind":"header","schema":"gauntlet.events/v2",)"
         << R"("worker":1,"incarnation":2})"
         << "\n";
    for (int step = first; step <= last; ++step) {
      file << fmt::format(R"({{"kind":"step","t_ns":{0},"step":{0}}})", step)
           << "\n";
    }
  }

  // Returns the steps of the only process.
  std::vector<uint64_t> Steps(const FileLengths& before, uint64_t most_bytes,
                              uint64_t left_out) {
    const Result<FolderEvents> events =
        ReadEventFolder(folder_, before, most_bytes);
    EXPECT_TRUE(events.ok()) << events.status().message();
    if (!events.ok() || events->incarnations.empty()) return {};
    EXPECT_EQ(events->left_out, left_out);
    std::vector<uint64_t> steps;
    for (const RecordEvent& event : events->incarnations[0].events) {
      steps.push_back(event.step);
    }
    return steps;
  }

  const fs::path folder_ =
      fs::path(testing::TempDir()) / fmt::format("event-folder-{}", getpid());
};

TEST_F(EventFolderTest, ReadsOnlyNewEvents) {
  Append(1, 3);
  const FileLengths before = LengthsIn(folder_);
  Append(4, 5);
  EXPECT_THAT(Steps(before, 10'000, 0), testing::ElementsAre(4, 5));
}

TEST_F(EventFolderTest, ReadsTheNewestEvents_IfAllAreTooMany) {
  Append(1, 1000);
  const std::vector<uint64_t> steps = Steps({}, 120, 997);
  EXPECT_THAT(steps, testing::ElementsAre(998, 999, 1000));
}

TEST_F(EventFolderTest, FileOfAnEarlierVersionIsRead) {
  Append(1, 3, "worker-1-life-2.jsonl");
  EXPECT_THAT(Steps({}, 10'000, 0), testing::ElementsAre(1, 2, 3));
}

// Another run of this version wrote to the folder of a run of an earlier one.
TEST_F(EventFolderTest, FileOfThisVersionIsRead_IfThereAreTwo) {
  Append(1, 3, "worker-1-life-2.jsonl");
  Append(7, 8);
  EXPECT_THAT(Steps({}, 10'000, 0), testing::ElementsAre(7, 8));
}

TEST_F(EventFolderTest, FindsFilesByTheirEnding) {
  for (const char* name :
       {"worker-0-incarnation-1.log", "worker-0-incarnation-1.jsonl",
        "worker-3-life-12.log", "launch-1.json", "worker-0-notes.log"}) {
    std::ofstream(folder_ / name) << "x";
  }
  std::vector<std::string> logs;
  for (const auto& [key, path] : FilesOfWorkers(folder_, ".log")) {
    logs.push_back(fmt::format("{} {} {}", key.first, key.second,
                               path.filename().string()));
  }
  EXPECT_THAT(logs, testing::ElementsAre("0 1 worker-0-incarnation-1.log",
                                         "3 12 worker-3-life-12.log"));
  EXPECT_EQ(FilesOfWorkers(folder_, ".jsonl").size(), 1u);
}

TEST_F(EventFolderTest, LaunchersComeFirst) {
  Append(1, 1);
  std::ofstream(folder_ / "launcher-1.jsonl")
      << R"({"kind":"header","schema":"gauntlet.events/v2","worker":-1,)"
      << R"("incarnation":1})"
      << "\n";
  const Result<FolderEvents> events = ReadEventFolder(folder_, {}, 10'000);
  ASSERT_TRUE(events.ok());
  ASSERT_EQ(events->incarnations.size(), 2u);
  EXPECT_EQ(events->incarnations[0].worker, kLauncherWorker);
}

TEST_F(EventFolderTest, ProcessWithoutAWholeLine_IsLeftOut) {
  std::ofstream(folder_ / "worker-0-incarnation-1.jsonl") << R"({"kind":"hea)";
  const Result<FolderEvents> events = ReadEventFolder(folder_, {}, 10'000);
  ASSERT_TRUE(events.ok());
  EXPECT_TRUE(events->incarnations.empty());
}

}  // namespace
}  // namespace gauntlet
