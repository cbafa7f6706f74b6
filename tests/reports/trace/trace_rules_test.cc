#include "tests/reports/trace/trace_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/trace/chrome_trace.h"
#include "tests/reports/sample_record.h"

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

// Returns a trace of the events, on a named process and thread.
std::string Trace(const std::string& events) {
  return R"({"traceEvents":[
    {"ph":"M","name":"process_name","pid":1,"tid":1,"args":{"name":"a"}},
    {"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"b"}},)" +
         events + "]}";
}

struct Row {
  const char* events;
  const char* violation;  // begin of the text; "": none
};

constexpr Row kRows[] = {
    {R"({"ph":"B","name":"s","pid":1,"tid":1,"ts":0},
        {"ph":"X","name":"in","pid":1,"tid":1,"ts":1.5,"dur":0.5},
        {"ph":"E","name":"s","pid":1,"tid":1,"ts":3})",
     ""},
    {R"({"ph":"i","name":"s","pid":1,"tid":1,"ts":0})", "expected a scope"},
    {R"({"ph":"i","pid":1,"tid":1,"ts":0,"s":"p"})", "expected a name"},
    {R"({"ph":"i","name":"s","pid":"1","tid":1,"ts":0,"s":"p"})",
     "expected whole numbers as pid and tid"},
    {R"({"ph":"i","name":"s","pid":1,"tid":1,"s":"p"})", "expected a time"},
    {R"({"ph":"i","name":"s","pid":1,"tid":1,"ts":"1","s":"p"})",
     "expected a time"},
    {R"({"ph":"i","name":"s","pid":1,"tid":1,"ts":-1,"s":"p"})",
     "expected a time"},
    {R"({"ph":"i","name":"s","pid":1,"tid":1,"ts":1e16,"s":"p"})",
     "expected a time"},
    {R"({"ph":"i","name":"s","pid":1,"tid":2,"ts":0,"s":"p"})",
     "thread 2 has no name"},
    {R"({"ph":"?","name":"s","pid":1,"tid":1,"ts":0})", "unknown phase"},
    {R"({"ph":"X","name":"s","pid":1,"tid":1,"ts":0})", "expected a duration"},
    {R"({"ph":"X","name":"s","pid":1,"tid":1,"ts":0,"dur":2},
        {"ph":"X","name":"t","pid":1,"tid":1,"ts":1,"dur":2})",
     "thread 1: 1000-3000 ns overlaps"},
    {R"({"ph":"B","name":"s","pid":1,"tid":1,"ts":0})", "B without an E"},
    {R"({"ph":"E","name":"s","pid":1,"tid":1,"ts":0})", "E without a B"},
    {R"({"ph":"B","name":"s","pid":1,"tid":1,"ts":0},
        {"ph":"E","name":"t","pid":1,"tid":1,"ts":1})",
     "E names another slice"},
    {R"({"ph":"C","name":"s","pid":1,"tid":1,"ts":0,"args":{"a":"1"}})",
     "expected numbers in args"},
    {R"({"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"b"}})",
     "named twice"},
    {R"({"ph":"M","name":"thread_name","pid":2,"tid":1,"args":{"name":"b"}})",
     "thread number of two processes"},
    {R"({"ph":"M","name":"thread_title","pid":1,"tid":1})", "unknown metadata"},
    {R"({"ph":"M","name":"thread_sort_index","pid":1,"tid":1,"args":{}})",
     "expected args.sort_index"},
    {R"({"ph":"X","name":"s","pid":1,"tid":1,"ts":0,"dur":2},
        {"ph":"s","cat":"c","id":1,"name":"s","pid":1,"tid":1,"ts":0},
        {"ph":"f","cat":"c","id":1,"bp":"e","name":"s","pid":1,"tid":1,"ts":1})",
     ""},
    {R"({"ph":"X","name":"s","pid":1,"tid":1,"ts":0,"dur":2},
        {"ph":"s","cat":"c","id":1,"name":"s","pid":1,"tid":1,"ts":1},
        {"ph":"f","cat":"c","id":1,"bp":"e","name":"s","pid":1,"tid":1,"ts":0})",
     "flow ends before it starts"},
    {R"({"ph":"X","name":"s","pid":1,"tid":1,"ts":0,"dur":2},
        {"ph":"s","cat":"c","id":1,"name":"s","pid":1,"tid":1,"ts":0},
        {"ph":"f","cat":"c","id":1,"bp":"e","name":"s","pid":1,"tid":1,"ts":2})",
     "f of flow c 1 is at no slice"},
    {R"({"ph":"X","name":"s","pid":1,"tid":1,"ts":0,"dur":2},
        {"ph":"s","cat":"c","id":1,"name":"s","pid":1,"tid":1,"ts":0})",
     "flow without s or f"},
    {R"({"ph":"b","cat":"c","id":1,"name":"s","pid":1,"tid":1,"ts":0},
        {"ph":"b","cat":"c","id":1,"name":"t","pid":1,"tid":1,"ts":1},
        {"ph":"e","cat":"c","id":1,"name":"t","pid":1,"tid":1,"ts":2},
        {"ph":"e","cat":"c","id":1,"name":"s","pid":1,"tid":1,"ts":3})",
     ""},
    {R"({"ph":"b","cat":"c","id":1,"name":"s","pid":1,"tid":1,"ts":0})",
     "b without an e"},
    {R"({"ph":"e","cat":"c","id":1,"name":"s","pid":1,"tid":1,"ts":0})",
     "without a b before it"},
};

TEST(TraceRulesTest, EachRuleFindsItsViolation) {
  for (const Row& row : kRows) {
    const std::vector<std::string> found = TraceViolations(Trace(row.events));
    if (std::string_view(row.violation).empty()) {
      EXPECT_THAT(found, IsEmpty()) << row.events;
    } else {
      EXPECT_THAT(found, ElementsAre(StartsWith(row.violation))) << row.events;
    }
  }
}

TEST(TraceRulesTest, OtherTextIsNoTrace) {
  for (const char* text : {"", "[]", "{}", R"({"traceEvents":1})", "\xff"}) {
    EXPECT_THAT(TraceViolations(text),
                ElementsAre(StartsWith("expected an object")));
  }
}

TEST(TraceRulesTest, TraceMayBeTooLarge) {
  EXPECT_THAT(TraceViolations(RenderChromeTrace(SampleRecord()), 100),
              ElementsAre(StartsWith("expected at most 100 bytes")));
}

TEST(TraceRulesTest, TracesOfRecordsKeepTheRules) {
  EXPECT_THAT(TraceViolations(RenderChromeTrace(SampleRecord())), IsEmpty());
  EXPECT_THAT(TraceViolations(RenderChromeTrace({})), IsEmpty());
}

}  // namespace
}  // namespace gauntlet
