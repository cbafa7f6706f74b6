#include "engine/api/summary_service.h"

#include <utility>

namespace gauntlet {

Result<std::unique_ptr<SummaryService>> SummaryService::Open(
    World& world, const std::string& directory, uint64_t first_step) {
  ASSIGN_OR_RETURN(std::unique_ptr<SummaryWriter> writer,
                   SummaryWriter::Open(world, directory, first_step));
  return std::unique_ptr<SummaryService>(new SummaryService(std::move(writer)));
}

void SummaryService::Add(uint64_t step, std::vector<Scalar> scalars) {
  const std::lock_guard lock(mutex_);
  computed_.push_back({.step = step, .scalars = std::move(scalars)});
}

Status SummaryService::Write() {
  std::vector<Computed> computed;
  {
    const std::lock_guard lock(mutex_);
    computed.swap(computed_);
  }
  if (computed.empty()) return OkStatus();
  for (const Computed& one : computed) {
    RETURN_IF_ERROR(writer_->Write(one.step, one.scalars));
  }
  return writer_->Sync();
}

}  // namespace gauntlet
