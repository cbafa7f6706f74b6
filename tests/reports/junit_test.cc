#include "reports/junit.h"

#include <cstdlib>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/reports/sample_result.h"

namespace gauntlet {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kGolden[] = R"xml(<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="gauntlet" tests="4" failures="1" errors="1" skipped="1" time="4.168">
  <testsuite name="scenarios/crash.yaml" tests="1" failures="0" errors="0" skipped="0" time="1.940">
    <properties>
      <property name="run" value="7f3a"/>
      <property name="seed" value="42"/>
      <property name="build" value="0.1.0"/>
    </properties>
    <testcase name="crash-mid-save[workers=2] (real)" classname="crash-mid-save" time="1.940" file="scenarios/crash.yaml" line="2">
    </testcase>
  </testsuite>
  <testsuite name="scenarios/torn.yaml" tests="3" failures="1" errors="1" skipped="1" time="2.228">
    <properties>
      <property name="run" value="7f3a"/>
      <property name="seed" value="42"/>
      <property name="build" value="0.1.0"/>
    </properties>
    <testcase name="gpu-reset (sim)" classname="gpu-reset" time="0.014" file="scenarios/torn.yaml" line="30">
      <skipped message="needs a GPU, found 0"/>
    </testcase>
    <testcase name="disk-full (sim)" classname="disk-full" time="0.014" file="scenarios/torn.yaml" line="30">
      <error message="full never fired: errno any at ckpt.begin" type="no-verdict"></error>
    </testcase>
    <testcase name="torn-manifest (real)" classname="torn-manifest" time="2.200" file="scenarios/torn.yaml" line="12">
      <failure message="trajectory: after step 51 (worker 1, incarnation 2): state aa, expected bb; also restarts" type="invariant">cause: the state loaded at step 50 differs: tensor rng/key
trajectory (state-digest): after step 51 (worker 1, incarnation 2): state aa, expected bb
restarts: expected exactly 1, found 2
worker 0, incarnation 1  step 50  tear: torn_write
worker 0, incarnation 2  resumed from step 50
</failure>
      <system-out>replay: gauntlet replay 7f3a/torn-manifest
[[ATTACHMENT|/runs/7f3a/timeline.json.gz]]
</system-out>
    </testcase>
  </testsuite>
</testsuites>
)xml";

// Returns a result with all bytes that XML forbids or that have a meaning in
// it.
RunResult NastyResult() {
  RunResult result = SampleResult();
  for (int byte = 0; byte < 256; ++byte) {
    result.cases[3].verdict.reason += static_cast<char>(byte);
    result.cases[3].verdict.timeline[0] += static_cast<char>(byte);
  }
  result.cases[3].name = "]]>\"'&<\xed\xa0\x80\xf4\x90\x80\x80\xef\xbf\xbf\xe2";
  return result;
}

TEST(JunitTest, RunReadsLikeThis) {
  EXPECT_EQ(RenderJunit(SampleResult()), kGolden);
}

TEST(JunitTest, MessageOfAnUnmetExpectation_HasTheFoundValue) {
  EXPECT_THAT(
      RenderJunit({.cases = {UnmetCase()}}),
      HasSubstr(
          "<failure message=\"expectation resumed_from: expected step 10, "
          "found step 5\" "));
}

TEST(JunitTest, FailureHasTheLinesThatExplainIt_EachOnce) {
  const std::string xml = RenderJunit({.cases = {UnmetCase()}});
  EXPECT_THAT(
      xml, HasSubstr("type=\"invariant\">cause: the save of step 10 failed, "
                     "8.1 ms after it began\nfaults: full: errno worker 0\n"
                     "expected: resumed_from: expected step 10, found step 5\n"
                     "recovery: 1 restart; resumed from step 5\n"
                     "training: right\nchecks: "));
  EXPECT_THAT(xml, HasSubstr("\nnext: if the run was right, "));
  EXPECT_THAT(xml, Not(HasSubstr("\nresumed_from: expected")));
}

TEST(JunitTest, NamesAreUnique) {
  RunResult result = SampleResult();
  for (const size_t i : {1u, 2u, 3u}) result.cases[i].name = "a";
  const std::string xml = RenderJunit(result);
  EXPECT_THAT(xml, HasSubstr("name=\"a (sim)\""));
  EXPECT_THAT(xml, HasSubstr("name=\"a (sim) #2\""));
  EXPECT_THAT(xml, HasSubstr("name=\"a (real)\""));
}

TEST(JunitTest, FlakyCase_FailsWithAllTries) {
  RunResult result;
  result.cases = {FlakyCase(FlakyVerdict::kFails)};
  const std::string xml = RenderJunit(result);
  EXPECT_THAT(xml, HasSubstr("tests=\"1\" failures=\"1\""));
  EXPECT_THAT(xml, HasSubstr("<failure message=\"failed 1 of 2 tries: "
                             "trajectory, restarts\" type=\"flaky\">"));
  EXPECT_THAT(xml, HasSubstr("try 2: PASS   /runs/7f3a/torn-manifest~try-2"));
}

TEST(JunitTest, FlakyCase_PassesWithItsFirstFailureAsText) {
  RunResult result;
  result.cases = {FlakyCase(FlakyVerdict::kPasses)};
  const std::string xml = RenderJunit(result);
  EXPECT_THAT(xml, HasSubstr("tests=\"1\" failures=\"0\""));
  EXPECT_THAT(xml, HasSubstr("<property name=\"flaky\" value=\"failed 1 of 2 "
                             "tries: trajectory, restarts\"/>"));
  EXPECT_THAT(xml, HasSubstr("first failure:\ntrajectory (state-digest): "));
  EXPECT_THAT(xml, Not(HasSubstr("<failure")));
}

TEST(JunitTest, CaseThatWasNotRunIsSkippedWithAReason) {
  const std::string xml = RenderJunit({.cases = {CaseLeft()}});
  EXPECT_THAT(xml, HasSubstr("errors=\"0\" skipped=\"1\""));
  EXPECT_THAT(xml, HasSubstr("<skipped message=\"not run: enough cases had "
                             "failed\"/>"));
}

TEST(JunitTest, EscapesCharactersInvalidInXml) {
  const struct {
    std::string text;
    std::string expected;
  } kCases[] = {
      {"a<b>&\"c\"", "a&lt;b&gt;&amp;&quot;c&quot;"},
      {"\x1b[0m", "\xef\xbf\xbd[0m"},
      {std::string("\0", 1), "\xef\xbf\xbd"},
      {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
       "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
      {"\xc3", "\xef\xbf\xbd"},
      {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},
      {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
      {"\r", "&#13;"},
  };
  for (const auto& [text, expected] : kCases) {
    EXPECT_EQ(EscapeXml(text), expected);
  }
}

TEST(JunitTest, XmllintFindsNothingWrong) {
  if (std::system("xmllint --version >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "needs xmllint";
  }
  for (const RunResult& result : {SampleResult(), NastyResult(), RunResult{}}) {
    const std::string path = testing::TempDir() + "/gauntlet_junit_test.xml";
    std::ofstream(path) << RenderJunit(result);
    EXPECT_EQ(std::system(("xmllint --noout " + path).c_str()), 0);
  }
}

}  // namespace
}  // namespace gauntlet
