// A table of a report; on a narrow page, only the table scrolls.
#ifndef GAUNTLET_REPORTS_HTML_PAGE_LIST_TABLE_H_
#define GAUNTLET_REPORTS_HTML_PAGE_LIST_TABLE_H_

#include <string>
#include <string_view>
#include <vector>

namespace gauntlet {

struct ListColumn {
  std::string_view title;
  std::string_view css_class = "";  // "number", "wide"
};

// Titles and cells are in HTML.
class ListTable {
 public:
  ListTable(std::string label, std::vector<ListColumn> columns)
      : label_(std::move(label)), columns_(std::move(columns)) {}

  // Adds a row. REQUIRES: one cell for each column.
  void Add(const std::vector<std::string>& cells);
  std::string Render() const;

 private:
  const std::string label_;
  const std::vector<ListColumn> columns_;
  std::string rows_;
};

extern const std::string_view kListTableStyle;

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_HTML_PAGE_LIST_TABLE_H_
