// Compression of reports.
#ifndef GAUNTLET_REPORTS_TRACE_GZIP_H_
#define GAUNTLET_REPORTS_TRACE_GZIP_H_

#include <string>
#include <string_view>

namespace gauntlet {

// Returns a gzip file that contains the text, without a file name and time, so
// that equal texts give equal bytes.
std::string Gzip(std::string_view text);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_TRACE_GZIP_H_
