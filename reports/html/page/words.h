// Words of this field that a page explains once.
#ifndef GAUNTLET_REPORTS_HTML_PAGE_WORDS_H_
#define GAUNTLET_REPORTS_HTML_PAGE_WORDS_H_

#include <string>
#include <string_view>

namespace gauntlet {

// Returns an explanation of each word that occurs in `html`, folded; "": none
// does.
std::string RenderWords(std::string_view html);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_HTML_PAGE_WORDS_H_
