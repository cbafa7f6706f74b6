// Compression of reports and traces.
#ifndef GAUNTLET_REPORTS_TRACE_GZIP_H_
#define GAUNTLET_REPORTS_TRACE_GZIP_H_

#include <string>
#include <string_view>

namespace gauntlet {

// Returns a gzip file that contains the text, without a file name and time, so
// that equal texts give equal bytes.
std::string Gzip(std::string_view text);

// Returns the bytes to write to the file: compressed if its name ends in ".gz".
std::string TraceFileBytes(std::string_view file, std::string trace);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_TRACE_GZIP_H_
