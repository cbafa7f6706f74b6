// A table of text cells for a terminal.
#ifndef GAUNTLET_ENGINE_CLI_TERMINAL_TEXT_TABLE_H_
#define GAUNTLET_ENGINE_CLI_TERMINAL_TEXT_TABLE_H_

#include <string>
#include <utility>
#include <vector>

namespace gauntlet {

// The first column is aligned left, the others right.
class TextTable {
 public:
  void AddRow(std::vector<std::string> cells) {
    rows_.push_back(std::move(cells));
  }
  // Returns a line for each row, indented by two spaces.
  std::string Render() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLI_TERMINAL_TEXT_TABLE_H_
