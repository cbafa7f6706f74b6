#include "engine/app/ckpt/model_commands.h"

#include <string_view>
#include <vector>

#include "engine/app/ckpt/ckpt_command.h"
#include "engine/app/ckpt/trained_checkpoint.h"
#include "engine/cli/exit_code.h"
#include "engine/train/loop/predict.h"
#include "engine/train/output_overlap.h"
#include "engine/train/save/model_export.h"
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

uint32_t RightOnes(const std::vector<uint8_t>& classes,
                   const std::vector<uint8_t>& labels) {
  uint32_t right = 0;
  for (size_t i = 0; i < classes.size(); ++i) {
    if (classes[i] == labels[i]) ++right;
  }
  return right;
}

}  // namespace

int RunCheckpointExport(const CheckpointExportCommand& command, World& world,
                        Console& console) {
  const std::string store = SplitStorePath(command.path).directory;
  const Status places = CheckOverlap(
      world.storage,
      {.store = {.role = "the checkpoint directory", .path = store},
       .exported = {.role = "the export", .path = command.directory},
       .others = {}});
  if (!places.ok()) return FailCheckpointCommand(console, "export", places);
  const auto trained =
      LoadTrainedCheckpoint(world, command.path, command.data, LoadFor::kModel);
  if (!trained.ok())
    return FailCheckpointCommand(console, "export", trained.status());
  const Status status =
      ExportModel(world, command.directory,
                  {.model = *trained->built.model,
                   .state = *trained->state,
                   .data = trained->data->train,
                   .job_json = trained->head.job_json,
                   .state_digest = trained->head.state_digest});
  if (!status.ok()) return FailCheckpointCommand(console, "export", status);
  fmt::print(console.out, "exported {} to {}\n", trained->path,
             command.directory);
  return static_cast<int>(ExitCode::kOk);
}

int RunCheckpointPredict(const CheckpointPredictCommand& command, World& world,
                         Console& console) {
  const auto trained = LoadTrainedCheckpoint(world, command.path, command.data,
                                             LoadFor::kPredictions);
  if (!trained.ok())
    return FailCheckpointCommand(console, "predict", trained.status());
  const Dataset& data = trained->data->validation;
  const std::vector<uint8_t> classes =
      PredictClasses(*trained->built.model, *trained->state, data);
  if (command.output == OutputFormat::kText) {
    for (const uint8_t value : classes) {
      fmt::print(console.out, "{}\n", static_cast<int>(value));
    }
  } else {
    const nlohmann::ordered_json json = {
        {"checkpoint", trained->path},
        {"step", trained->head.step},
        {"rows", data.samples},
        {"correct", RightOnes(classes, data.labels)},
        {"classes", classes}};
    fmt::print(
        console.out, "{}\n",
        json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace gauntlet
