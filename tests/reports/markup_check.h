// Checks of the markup of reports.
#ifndef GAUNTLET_TESTS_REPORTS_MARKUP_CHECK_H_
#define GAUNTLET_TESTS_REPORTS_MARKUP_CHECK_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gauntlet {

// Returns the first end tag that closes no open element, or the first element
// that stays open; empty if the tags are balanced. Skips scripts and styles.
std::string FirstUnbalancedTag(std::string_view html);

size_t CountOf(std::string_view text, std::string_view part);

// Returns the values of an attribute, in order.
std::vector<std::string> ValuesOf(std::string_view html,
                                  std::string_view attribute);

// Returns the text without its <style> and <script> elements.
std::string WithoutCode(std::string_view html);

// Returns all bytes from 1 to 255, and markup that would do harm.
std::string HostileText();

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_REPORTS_MARKUP_CHECK_H_
