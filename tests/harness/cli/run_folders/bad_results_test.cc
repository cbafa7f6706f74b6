// Results and records that are missing, damaged or hostile, passed to each
// command that reads them: one line, exit code 2.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "harness/cli/run_folders/old_runs.h"
#include "harness/record/record_file.h"
#include "tests/harness/cli/run_folders/stored_run_fixture.h"
#include "tests/reports/markup_check.h"

namespace gauntlet {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct Damage {
  const char* name;
  std::function<std::string(std::string)> apply;
};

std::string Replaced(std::string text, const std::string& from,
                     const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// Returns kinds of damage to a record.jsonl or a result.json.
std::vector<Damage> Damages() {
  return {
      {"empty", [](const std::string&) { return ""; }},
      {"no JSON", [](const std::string&) { return "\x1b[31mno\njson"; }},
      {"of another version",
       [](const std::string& text) {
         const size_t version = text.find("/v", text.find("\"schema\""));
         const size_t end = text.find('"', version);
         return Replaced(text, text.substr(version, end - version), "/v99");
       }},
      {"cut",
       [](const std::string& text) { return text.substr(0, text.size() / 2); }},
      {"huge number",
       [](const std::string& text) {
         return Replaced(text, "\"line\":", "\"line\":1e999,\"l\":");
       }},
      {"negative number",
       [](const std::string& text) {
         return Replaced(text, "\"line\":", "\"line\":-1,\"l\":");
       }},
      {"deeply nested",
       [](const std::string& text) {
         return Replaced(text, "\"line\":",
                         "\"x\":" + std::string(100'000, '[') + "\"line\":");
       }},
      {"no UTF-8",
       [](const std::string& text) {
         return Replaced(text, "\"line\":", "\"\xff\xc0\":1,\"line\":");
       }},
      {"of zeros",
       [](const std::string& text) { return std::string(text.size(), '\0'); }},
  };
}

class BadResultsTest : public StoredRunTest {
 protected:
  // Expects the command to print one line about the error, and nothing else.
  void ExpectRefused(const std::vector<std::string>& words) {
    EXPECT_EQ(Call(words), 2) << words[1];
    const std::string line = err_.str();
    EXPECT_THAT(line, StartsWith("gauntlet " + words[0] + ": "));
    EXPECT_EQ(std::ranges::count_if(
                  line, [](unsigned char c) { return c < 0x20 || c == 0x7f; }),
              1)
        << line;
    EXPECT_LT(line.size(), 1000u);
  }
  std::vector<std::string> With(const std::string& command,
                                const std::string& what) {
    std::vector<std::string> words = {command, what};
    if (command != "judge") words.insert(words.end(), {"--runs", runs()});
    return words;
  }
};

TEST_F(BadResultsTest, DamagedRecordsAreRefused) {
  const std::string record = RunCase("a", "recovers") + "/a.sim/record.jsonl";
  const std::string text = TextOf(record);
  for (const Damage& damage : Damages()) {
    SCOPED_TRACE(damage.name);
    ASSERT_TRUE(WriteTextFile(record, damage.apply(text)).ok());
    for (const char* command : {"show", "judge", "replay"}) {
      ExpectRefused(With(command, record));
      ExpectRefused(With(command, fs::path(record).parent_path().string()));
    }
  }
}

// The digest at the record's end is correct for the changed head.
TEST_F(BadResultsTest, RecordsWithImpossibleHeadsAreRefused) {
  const std::string file = RunCase("a", "recovers") + "/a.sim/record.jsonl";
  const Parsed<Record> recorded = ReadRecord(TextOf(file), file);
  ASSERT_TRUE(recorded.ok()) << recorded.error;
  const struct {
    std::string error;
    void (*change)(Record&);
  } kCases[] = {
      {"world: expected real or sim, found 'mars'",
       [](Record& record) { record.world = "mars"; }},
      {"setup.workers: expected a whole number from 1 to 4096, found 0",
       [](Record& record) { record.setup.workers = 0; }},
      {"setup.workers: expected a whole number from 1 to 4096, found 4097",
       [](Record& record) { record.setup.workers = 4097; }},
      {"setup.min_workers: expected a whole number from 0 to 4096, found -1",
       [](Record& record) { record.setup.min_workers = -1; }},
      {"setup.workers_per_attempt: expected a whole number from 1 to 4096, "
       "found 0",
       [](Record& record) {
         record.setup.workers_per_attempt = {2, 0};
       }},
      {"plan: expected JSON, found something else at byte 2",
       [](Record& record) { record.plan_json = "{"; }},
  };
  for (const auto& [error, change] : kCases) {
    SCOPED_TRACE(error);
    Record record = *recorded.value;
    change(record);
    ASSERT_TRUE(WriteTextFile(file, RecordToJsonLines(record)).ok());
    for (const char* command : {"show", "judge", "replay"}) {
      ExpectRefused(With(command, file));
      EXPECT_THAT(err_.str(), HasSubstr(file + ":1: " + error));
    }
  }
}

TEST_F(BadResultsTest, DamagedResultsAreRefused) {
  const std::string folder = RunCase("a", "recovers");
  const std::string text = TextOf(folder + "/result.json");
  for (const Damage& damage : Damages()) {
    SCOPED_TRACE(damage.name);
    ASSERT_TRUE(
        WriteTextFile(folder + "/result.json", damage.apply(text)).ok());
    ExpectRefused(With("report", folder));
    ExpectRefused(With("report", "latest"));
    ExpectRefused({"report", "--compare", folder, folder});
    ExpectRefused({"report", "--merge", folder, "--out", scratch_ / "out"});
    EXPECT_FALSE(fs::exists(scratch_ / "out"));
  }
}

TEST_F(BadResultsTest, EditedVerdictIsRefused) {
  const std::string folder = RunCase("a", "recovers");
  const std::string file = folder + "/result.json";
  ASSERT_TRUE(
      WriteTextFile(file, Replaced(TextOf(file), "\"verdict\": \"FAIL\"",
                                   "\"verdict\": \"PASS\""))
          .ok());
  ExpectRefused(With("report", folder));
  EXPECT_THAT(err_.str(), HasSubstr("counts.passed: expected 1, as in cases"));
  ExpectRefused({"report", "--compare", folder, folder});
  ExpectRefused({"report", "--merge", folder, "--out", scratch_ / "out"});
}

TEST_F(BadResultsTest, NamesMissingFiles) {
  const std::string folder = RunCase("a", "completes");
  fs::create_directories(scratch_ / "empty");
  fs::create_directories(runs() + "/no\x1b[31m\nresult");
  for (const char* command : {"report", "show", "judge", "replay"}) {
    SCOPED_TRACE(command);
    ExpectRefused(With(command, scratch_ / "none"));
    ExpectRefused(With(command, scratch_ / "no\x1b[2J\nne"));
    ExpectRefused(With(command, scratch_ / "empty"));
    ExpectRefused(With(command, scratch_ / "a.yaml/x"));
    ExpectRefused(With(command, "nope"));
    ExpectRefused(With(command, "../" + fs::path(folder).filename().string()));
    ExpectRefused(With(command, "/dev/null"));
  }
}

TEST_F(BadResultsTest, Advice_FollowsFromTheContentsOfTheFolder) {
  const std::string folder = RunCase("a", "recovers");
  const auto advice_on = [this](const std::string& path) {
    ExpectRefused(With("report", path));
    return err_.str();
  };
  EXPECT_THAT(advice_on(runs()),
              HasSubstr("name one of them, such as " + runs() + "/latest\n"));
  EXPECT_THAT(advice_on(folder + "/a.sim"),
              HasSubstr("gauntlet show " + folder + "/a.sim\n"));
  fs::create_directories(scratch_ / "empty");
  EXPECT_THAT(advice_on(scratch_ / "empty"),
              HasSubstr("gauntlet report --list lists the runs"));
  fs::remove(folder + "/result.json");
  EXPECT_THAT(advice_on(folder),
              HasSubstr("gauntlet judge " + folder + " computes its verdicts"));
  EXPECT_EQ(Call({"judge", folder}), 1) << err_.str();
  const RunLock lock(folder);
  EXPECT_THAT(advice_on(folder), HasSubstr("the run is not over"));
}

TEST_F(BadResultsTest, RefusesAnExplorationInPlaceOfARun) {
  fs::create_directories(runs() + "/x/findings");
  for (const char* command : {"report", "show"}) {
    ExpectRefused(With(command, "x"));
    EXPECT_THAT(err_.str(), HasSubstr("exploration"));
  }
}

TEST_F(BadResultsTest, HostileNamesAreEscaped) {
  const std::string folder = RunCase("a", "recovers");
  const std::string json_name = "<script>../\\u001b[2J\\n\\u009b";
  ASSERT_TRUE(
      WriteTextFile(folder + "/result.json",
                    Replaced(TextOf(folder + "/result.json"), "\"name\": \"a\"",
                             "\"name\": \"" + json_name + "\""))
          .ok());
  EXPECT_EQ(Call(With("report", folder)), 1) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("<script>../\\x1b[2J \\x9b"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("\x1b")));
  const std::string html = scratch_ / "r.html";
  std::vector<std::string> words = With("report", folder);
  words.insert(words.end(), {"--html", html, "--summary", html + ".md"});
  EXPECT_EQ(Call(words), 1) << err_.str();
  EXPECT_THAT(WithoutCode(TextOf(html)), Not(HasSubstr("<script>../")));
  EXPECT_THAT(TextOf(html + ".md"), Not(HasSubstr("<script>")));
}

// The folder of a replayed case is named by the record.
TEST_F(BadResultsTest, RecordedNameLeadsToNoOtherFolder) {
  const std::string folder = RunCase("a", "completes") + "/a.sim";
  Parsed<Record> record =
      ReadRecord(TextOf(folder + "/record.jsonl"), "record.jsonl");
  ASSERT_TRUE(record.ok()) << record.error;
  record.value->case_name = "../../../evil";
  ASSERT_TRUE(
      WriteTextFile(folder + "/record.jsonl", RecordToJsonLines(*record.value))
          .ok());
  ExpectRefused(With("replay", folder));
  EXPECT_THAT(err_.str(), HasSubstr("case: expected the name of a case"));
}

}  // namespace
}  // namespace gauntlet
