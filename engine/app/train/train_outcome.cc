#include "engine/app/train/train_outcome.h"

#include <chrono>
#include <cmath>
#include <cstdlib>

#include "engine/check.h"
#include "engine/ckpt/protocol/parent_choice.h"
#include "engine/epoch_text.h"
#include "engine/finite.h"
#include "engine/text/counted.h"
#include "engine/train/worker_exit.h"
#include "engine/utf8.h"
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

using Json = nlohmann::ordered_json;

// Returns null for infinity and NaN, which JSON does not have, and for nullopt:
// the value was not measured.
Json Number(std::optional<double> value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

// Returns the double whose shortest decimal form is the same as the float's.
double Printed(float value) {
  return std::strtod(fmt::format("{}", value).c_str(), nullptr);
}

Json SecondsOf(const std::vector<PartTime>& parts) {
  Json object = Json::object();
  for (const PartTime& part : parts) {
    object[std::string(TimePartName(part.part))] =
        std::chrono::duration<double>(part.took).count();
  }
  return object;
}

Json TimesToJson(const TimeTotals& times) {
  return {{"steps", times.steps},
          {"step_seconds", SecondsOf(times.step_parts)},
          {"saves", times.saves},
          {"save_bytes", times.save_bytes},
          {"save_seconds", SecondsOf(times.save_parts)},
          {"save_background_seconds", SecondsOf(times.save_background)}};
}

std::string NotFiniteText(const TrainResult& result) {
  if (!result.not_finite_since) return "";
  return result.finite
             ? fmt::format(", non-finite at step {}", *result.not_finite_since)
             : fmt::format(", non-finite since step {}",
                           *result.not_finite_since);
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
               {"finite", nullptr},
               {"first_nonfinite_step", nullptr},
               {"resumed_from", nullptr},
               {"seconds", std::round(outcome.seconds * 1000.0) / 1000.0},
               {"times", nullptr}};
  if (result) {
    json["status"] = result->status;
    json["epochs"] = result->epochs;
    json["steps"] = result->steps;
    json["digest"] = result->digest;
    if (result->loss) json["loss"] = Number(Printed(*result->loss));
    json["accuracy"] = Number(result->accuracy);
    json["val_accuracy"] = Number(result->val_accuracy);
    json["finite"] = result->finite;
    if (result->not_finite_since) {
      json["first_nonfinite_step"] = *result->not_finite_since;
    }
    if (result->resumed_from) json["resumed_from"] = *result->resumed_from;
    json["times"] = TimesToJson(result->times);
  }
  if (!outcome.end.reason.empty()) json["reason"] = outcome.end.reason;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string TrainOutcomeToText(const TrainOutcome& outcome) {
  CHECK(outcome.end.result.has_value(), "an outcome to show has a result");
  const TrainResult& result = *outcome.end.result;
  std::string line = fmt::format(
      "{:<8} {}, {}", result.status == "not_finite" ? "stopped" : result.status,
      EpochsCompleted(result.epochs), Counted(result.steps, "step"));
  if (result.loss) {
    line += fmt::format(", loss {:.4f}", CanonicalNan(*result.loss));
  }
  if (result.accuracy) {
    line += fmt::format(", accuracy {:.4f}", *result.accuracy);
  }
  if (result.val_accuracy) {
    line += fmt::format(", val_accuracy {:.4f}", *result.val_accuracy);
  }
  line += NotFiniteText(result);
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

std::string ResumeText(const TrainOutcome& outcome,
                       const TrainOptions& options) {
  const std::string& directory = options.checkpoint.directory;
  const std::optional<TrainResult>& result = outcome.end.result;
  // If the save failed, the exit code is not kStopped.
  if (!result || result->steps == 0 ||
      outcome.end.exit_code != static_cast<int>(WorkerExit::kStopped)) {
    return "";
  }
  if (directory.empty())
    return "no checkpoint is saved: there is no --ckpt DIR";
  return fmt::format("step {} is saved in {}; {} resumes there", result->steps,
                     EscapeBytes(directory),
                     options.horizon.stop_at_step
                         ? "the next run without --stop-at-step"
                         : "the same command");
}

std::string BeyondHorizonText(const TrainOutcome& outcome,
                              const TrainOptions& options) {
  const std::optional<TrainResult>& result = outcome.end.result;
  if (!result || result->resumed_from != result->steps) return "";
  const Horizon& horizon = options.horizon;
  std::string requested;
  if (result->epochs > horizon.epochs) {
    requested = Counted(horizon.epochs, "epoch");
  }
  if (horizon.max_steps && result->steps > *horizon.max_steps) {
    requested = Counted(*horizon.max_steps, "step");
  }
  if (requested.empty()) return "";
  return fmt::format(
      "{} is at step {}, beyond the {} requested: nothing was trained",
      EscapeBytes(options.checkpoint.directory), result->steps, requested);
}

std::string ReasonWithAdvice(const LaunchEnd& end) {
  // Other refusals have the same exit code.
  const bool none_is_valid =
      end.exit_code == static_cast<int>(WorkerExit::kNoCheckpoint) &&
      end.reason.find(kNoneIsValid) != end.reason.npos;
  if (!none_is_valid) return end.reason;
  return end.reason +
         ". To start from scratch, use another checkpoint directory (--ckpt), "
         "or --allow-cold-start";
}

void PrintTrainOutcome(const TrainOutcome& outcome, OutputFormat format,
                       const TrainOptions& options, Console& console) {
  if (format == OutputFormat::kJson) {
    fmt::print(console.out, "{}\n", TrainOutcomeToJson(outcome));
    return;
  }
  if (!outcome.end.result) return;
  fmt::print(console.out, "{}\n", TrainOutcomeToText(outcome));
  console.Flush();  // so that the result comes first
  for (const std::string& note :
       {ResumeText(outcome, options), BeyondHorizonText(outcome, options)}) {
    if (!note.empty()) fmt::print(console.err, "{}\n", note);
  }
}

}  // namespace gauntlet
