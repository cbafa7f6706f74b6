// Curves for TensorBoard: scalars over steps, in event files (event_record.h).
//
// A directory holds the event files of one run, one for each incarnation of the
// chief; at most one of them grows. Readers take them in name order, so the
// name of a new file always sorts last.
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

// Prefix of the names of event files.
inline constexpr std::string_view kEventFilePrefix = "events.out.tfevents.";

// Not safe for concurrent use.
class SummaryWriter {
 public:
  // Creates the directory if it is missing, and a new file in it. The file
  // begins with the file version and a session start. Because of the session
  // start, readers discard the values of `first_step` and later steps in
  // earlier files. The world must outlive the writer.
  static Result<std::unique_ptr<SummaryWriter>> Open(
      World& world, const std::string& directory, uint64_t first_step);

  // Appends to the file. After an error readers see the file unchanged, and
  // later writes may succeed.
  Status Write(uint64_t step, std::span<const Scalar> scalars);

  // Makes everything written durable.
  Status Sync();

  const std::string& path() const { return path_; }

 private:
  SummaryWriter(World& world, std::string path, std::unique_ptr<File> file);

  Status Append(const std::string& event);
  EventTime Now(uint64_t step) const;

  World* world_;
  std::string path_;
  std::unique_ptr<File> file_;
  uint64_t size_ = 0;  // bytes of the complete records
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_SUMMARY_SUMMARY_WRITER_H_
