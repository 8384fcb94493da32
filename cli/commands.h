// Every command of the program, each made by the source that has its name.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "cli/command.h"

namespace slackline::cli {

std::unique_ptr<Command> make_advise();
std::unique_ptr<Command> make_calibrate();
std::unique_ptr<Command> make_check();
std::unique_ptr<Command> make_compare();
std::unique_ptr<Command> make_compile();
std::unique_ptr<Command> make_convert();
std::unique_ptr<Command> make_export();
std::unique_ptr<Command> make_group();
std::unique_ptr<Command> make_list();
std::unique_ptr<Command> make_offload();
std::unique_ptr<Command> make_report();
std::unique_ptr<Command> make_sweep();
std::unique_ptr<Command> make_reproduce();
std::unique_ptr<Command> make_run();
std::unique_ptr<Command> make_simulate();
std::unique_ptr<Command> make_slack();
std::unique_ptr<Command> make_steal();
std::unique_ptr<Command> make_testbed();
std::unique_ptr<Command> make_validate();
std::unique_ptr<Command> make_view();

struct CommandEntry {
  std::string_view name;
  std::string_view summary;  // one line
  std::unique_ptr<Command> (*make)();
};

/// In the order in which `--help` shows them.
std::span<const CommandEntry> commands();

}  // namespace slackline::cli
