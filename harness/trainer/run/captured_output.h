// Captures the output of a program in a file of limited size.
#ifndef GAUNTLET_HARNESS_TRAINER_RUN_CAPTURED_OUTPUT_H_
#define GAUNTLET_HARNESS_TRAINER_RUN_CAPTURED_OUTPUT_H_

#include <memory>
#include <string>
#include <thread>

#include "engine/real/posix/descriptor.h"
#include "engine/status.h"

namespace gauntlet {

class CapturedOutput {
 public:
  // Creates the file. Errors: those of open(2) and pipe(2).
  static Result<std::unique_ptr<CapturedOutput>> Start(const std::string& file);
  ~CapturedOutput();
  CapturedOutput(const CapturedOutput&) = delete;
  CapturedOutput& operator=(const CapturedOutput&) = delete;

  // Descriptor that the program writes to.
  int descriptor() const { return write_end_.get(); }
  // Waits until all output of the program has been captured. REQUIRES: its
  // processes have ended. Returns false if the output was longer than
  // kMostOutput (trainer_run.h). The rest of such an output is dropped.
  bool Finish();

 private:
  CapturedOutput(Descriptor file, Descriptor read_end, Descriptor write_end);
  void Copy();

  Descriptor file_;
  Descriptor read_end_;
  Descriptor write_end_;
  bool is_complete_ = true;
  std::thread copier_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_RUN_CAPTURED_OUTPUT_H_
