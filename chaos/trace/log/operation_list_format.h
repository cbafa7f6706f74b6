// The file `operations` of a log:
//
//   "gauntlet operations\n" | u32 version | directories | u64 start time |
//   u64 bytes in the file of bytes | files | operations |
//   XXH3-128 of all before it, its high half first
//
// Numbers are little-endian; a list is a u64 count and its items, a text a u32
// length and its bytes.
#ifndef GAUNTLET_CHAOS_TRACE_LOG_OPERATION_LIST_FORMAT_H_
#define GAUNTLET_CHAOS_TRACE_LOG_OPERATION_LIST_FORMAT_H_

#include <string>
#include <string_view>

#include "chaos/trace/log/operation_log.h"
#include "engine/status.h"

namespace gauntlet {

std::string EncodeOperationList(const OperationList& list);

// Returns kDataLoss, in one line that begins with `path`, for text that
// EncodeOperationList cannot have returned, or for operations that contradict
// each other.
Result<OperationList> DecodeOperationList(std::string_view text,
                                          std::string_view path);

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_TRACE_LOG_OPERATION_LIST_FORMAT_H_
