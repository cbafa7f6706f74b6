#include "harness/cli/train_outcome.h"

#include <cmath>
#include <cstdlib>

#include "engine/check.h"
#include "reports/counted.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no infinities and no NaN.
Json Number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

// The double that prints as the float does.
double Printed(float value) {
  return std::strtod(fmt::format("{}", value).c_str(), nullptr);
}

}  // namespace

std::string TrainOutcomeToJson(const TrainOutcome& outcome) {
  const std::optional<TrainResult>& result = outcome.end.result;
  Json json = {{"status", "failed"},
               {"epochs", nullptr},
               {"steps", nullptr},
               {"digest", nullptr},
               {"loss", nullptr},
               {"accuracy", nullptr},
               {"val_accuracy", nullptr},
               {"restarts", outcome.end.restarts},
               {"resumed_from", nullptr},
               {"seconds", std::round(outcome.seconds * 1000.0) / 1000.0}};
  if (result) {
    json["status"] = result->status;
    json["epochs"] = result->epochs;
    json["steps"] = result->steps;
    json["digest"] = result->digest;
    json["loss"] = Number(Printed(result->loss));
    json["accuracy"] = Number(result->accuracy);
    json["val_accuracy"] = Number(result->val_accuracy);
    if (result->resumed_from) json["resumed_from"] = *result->resumed_from;
  }
  if (!outcome.end.reason.empty()) json["reason"] = outcome.end.reason;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string TrainOutcomeToText(const TrainOutcome& outcome) {
  CHECK(outcome.end.result.has_value(), "an outcome to show has a result");
  const TrainResult& result = *outcome.end.result;
  std::string line = fmt::format("{:<8} {}, {}, loss {:.4f}, accuracy {:.1f}%",
                                 result.status, Counted(result.epochs, "epoch"),
                                 Counted(result.steps, "step"), result.loss,
                                 result.accuracy * 100.0);
  if (std::isfinite(result.val_accuracy)) {
    line += fmt::format(", validation {:.1f}%", result.val_accuracy * 100.0);
  }
  if (result.resumed_from) {
    line += fmt::format(", resumed from step {}", *result.resumed_from);
  }
  if (outcome.end.restarts > 0) {
    line +=
        ", " + Counted(static_cast<uint64_t>(outcome.end.restarts), "restart");
  }
  return line +
         fmt::format(", {:.1f} s, state {}", outcome.seconds, result.digest);
}

}  // namespace gauntlet
