#include "harness/record/event_file.h"

#include "harness/record/json_fields.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr std::string_view kEventSchema = "gauntlet.events/v2";

struct Header {
  std::string schema;
  int worker = kLauncherWorker - 1;
  int incarnation = -1;
};

template <class Archive>
void Describe(Archive& a, typename Archive::template Ref<Header> header) {
  a.Field("schema", header.schema);
  a.Field("worker", header.worker);
  a.Field("incarnation", header.incarnation);
}

std::string ReadHeader(const Json& object, IncarnationEvents& incarnation) {
  std::string error;
  Header header;
  JsonReader reader(object, "", error);
  Describe(reader, header);
  if (!error.empty()) return error;
  if (object["kind"] != "header" || header.schema != kEventSchema) {
    return fmt::format(
        "expected a header of schema {}, found kind {} and schema \"{}\"",
        kEventSchema, DumpJson(object["kind"], -1),
        header.schema.substr(0, 40));
  }
  if (header.worker < kLauncherWorker || header.worker >= kMaxWorkers) {
    return fmt::format(
        "worker: expected 0 to {}, or -1 for a launcher, in the header",
        kMaxWorkers - 1);
  }
  if (header.incarnation < 1)
    return "incarnation: expected 1 or more in the header";
  incarnation.worker = header.worker;
  incarnation.number = header.incarnation;
  return "";
}

// Adds the event of the line, or returns what is wrong with the line.
std::string ReadLine(std::string_view line, bool first,
                     IncarnationEvents& incarnation) {
  std::string error;
  const Json object = ParseJsonLine(line, error);
  if (!error.empty()) return error;
  if (first) return ReadHeader(object, incarnation);
  const auto kind = FindRecordKind(object["kind"].get<std::string>());
  if (!kind) {
    return fmt::format("kind: expected a known event, found {}",
                       DumpJson(object["kind"], -1).substr(0, 60));
  }
  RecordEvent event = EventOfJson(object, *kind, error);
  if (error.empty()) incarnation.events.push_back(std::move(event));
  return error;
}

}  // namespace

Parsed<IncarnationEvents> ReadEventFile(std::string_view text,
                                        std::string_view name) {
  IncarnationEvents incarnation;
  size_t line_number = 0;
  while (true) {
    const size_t end = text.find('\n');
    // A line without a line feed was cut off by a kill and is ignored.
    if (end == std::string_view::npos) break;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    ++line_number;
    const std::string error = ReadLine(line, line_number == 1, incarnation);
    if (!error.empty()) {
      return Refused<IncarnationEvents>(
          fmt::format("{}:{}: {}", name, line_number, error));
    }
  }
  if (line_number == 0) {
    return Refused<IncarnationEvents>(
        fmt::format("{}:1: expected a header of schema {}, found no whole line",
                    name, kEventSchema));
  }
  return {.value = std::move(incarnation), .error = ""};
}

}  // namespace gauntlet
