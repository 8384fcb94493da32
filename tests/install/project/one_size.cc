// Reads a size and prints it in its shortest form.
#include <cstdio>

#include "base/error.h"
#include "base/units.h"

int main() {
  using namespace slackline::sched;
  try {
    std::puts(format_bytes(parse_bytes("2048KiB", "size")).c_str());
  } catch (const slackline::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.exit_code();
  }
}
