// Curves for TensorBoard: scalars over steps, in event files (event_record.h).
//
// A directory holds the event files of one run, one for each life of its chief,
// and one of them at most grows. Readers take them in the order of their names,
// so a new file's name is always the last.
#ifndef GAUNTLET_ENGINE_SUMMARY_SUMMARY_WRITER_H_
#define GAUNTLET_ENGINE_SUMMARY_SUMMARY_WRITER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "engine/status.h"
#include "engine/summary/event_record.h"
#include "engine/world/world.h"

namespace gauntlet {

// The names of event files begin so.
inline constexpr std::string_view kEventFilePrefix = "events.out.tfevents.";

// Not safe for two tasks at once.
class SummaryWriter {
 public:
  // Makes the directory where it is missing, and in it a new file that begins
  // with the file version and a session start: readers discard what earlier
  // files have of `first_step` and later steps. The world outlives the writer.
  static Result<std::unique_ptr<SummaryWriter>> Open(
      World& world, const std::string& directory, uint64_t first_step);

  // Appends to the file. After an error it is as it was, as far as readers can
  // tell, and later scalars may go well.
  Status Write(uint64_t step, std::span<const Scalar> scalars);

  // Makes what is written durable.
  Status Sync();

  const std::string& path() const { return path_; }

 private:
  SummaryWriter(World& world, std::string path, std::unique_ptr<File> file);

  Status Append(const std::string& event);
  EventTime Now(uint64_t step) const;

  World* world_;
  std::string path_;
  std::unique_ptr<File> file_;
  uint64_t size_ = 0;  // of the whole records
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_SUMMARY_SUMMARY_WRITER_H_
