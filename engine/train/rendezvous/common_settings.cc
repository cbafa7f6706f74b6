#include "engine/train/rendezvous/common_settings.h"

#include <string_view>

#include "engine/cluster/link/control_messages.h"
#include "engine/cluster/link/protobuf_edge.h"
#include "engine/job/job.h"
#include "engine/job/strict_json.h"
#include "engine/train/rendezvous/rendezvous.pb.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Decodes the settings and the job into one object.
Result<Json> Decode(std::string_view encoded) {
  wire::CommonSettings message;
  if (!ParseMessage(encoded, message)) {
    return DataLoss("the settings are malformed");
  }
  ASSIGN_OR_RETURN(Json all, ParseStrictJson(message.job(), "job"));
  if (!all.is_object()) {
    return DataLoss("job: expected a JSON object");
  }
  for (const wire::Setting& setting : message.settings()) {
    all[setting.name()] = setting.value();
  }
  return all;
}

std::string CompactJson(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string EncodeCommonSettings(const TrainOptions& options,
                                 const std::string& job_json) {
  wire::CommonSettings message;
  for (const AgreedSetting& setting : AgreedSettings(options)) {
    wire::Setting& one = *message.add_settings();
    one.set_name(setting.name.data(), setting.name.size());
    one.set_value(setting.value);
  }
  message.set_job(job_json);
  return message.SerializeAsString();
}

Status CheckSettings(std::string_view encoded) {
  return Decode(encoded).status();
}

Status CompareSettings(std::string_view chief, std::string_view other,
                       size_t rank) {
  if (chief == other) return OkStatus();
  ASSIGN_OR_RETURN(const Json expected, Decode(chief));
  const Result<Json> found = Decode(other);
  if (!found.ok()) {
    return Unavailable(
        fmt::format("rank {}: {}", rank, found.status().message()));
  }
  const std::string where = fmt::format("at rank {}", rank);
  const std::string difference = DescribeJsonDifference(
      {.json = CompactJson(expected), .where = "at the chief"},
      {.json = CompactJson(*found), .where = where});
  return InvalidArgument(
      fmt::format("rank {} was told something else than the chief: {}", rank,
                  Shortened(difference)));
}

}  // namespace gauntlet
