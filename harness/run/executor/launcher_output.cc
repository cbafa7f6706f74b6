#include "harness/run/executor/launcher_output.h"

#include <bit>
#include <cstdint>
#include <limits>

#include "engine/finite.h"
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

// Returns 0 if the field is missing or has another type: another program may
// have printed this text.
uint64_t CountIn(const nlohmann::json& json, const char* key) {
  const auto field = json.find(key);
  return field != json.end() && field->is_number_unsigned()
             ? field->get<uint64_t>()
             : 0;
}

std::string TextIn(const nlohmann::json& json, const char* key) {
  const auto field = json.find(key);
  return field != json.end() && field->is_string() ? field->get<std::string>()
                                                   : "";
}

double NumberIn(const nlohmann::json& json, const char* key) {
  const auto field = json.find(key);
  return field != json.end() && field->is_number() ? field->get<double>() : 0.0;
}

// Returns the last line that is a JSON object. Other lines, for people, may
// come after it.
nlohmann::json LastObject(std::string_view text) {
  while (!text.empty()) {
    const size_t begin = text.rfind('\n');
    const bool only = begin == text.npos;
    nlohmann::json json =
        nlohmann::json::parse(only ? text : text.substr(begin + 1), nullptr,
                              /*allow_exceptions=*/false);
    if (json.is_object()) return json;
    text = only ? std::string_view() : text.substr(0, begin);
  }
  return nullptr;
}

// Returns the bits of the loss. JSON has no NaN, so null stands for a NaN.
uint32_t LossIn(const nlohmann::json& json) {
  const auto loss = json.find("loss");
  const bool is_nan = loss != json.end() && loss->is_null();
  return std::bit_cast<uint32_t>(
      is_nan ? CanonicalNan(std::numeric_limits<float>::quiet_NaN())
             : static_cast<float>(NumberIn(json, "loss")));
}

}  // namespace

LauncherRun ReadLauncherOutput(std::string_view printed, const ChildEnd& end) {
  LauncherRun run = {.exit_code = end.code};
  const nlohmann::json json = LastObject(printed);
  if (!json.is_object()) return run;
  run.restarts = CountIn(json, "restarts");
  const std::string status = TextIn(json, "status");
  if (status != "done" && status != "stopped" && status != "not_finite") {
    return run;
  }
  run.result = FinalResult{.status = status,
                           .epochs = CountIn(json, "epochs"),
                           .steps = CountIn(json, "steps"),
                           .digest = TextIn(json, "digest"),
                           .loss_bits = LossIn(json)};
  return run;
}

}  // namespace gauntlet
