#include "harness/record/event_file.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using testing::HasSubstr;

constexpr char kHeader[] =
    R"({"kind":"header","schema":"gauntlet.events/v2","worker":1,"incarnation":2})"
    "\n";
constexpr char kStep[] =
    R"({"kind":"step","t_ns":7,"generation":3,"step":5,"epoch":1,)"
    R"("position":32,"phase":"evaluation_due","count":-4,"loss":"3f9d70a4",)"
    R"("digest":"00112233445566778899aabbccddeeff","path":"p","detail":"d",)"
    R"("samples":[4,1]})"
    "\n";

std::string ErrorOf(const std::string& text) {
  const Parsed<IncarnationEvents> parsed =
      ReadEventFile(text, "worker-1-incarnation-2.jsonl");
  EXPECT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.error.find('\n'), std::string::npos) << "one line only";
  return parsed.error;
}

TEST(EventFileTest, ReadsEveryFieldOfAnEvent) {
  const auto parsed = ReadEventFile(std::string(kHeader) + kStep, "f");
  ASSERT_TRUE(parsed.ok()) << parsed.error;
  EXPECT_EQ(parsed.value->worker, 1);
  EXPECT_EQ(parsed.value->number, 2);
  const RecordEvent expected{.kind = RecordKind::kStep,
                             .t_ns = 7,
                             .generation = 3,
                             .step = 5,
                             .epoch = 1,
                             .position = 32,
                             .phase = RecordPhase::kEvaluationDue,
                             .count = -4,
                             .loss_bits = 0x3f9d70a4,
                             .digest = "00112233445566778899aabbccddeeff",
                             .path = "p",
                             .detail = "d",
                             .samples = {4, 1}};
  ASSERT_EQ(parsed.value->events.size(), 1u);
  EXPECT_EQ(parsed.value->events[0], expected);
}

TEST(EventFileTest, TakesMissingFieldsForZero) {
  const auto parsed = ReadEventFile(
      std::string(kHeader) + "{\"kind\":\"notice_received\"}\n", "f");
  ASSERT_TRUE(parsed.ok()) << parsed.error;
  EXPECT_EQ(parsed.value->events[0],
            (RecordEvent{.kind = RecordKind::kNotice}));
}

TEST(EventFileTest, IgnoresATornLastLineWhereverItIsTorn) {
  const std::string whole = std::string(kHeader) + kStep;
  const std::string torn = kStep;
  for (size_t length = 0; length < torn.size(); ++length) {
    const auto parsed = ReadEventFile(whole + torn.substr(0, length), "f");
    ASSERT_TRUE(parsed.ok()) << length << ": " << parsed.error;
    EXPECT_EQ(parsed.value->events.size(), 1u) << length;
  }
}

TEST(EventFileTest, IncarnationThatIsTornInItsHeaderIsAnError) {
  const std::string header = kHeader;
  for (size_t length = 0; length < header.size(); ++length) {
    EXPECT_THAT(ErrorOf(header.substr(0, length)), HasSubstr("no whole line"));
  }
}

TEST(EventFileTest, Error_NamesTheLineAndTheReason) {
  const struct {
    std::string line;
    std::string expected;
  } kCases[] = {
      {"{\"kind\":\"step\"", "found what is not JSON"},
      {"", "found what is not JSON"},
      {"[1]", "expected one JSON object, found an array"},
      {"{\"step\":1}", "kind: expected a string, found none"},
      {"{\"kind\":7}", "kind: expected a string, found none"},
      {"{\"kind\":\"stepp\"}", "kind: expected a known event, found \"stepp\""},
      {"{\"kind\":\"step\",\"step\":-1}", "step: expected a whole number"},
      {"{\"kind\":\"step\",\"step\":1.5}", "step: expected a whole number"},
      {"{\"kind\":\"step\",\"step\":\"1\"}", "step: expected a whole number"},
      {"{\"kind\":\"step\",\"step\":1e99}", "step: expected a whole number"},
      {"{\"kind\":\"step\",\"loss\":\"xyz\"}", "loss: expected 8 hex digits"},
      {"{\"kind\":\"step\",\"loss\":\"-3f9d70a\"}", "loss: expected 8 hex"},
      {"{\"kind\":\"step\",\"loss\":1}", "loss: expected 8 hex digits"},
      {"{\"kind\":\"step\",\"digest\":\"ab\"}", "digest: expected 32 hex"},
      {"{\"kind\":\"step\",\"phase\":\"x\"}", "phase: expected a known name"},
      {"{\"kind\":\"step\",\"samples\":7}", "samples: expected a list"},
      {"{\"kind\":\"step\",\"samples\":[-1]}", "samples: expected a whole"},
      {"{\"kind\":\"step\",\"samples\":[4294967296]}", "samples: expected a"},
      {"{\"kind\":\"step\",\"path\":[]}", "path: expected a string, found []"},
      {"{\"kind\":\"header\"}", "kind: expected a known event"},
      {std::string(100'000, '['), "at most 32 levels"},
      {"{\"kind\":\"step\",\"path\":\"\xff\"}", "found what is not JSON"},
  };
  for (const auto& [line, expected] : kCases) {
    const std::string error = ErrorOf(kHeader + line + "\n");
    EXPECT_THAT(error, HasSubstr(expected)) << line.substr(0, 80);
    EXPECT_THAT(error, HasSubstr("worker-1-incarnation-2.jsonl:2: "));
  }
}

TEST(EventFileTest, RefusesAnInvalidHeader) {
  for (
      const char* header :
      {R"({"kind":"step","worker":1,"incarnation":1})",
       R"({"kind":"header","schema":"gauntlet.events/v9","worker":1,"incarnation":1})",
       R"({"kind":"header","schema":"gauntlet.events/v2","incarnation":1})",
       R"({"kind":"header","schema":"gauntlet.events/v2","worker":1})",
       R"({"kind":"header","schema":"gauntlet.events/v2","worker":-2,"incarnation":1})",
       R"({"kind":"header","schema":7,"worker":1,"incarnation":1})"}) {
    EXPECT_THAT(ErrorOf(std::string(header) + "\n"),
                HasSubstr("worker-1-incarnation-2.jsonl:1: "))
        << header;
  }
}

}  // namespace
}  // namespace gauntlet
