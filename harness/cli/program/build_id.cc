#include "harness/cli/program/build_id.h"

#include "engine/digest.h"
#include "engine/real/process/child_process.h"
#include "harness/run/files/text_file.h"

namespace gauntlet {

std::string BuildId() { return DigestOf(ReadTextFile(kThisProgram)).Short(); }

}  // namespace gauntlet
