// The record file, record.jsonl: JSON Lines, schema gauntlet.record/v3.
//
//   {"kind":"record","schema":"gauntlet.record/v3","scenario":…, …}   once
//   {"kind":"golden","at":"step","step":7,"digest":"…"}  one per entry
//   {"kind":"process","worker":0,"incarnation":1}  then its events:
//   {"kind":"step","t_ns":1834,"step":7,…}        as in an event file
//   {"kind":"launcher","start":1}         then events of its first start
//   {"kind":"machine"}                    then events of a simulated machine
//   {"kind":"end","xxh3_128":"0123…"}    digest of all lines before this one
//
// Equal records give equal bytes.
#ifndef GAUNTLET_HARNESS_RECORD_RECORD_FILE_H_
#define GAUNTLET_HARNESS_RECORD_RECORD_FILE_H_

#include <string>
#include <string_view>

#include "harness/record/parsed.h"
#include "harness/record/record.h"

namespace gauntlet {

inline constexpr const char* kRecordFileName = "record.jsonl";

std::string RecordToJsonLines(const Record& record);
// Returns true iff the text starts with the first bytes of each record.
bool StartsAsRecord(std::string_view text);
// Reads a record. Error messages call the file `name`. A record without its end
// line is incomplete: an error.
Parsed<Record> ReadRecord(std::string_view text, std::string_view name);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_RECORD_FILE_H_
