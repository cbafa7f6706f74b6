#include "harness/cli/report/case_logs.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/real/scratch_directory.h"

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class CaseLogsTest : public testing::Test {
 protected:
  CaseLogsTest() { std::filesystem::create_directory(folder_ / "logs"); }

  // Each file contains its own name.
  void Write(const std::string& name) const {
    std::ofstream(folder_ / name) << name;
  }
  // Returns "name: end" of each log.
  std::vector<std::string> Logs(const std::string& world) const {
    std::vector<std::string> logs;
    for (const LogTail& log :
         LogsOf({.world = world, .directory = folder_.path()})) {
      logs.push_back(log.name + ": " + log.end);
    }
    return logs;
  }

  const ScratchDirectory folder_;
};

TEST_F(CaseLogsTest, LaunchersComeFirst_ThenWorkersByNumber) {
  for (const char* name :
       {"logs/worker-1-incarnation-1.log", "logs/worker-0-incarnation-10.log",
        "logs/worker-0-incarnation-2.log", "launch-2.json", "launch-1.json",
        "launch-before.json", "logs/notes.log"}) {
    Write(name);
  }
  EXPECT_THAT(Logs("real"),
              ElementsAre("launch 1: launch-1.json", "launch 2: launch-2.json",
                          "worker 0, incarnation 2: "
                          "logs/worker-0-incarnation-2.log",
                          "worker 0, incarnation 10: "
                          "logs/worker-0-incarnation-10.log",
                          "worker 1, incarnation 1: "
                          "logs/worker-1-incarnation-1.log"));
  EXPECT_THAT(Logs("sim"), IsEmpty());
}

TEST_F(CaseLogsTest, LogOfAnEarlierVersionIsRead) {
  Write("logs/worker-1-life-2.log");
  EXPECT_THAT(Logs("real"),
              ElementsAre("worker 1, incarnation 2: logs/worker-1-life-2.log"));
}

}  // namespace
}  // namespace gauntlet
