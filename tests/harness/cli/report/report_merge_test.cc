#include "harness/cli/report/report_merge.h"

#include <filesystem>
#include <string>

#include <gmock/gmock.h>

#include "tests/harness/cli/run_folders/stored_run_fixture.h"
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class ReportMergeTest : public StoredRunTest {
 protected:
  std::string out() const { return scratch_ / "merged"; }
  int Merge(const std::string& first, const std::string& second) {
    return Report({"--merge", first, second, "--out", out()});
  }
  // Replaces a text of a run's result.json.
  static void Change(const std::string& folder, const std::string& from,
                     const std::string& to) {
    std::string text = TextOf(folder + "/result.json");
    ASSERT_THAT(text, HasSubstr(from));
    text.replace(text.find(from), from.size(), to);
    ASSERT_TRUE(WriteTextFile(folder + "/result.json", text).ok());
  }
};

TEST_F(ReportMergeTest, MergedRun_IsReadableByEveryCommand) {
  const std::string a = RunCase("a", "completes");
  const std::string b = RunCase("b", "recovers");
  EXPECT_EQ(Merge(a, b), 1) << err_.str();
  EXPECT_THAT(
      out_.str(),
      AllOf(HasSubstr("2 runs merged in " + out()), HasSubstr("FAIL b (sim)"),
            HasSubstr("2 cases in "), HasSubstr(": 1 passed, 1 ")));
  for (const char* file : {"junit.xml", "summary.md", "a.sim/record.jsonl"}) {
    EXPECT_TRUE(fs::exists(out() + "/" + file)) << file;
  }
  EXPECT_THAT(TextOf(out() + "/report.html"),
              AllOf(HasSubstr("<svg"), HasSubstr("Gauntlet run merged")));
  fs::remove_all(a);
  EXPECT_EQ(Report({out()}), 1) << err_.str();
  EXPECT_EQ(Call({"judge", out()}), 1) << err_.str();
  for (const char* one : {"/a.sim", "/a"}) {
    EXPECT_EQ(Call({"show", out() + one}), 0) << err_.str();
    EXPECT_EQ(Call({"judge", out() + one}), 0) << err_.str();
    EXPECT_EQ(Call({"replay", out() + one, "--runs", runs()}), 0) << err_.str();
  }
  EXPECT_EQ(Call({"show", out() + "/c"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("case 'c': there is none; there are a, b"));
  EXPECT_EQ(Call({"replay", out(), "--runs", runs()}), 0) << err_.str();
}

TEST_F(ReportMergeTest, WritesNothing_IfResultsDoNotMatch) {
  const std::string a = RunCase("a", "completes");
  const std::string again = RunCase("a", "recovers");
  EXPECT_EQ(Merge(a, again), 2);
  EXPECT_THAT(err_.str(), HasSubstr(again + ": case a (sim) is in " + a));
  EXPECT_EQ(Merge(a, scratch_ / "none"), 2);
  const std::string b = RunCase("b", "completes");
  Change(b, "\"build\": \"", "\"build\": \"x");
  EXPECT_EQ(Merge(a, b), 2);
  EXPECT_THAT(err_.str(), HasSubstr("results of different builds cannot be"));
  EXPECT_FALSE(fs::exists(out()));
}

TEST_F(ReportMergeTest, NeedsAnEmptyFolder) {
  const std::string a = RunCase("a", "completes");
  fs::create_directories(out());
  ASSERT_TRUE(WriteTextFile(out() + "/mine", "x").ok());
  EXPECT_EQ(Merge(a, a), 2);
  EXPECT_THAT(err_.str(), HasSubstr(out() + ": expected an empty"));
  EXPECT_EQ(TextOf(out() + "/mine"), "x");
}

TEST_F(ReportMergeTest, CopyOfARunCountsOnce) {
  const std::string a = RunCase("a", "completes");
  fs::copy(a, scratch_ / "copy", fs::copy_options::recursive);
  EXPECT_EQ(Merge(a, scratch_ / "copy"), 0) << err_.str();
  EXPECT_THAT(out_.str(),
              AllOf(HasSubstr("1 run merged in "), HasSubstr("1 case in ")));
  EXPECT_THAT(err_.str(),
              HasSubstr("/copy: a copy of a run that was given before"));
}

TEST_F(ReportMergeTest, CopiesTheFilesOfEachTry) {
  const std::string a = RunCase("a", "completes");
  MakeFlaky(a, FlakyVerdict::kFails);
  EXPECT_EQ(Merge(a, RunCase("b", "completes")), 1) << err_.str();
  fs::remove_all(a);
  EXPECT_EQ(Report({out(), "--json"}), 1) << err_.str();
  const auto one = nlohmann::json::parse(out_.str())["cases"][0];
  EXPECT_EQ(one["directory"], out() + "/a.sim");
  EXPECT_EQ(one["tries"][0]["directory"], out() + "/a.sim");
  EXPECT_EQ(one["tries"][1]["directory"], out() + "/a~try-2.sim");
  EXPECT_TRUE(fs::exists(out() + "/a~try-2.sim/record.jsonl"));
}

// Links in a downloaded run may lead anywhere.
TEST_F(ReportMergeTest, CopiesNoLinks) {
  const std::string a = RunCase("a", "completes");
  fs::create_symlink("/etc/hostname", a + "/a.sim/link");
  EXPECT_EQ(Merge(a, RunCase("b", "completes")), 0) << err_.str();
  EXPECT_FALSE(fs::exists(fs::symlink_status(out() + "/a.sim/link")));
}

}  // namespace
}  // namespace gauntlet
