// check_trace FILE: prints how a trace violates the rules of its format, for
// tests that run the program. Exit code 1 if it does.
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "tests/reports/trace/trace_rules.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: check_trace FILE\n";
    return 2;
  }
  std::ifstream in(argv[1], std::ios::binary);
  if (!in) {
    std::cerr << argv[1] << ": cannot be read\n";
    return 2;
  }
  const std::string text(std::istreambuf_iterator<char>(in), {});
  const std::vector<std::string> violations = gauntlet::TraceViolations(text);
  for (const std::string& violation : violations) {
    std::cout << violation << '\n';
  }
  return violations.empty() ? 0 : 1;
}
