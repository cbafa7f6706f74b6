// Width of text in terminal columns.
#ifndef GAUNTLET_ENGINE_TEXT_COLUMNS_H_
#define GAUNTLET_ENGINE_TEXT_COLUMNS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gauntlet {

// Returns true iff the byte continues a UTF-8 character.
bool IsContinuation(char c);

// Returns the number of UTF-8 characters; each counts as one column.
size_t ColumnsOf(std::string_view text);

// Returns the number of bytes of the first `columns` characters.
size_t BytesOf(std::string_view text, size_t columns);

// Returns lines of at most `columns`, broken at spaces. A word that is longer
// than a line is split. REQUIRES: columns > 0.
std::vector<std::string> Wrapped(std::string_view text, size_t columns);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TEXT_COLUMNS_H_
