// Columns of a terminal that a text takes.
#ifndef GAUNTLET_REPORTS_COLUMNS_H_
#define GAUNTLET_REPORTS_COLUMNS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gauntlet {

// Returns true iff the byte continues a character of UTF-8.
bool IsContinuation(char c);

// Characters of UTF-8, each of which takes one column.
size_t ColumnsOf(std::string_view text);

// Bytes of the first `columns` characters.
size_t BytesOf(std::string_view text, size_t columns);

// Lines of at most `columns`, broken at spaces; a word that is longer than a
// line is broken too. REQUIRES: columns > 0.
std::vector<std::string> Wrapped(std::string_view text, size_t columns);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_COLUMNS_H_
