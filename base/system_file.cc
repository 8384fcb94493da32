#include "base/system_file.h"

#include <cstdint>
#include <fstream>

namespace slackline::base {

std::string first_line(const std::string& path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  return line;
}

template <class Number>
std::optional<Number> first_number(const std::string& path) {
  std::ifstream file(path);
  Number number{};
  if (!(file >> number)) return std::nullopt;
  return number;
}

template std::optional<std::uint64_t> first_number(const std::string& path);
template std::optional<std::int64_t> first_number(const std::string& path);
template std::optional<int> first_number(const std::string& path);
template std::optional<double> first_number(const std::string& path);

}  // namespace slackline::base
