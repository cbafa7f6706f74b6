// Summaries that one task computes and another one writes.
#ifndef GAUNTLET_ENGINE_API_SUMMARY_SERVICE_H_
#define GAUNTLET_ENGINE_API_SUMMARY_SERVICE_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/status.h"
#include "engine/summary/summary_writer.h"
#include "engine/world/world.h"

namespace gauntlet {

class SummaryService {
 public:
  // Creates an event file in `directory`, and the directory if it is missing.
  // Readers discard what earlier files have of `first_step` and later steps.
  static Result<std::unique_ptr<SummaryService>> Open(
      World& world, const std::string& directory, uint64_t first_step);

  // Takes them for the next Write. Safe from any task.
  void Add(uint64_t step, std::vector<Scalar> scalars);

  // Writes what was added, in that order, and makes it durable. One task at a
  // time. After an error what was not written is gone.
  Status Write();

 private:
  struct Computed {
    uint64_t step = 0;
    std::vector<Scalar> scalars;
  };

  explicit SummaryService(std::unique_ptr<SummaryWriter> writer)
      : writer_(std::move(writer)) {}

  std::unique_ptr<SummaryWriter> writer_;
  std::mutex mutex_;
  std::vector<Computed> computed_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_API_SUMMARY_SERVICE_H_
