// Queue of summaries that one task computes and another one writes.
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
  // Creates a file of TensorBoard's events in `directory`, and the directory if
  // it is missing. Because of the new file, readers of the directory discard
  // points of `first_step` and later steps in earlier files.
  static Result<std::unique_ptr<SummaryService>> Open(
      World& world, const std::string& directory, uint64_t first_step);

  // Adds scalars for the next Write. Thread-safe.
  void Add(uint64_t step, std::vector<Scalar> scalars);

  // Writes the added scalars in order, and syncs the file. Must not be called
  // by two tasks at once. After an error, unwritten scalars are lost.
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
