#include "harness/record/result/result_file.h"

#include <algorithm>
#include <string>

#include "harness/record/json_fields.h"
#include <fmt/format.h>

namespace gauntlet {

template <class Archive>
void Describe(Archive& a, typename Archive::template Ref<Finding> finding) {
  a.Field("invariant", finding.invariant);
  a.Field("name", finding.name);
  a.Field("message", finding.message);
  a.Field("met", finding.met);
}

template <class Archive>
void Describe(Archive& a,
              typename Archive::template Ref<InvariantReport> report) {
  a.Field("invariant", report.invariant);
  a.Field("instances", report.instances);
  a.Field("breaches", report.violations);
  a.Field("findings", report.findings);
}

template <class Archive>
void Describe(Archive& a, typename Archive::template Ref<RunFacts> facts) {
  a.Field("faults_fired", facts.faults_fired);
  a.Field("restarts", facts.restarts);
  a.Field("requeues", facts.requeues);
  a.Field("resumed_from", facts.resumed_from);
  a.Field("resumed_from_memory", facts.resumed_from_memory);
  a.Field("recomputed_steps", facts.max_recomputed_steps);
  a.Field("recomputed_distinct", facts.distinct_recomputed_steps);
  a.Field("recomputations", facts.recomputations);
  a.Field("failed_saves", facts.failed_saves);
  a.Field("refused", facts.refused);
}

template <class Archive>
void Describe(Archive& a, typename Archive::template Ref<Verdict> verdict) {
  a.Field("verdict", verdict.kind);
  a.Field("reason", verdict.reason);
  a.Field("only_expectations", verdict.fails_only_expectations);
  a.Field("facts", verdict.facts);
  a.Field("broken_expectations", verdict.broken_expectations);
  a.Field("invariants", verdict.invariants);
  a.Field("story", verdict.timeline);
}

template <class Archive>
void Describe(Archive& a,
              typename Archive::template Ref<DifferingElement> element) {
  a.Field("index", element.index);
  a.Field("found", element.found);
  a.Field("found_bits", element.found_bits);
  a.Field("expected", element.expected);
  a.Field("expected_bits", element.expected_bits);
  a.Field("ulps", element.ulps);
}

template <class Archive>
void Describe(Archive& a,
              typename Archive::template Ref<DifferingTensor> tensor) {
  a.Field("name", tensor.name);
  a.Field("mismatch", tensor.mismatch);
  a.Field("elements", tensor.elements);
  a.Field("differing", tensor.differing);
  a.Field("first", tensor.first);
}

template <class Archive>
void Describe(Archive& a,
              typename Archive::template Ref<StateDifference> difference) {
  a.Field("place", difference.place);
  a.Field("operation", difference.operation);
  a.Field("replica", difference.replica);
  a.Field("worker", difference.worker);
  a.Field("alike", difference.alike);
  a.Field("compared", difference.compared);
  a.Field("differing", difference.differing);
  a.Field("tensors", difference.tensors);
}

template <class Archive>
void Describe(Archive& a, typename Archive::template Ref<LossDifference> loss) {
  a.Field("place", loss.place);
  a.Field("worker", loss.worker);
  a.Field("incarnation", loss.incarnation);
  a.Field("found", loss.found);
  a.Field("found_bits", loss.found_bits);
  a.Field("expected", loss.expected);
  a.Field("expected_bits", loss.expected_bits);
  a.Field("ulps", loss.ulps);
}

template <class Archive>
void Describe(Archive& a,
              typename Archive::template Ref<LossDifferences> losses) {
  a.Field("compared", losses.compared);
  a.Field("differing", losses.differing);
  a.Field("first", losses.first);
}

template <class Archive>
void Describe(Archive& a,
              typename Archive::template Ref<Consequence> consequence) {
  a.Field("invariant", consequence.invariant);
  a.Field("why", consequence.why);
}

template <class Archive>
void Describe(Archive& a,
              typename Archive::template Ref<FailureSummary> summary) {
  a.Field("faults", summary.faults);
  a.Field("recovery", summary.recovery);
  a.Field("training", summary.training);
  a.Field("next", summary.next);
  a.Field("planted", summary.planted);
}

template <class Archive>
void Describe(Archive& a, typename Archive::template Ref<CaseTry> one) {
  Describe(a, one.verdict);
  a.Field("seconds", one.seconds);
  a.Field("directory", one.directory);
  a.Field("cause", one.cause);
}

template <class Archive>
void Describe(Archive& a, typename Archive::template Ref<CaseResult> result) {
  a.Field("name", result.name);
  a.Field("scenario", result.scenario);
  a.Field("file", result.file);
  a.Field("line", result.line);
  a.Field("expect_line", result.expect_line);
  a.Field("seed", result.seed);
  a.Field("world", result.world);
  a.Field("seconds", result.seconds);
  a.Field("reference_seconds", result.reference_seconds);
  a.Field("replay", result.replay);
  a.Field("timeline", result.timeline);
  a.Field("directory", result.directory);
  a.Field("cause", result.cause);
  a.Field("summary", result.summary);
  a.Field("planted_bugs", result.planted_bugs);
  a.Field("differences", result.differences);
  a.Field("consequences", result.consequences);
  a.Field("losses", result.losses);
  a.Field("flaky", result.flaky);
  a.Field("tries", result.tries);
  Describe(a, result.verdict);
}

template <class Archive>
void Describe(Archive& a, typename Archive::template Ref<RunResult> result) {
  a.Field("run", result.run);
  a.Field("seed", result.seed);
  a.Field("build", result.build);
  a.Field("command", result.command);
  a.Field("scenarios", result.scenarios);
  a.Field("seconds", result.seconds);
  a.Field("cases", result.cases);
}

namespace {

struct NamedCount {
  const char* name;
  uint64_t CaseCounts::*count;
};
constexpr NamedCount kNamedCounts[] = {
    {"passed", &CaseCounts::passed},
    {"flaky", &CaseCounts::flaky},
    {"failed", &CaseCounts::failed},
    {"inconclusive", &CaseCounts::inconclusive},
    {"not_run", &CaseCounts::not_run},
    {"skipped", &CaseCounts::skipped}};

}  // namespace

template <class Archive>
void Describe(Archive& a, typename Archive::template Ref<CaseCounts> counts) {
  for (const NamedCount& one : kNamedCounts) {
    a.Field(one.name, counts.*one.count);
  }
}

namespace {

constexpr std::string_view kResultSchema = "gauntlet.result/v2";

// Describes the first count of the file that differs from the number of its
// cases, as one line; "" if none differs.
std::string CountDifference(const CaseCounts& stored,
                            const CaseCounts& of_cases) {
  for (const NamedCount& one : kNamedCounts) {
    if (stored.*one.count == of_cases.*one.count) continue;
    return fmt::format(
        "counts.{}: expected {}, as in cases, found {}: the file was changed "
        "after it was written; gauntlet judge gives the verdicts of the "
        "records",
        one.name, of_cases.*one.count, stored.*one.count);
  }
  return "";
}

}  // namespace

void Count(const CaseResult& one, CaseCounts& counts) {
  if (one.flaky) {
    ++counts.flaky;
    return;
  }
  switch (one.verdict.kind) {
    case VerdictKind::kPass:
      ++counts.passed;
      return;
    case VerdictKind::kFail:
      ++counts.failed;
      return;
    case VerdictKind::kError:
      ++counts.inconclusive;
      return;
    case VerdictKind::kSkip:
      ++counts.skipped;
      return;
    case VerdictKind::kNotRun:
      ++counts.not_run;
      return;
  }
}

CaseCounts CountCases(const RunResult& result) {
  CaseCounts counts;
  for (const CaseResult& one : result.cases) Count(one, counts);
  return counts;
}

std::string ResultToJson(const RunResult& result) {
  Json object = Json::object();
  object["schema"] = kResultSchema;
  JsonWriter writer(object, JsonWriter::Defaults::kWrite);
  writer.Field("counts", CountCases(result));
  Describe(writer, result);
  return DumpJson(object, 2) + "\n";
}

std::string DifferencesToJson(const std::vector<StateDifference>& differences) {
  Json object = Json::object();
  JsonWriter writer(object, JsonWriter::Defaults::kWrite);
  writer.Field("differences", differences);
  return DumpJson(object["differences"], -1);
}

namespace {

// Returns the error of the first case without a name or with an unknown world;
// "" if there is none.
std::string CaseError(const std::vector<CaseResult>& cases) {
  for (size_t i = 0; i < cases.size(); ++i) {
    const CaseResult& one = cases[i];
    if (one.name.empty()) {
      return fmt::format("cases[{}].name: expected a name, found none", i);
    }
    if (one.world != "real" && one.world != "sim") {
      return fmt::format("cases[{}].world: expected real or sim, found \"{}\"",
                         i, one.world.substr(0, 40));
    }
  }
  return "";
}

// Describes a text that is not a JSON object: "an array", "text that is no JSON
// in line 3".
std::string KindOfText(std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == text.npos) return "an empty file";
  try {
    const Json value = Json::parse(text);
    return fmt::format("{} {}", value.is_array() ? "an" : "a",
                       value.type_name());
  } catch (const Json::parse_error& error) {
    const std::string_view read = text.substr(0, error.byte);
    return fmt::format("text that is no JSON in line {}",
                       std::ranges::count(read, '\n') + 1);
  } catch (const Json::exception&) {
    return "a number that is too large";
  }
}

}  // namespace

Parsed<RunResult> ReadResult(std::string_view text, std::string_view name) {
  const auto wrong = [&](std::string_view error) {
    return Refused<RunResult>(fmt::format("{}: {}", name, error));
  };
  if (NestsTooDeeply(text)) {
    return wrong("expected JSON of at most 32 levels, found more");
  }
  const Json object = Json::parse(text, nullptr, false);
  if (!object.is_object()) {
    return wrong(fmt::format(
        "expected one JSON object, found {}; gauntlet judge judges the records "
        "of the run again",
        KindOfText(text)));
  }
  std::string error;
  std::string schema;
  RunResult result;
  JsonReader reader(object, "", error);
  reader.Field("schema", schema);
  if (error.empty() && schema != kResultSchema) {
    return wrong(fmt::format(
        "schema: expected {}, found {}", kResultSchema,
        schema.empty() ? "none"
                       : fmt::format("\"{}\"; read the file with the build "
                                     "of gauntlet that wrote it, or run the "
                                     "scenarios again",
                                     schema.substr(0, 40))));
  }
  std::optional<CaseCounts> counts;
  reader.Field("counts", counts);
  Describe(reader, result);
  if (error.empty()) error = CaseError(result.cases);
  if (error.empty() && counts) {
    error = CountDifference(*counts, CountCases(result));
  }
  if (!error.empty()) return wrong(error);
  return {.value = std::move(result), .error = ""};
}

}  // namespace gauntlet
