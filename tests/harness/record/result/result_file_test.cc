#include "harness/record/result/result_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

DifferingTensor Tensor() {
  return {.name = "loss",
          .mismatch = "m",
          .elements = 5,
          .differing = 2,
          .first = {{.index = "[1]",
                     .found = "-0",
                     .found_bits = "80000000",
                     .expected = "0",
                     .expected_bits = "00000000",
                     .ulps = 1}}};
}

RunResult FullResult() {
  Verdict verdict{
      .kind = VerdictKind::kFail,
      .reason = "store",
      .fails_only_expectations = true,
      .invariants = {{.invariant = "store",
                      .instances = 3,
                      .violations = 1,
                      .findings = {{"store", "torn-load", "m"}}}},
      .broken_expectations = {{"expectation", "restarts", "e", "f"}},
      .facts = {.faults_fired = 1,
                .restarts = 2,
                .requeues = 1,
                .resumed_from = 3,
                .resumed_from_memory = 2,
                .max_recomputed_steps = 4,
                .distinct_recomputed_steps = 6,
                .recomputations = 7,
                .failed_saves = 5,
                .refused = true},
      .timeline = {"line"}};
  return {.run = "7f3a",
          .seed = 42,
          .build = "b",
          .command = "gauntlet run a",
          .scenarios = 1,
          .seconds = 1.5,
          .cases = {{.name = "a[b=1]",
                     .scenario = "a",
                     .file = "a.yaml",
                     .line = 2,
                     .expect_line = 9,
                     .world = "sim",
                     .seconds = 0.5,
                     .reference_seconds = 0.25,
                     .replay = "gauntlet replay a",
                     .timeline = "t",
                     .directory = "d",
                     .cause = "tensor w",
                     .summary = {.faults = "f",
                                 .recovery = "r",
                                 .training = "t",
                                 .next = "n",
                                 .planted = "p"},
                     .planted_bugs = {"lose-rng-key"},
                     .differences = {{.place = "step 3",
                                      .operation = "loss",
                                      .replica = 2,
                                      .worker = 1,
                                      .compared = 9,
                                      .differing = 3,
                                      .tensors = {Tensor()}}},
                     .consequences = {{"store", "why"}},
                     .losses = {.compared = 4,
                                .differing = 1,
                                .first = {{.place = "step 3",
                                           .worker = 1,
                                           .incarnation = 2,
                                           .found = "nan",
                                           .found_bits = "7fc00000",
                                           .expected = "1",
                                           .expected_bits = "3f800000"}}},
                     .flaky = true,
                     .tries = {{.verdict = verdict,
                                .seconds = 0.25,
                                .directory = "d1",
                                .cause = "tensor v"}},
                     .verdict = verdict}}};
}

TEST(ResultFileTest, ComesBackAsItWasWritten) {
  const Parsed<RunResult> read = ReadResult(ResultToJson(FullResult()), "r");
  ASSERT_TRUE(read.ok()) << read.error;
  EXPECT_EQ(*read.value, FullResult());
}

TEST(ResultFileTest, BeginsWithItsSchemaAndCounts) {
  EXPECT_THAT(ResultToJson(FullResult()),
              testing::StartsWith("{\n  \"schema\": \"gauntlet.result/v2\",\n"
                                  "  \"counts\": {\n    \"passed\": 0,\n"
                                  "    \"flaky\": 1,"));
}

TEST(ResultFileTest, CountsEachCaseOnce) {
  RunResult result = FullResult();
  for (const VerdictKind kind : {VerdictKind::kPass, VerdictKind::kNotRun}) {
    result.cases[0].verdict.kind = kind;
    result.cases.push_back({.verdict = {.kind = kind}});
  }
  const CaseCounts counts = CountCases(result);
  EXPECT_EQ(counts.flaky, 1u);
  EXPECT_EQ(counts.passed, 1u);
  EXPECT_EQ(counts.failed, 0u);
  EXPECT_EQ(counts.inconclusive, 0u);
  EXPECT_EQ(counts.not_run, 1u);
}

TEST(ResultFileTest, UnrunCase_IsReadBack) {
  const RunResult result = {
      .cases = {{.name = "a",
                 .world = "sim",
                 .verdict = {.kind = VerdictKind::kNotRun}}}};
  const std::string text = ResultToJson(result);
  EXPECT_THAT(text, testing::HasSubstr("\"verdict\": \"NOT RUN\""));
  EXPECT_EQ(ReadResult(text, "r").value, result);
}

TEST(ResultFileTest, ReadsAResultWithoutTries) {
  const Parsed<RunResult> read = ReadResult(
      R"({"schema":"gauntlet.result/v2","cases":[{"name":"a","world":"sim"}]})",
      "r");
  ASSERT_TRUE(read.ok()) << read.error;
  EXPECT_FALSE(read.value->cases[0].flaky);
  EXPECT_TRUE(read.value->cases[0].tries.empty());
}

TEST(ResultFileTest, Error_NamesTheReason) {
  EXPECT_THAT(ReadResult("", "r").error,
              HasSubstr("r: expected one JSON object, found an empty file; "));
  EXPECT_THAT(ReadResult("[]", "r").error, HasSubstr("found an array; "));
  EXPECT_THAT(ReadResult("[1e999]", "r").error,
              HasSubstr("found a number that is too large; "));
  EXPECT_THAT(
      ReadResult("{\n\"a\":\n", "r").error,
      HasSubstr("found text that is no JSON in line 3; gauntlet judge "));
  EXPECT_THAT(ReadResult("{}", "r").error, EndsWith(", found none"));
  EXPECT_THAT(
      ReadResult(R"({"schema":"gauntlet.result/v2","cases":[{"line":-1}]})",
                 "r")
          .error,
      HasSubstr("r: cases.line: expected a whole number"));
  EXPECT_THAT(ReadResult(R"({"schema":"gauntlet.result/v7"})", "r").error,
              HasSubstr("found \"gauntlet.result/v7\"; read the file with the "
                        "build of gauntlet that wrote it"));
}

TEST(ResultFileTest, RefusesCases_WithoutNameOrWithUnknownWorld) {
  CaseResult nameless = {.world = "sim"};
  EXPECT_EQ(ReadResult(ResultToJson({.cases = {nameless}}), "r").error,
            "r: cases[0].name: expected a name, found none");
  CaseResult unknown = {.name = "a", .world = "moon"};
  EXPECT_EQ(ReadResult(ResultToJson({.cases = {unknown}}), "r").error,
            "r: cases[0].world: expected real or sim, found \"moon\"");
}

TEST(ResultFileTest, RefusesCountsContradictingTheCases) {
  const RunResult result = {
      .cases = {{.name = "a",
                 .world = "sim",
                 .verdict = {.kind = VerdictKind::kFail}},
                {.name = "b",
                 .world = "sim",
                 .verdict = {.kind = VerdictKind::kFail}}}};
  const std::string text = ResultToJson(result);
  ASSERT_TRUE(ReadResult(text, "r").ok());
  std::string edited = text;
  edited.replace(edited.rfind("\"FAIL\""), 6, "\"PASS\"");
  EXPECT_THAT(ReadResult(edited, "r").error,
              HasSubstr("r: counts.passed: expected 1, as in cases, found 0: "
                        "the file was changed after it was written"));
  edited = text;
  edited.replace(edited.find("\"failed\": 2"), 11, "\"failed\": 1");
  EXPECT_THAT(ReadResult(edited, "r").error,
              HasSubstr("r: counts.failed: expected 2, as in cases, found 1"));
}

TEST(ResultFileTest, RefusesMalformedTimes) {
  for (const char* seconds : {"-1", "1e300", "true", "2000000000"}) {
    const std::string text =
        std::string(R"({"schema":"gauntlet.result/v2","seconds":)") + seconds +
        "}";
    EXPECT_THAT(ReadResult(text, "r").error, HasSubstr("r: seconds: expected"))
        << seconds;
  }
}

TEST(ResultFileTest, NeverTakesATruncatedFileForAWholeOne) {
  const std::string text = ResultToJson(FullResult());
  for (size_t length = 0; length + 2 < text.size(); ++length) {
    EXPECT_FALSE(ReadResult(text.substr(0, length), "r").ok()) << length;
  }
}

}  // namespace
}  // namespace gauntlet
