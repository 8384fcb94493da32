// How much memory this process takes.
#pragma once

#include <fstream>
#include <string>

namespace slackline::testing {

inline long resident_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stol(line.substr(6));
  }
  return -1;
}

}  // namespace slackline::testing
