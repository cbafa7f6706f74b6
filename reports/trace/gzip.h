// Compression of reports.
#ifndef GAUNTLET_REPORTS_TRACE_GZIP_H_
#define GAUNTLET_REPORTS_TRACE_GZIP_H_

#include <string>
#include <string_view>

namespace gauntlet {

// Returns the bytes of a gzip file that holds the text. It names no file and no
// time: equal texts give equal bytes.
std::string Gzip(std::string_view text);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_TRACE_GZIP_H_
