#include <csignal>
#include <string>
#include <vector>

#include "cli/program.h"

int main(int argc, char** argv) {
  // A reader that went away shows as a failed write, which Console knows how to end on.
  std::signal(SIGPIPE, SIG_IGN);
  return slackline::cli::run_program(std::vector<std::string>(argv + 1, argv + argc));
}
