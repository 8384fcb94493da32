#include "cli/program.h"

#include <fmt/format.h>

#include <exception>
#include <new>

#include "base/error.h"
#include "base/named.h"
#include "base/suggest.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/table.h"

namespace slackline::cli {
namespace {

std::string help() {
  Table table({Align::kLeft, Align::kLeft});
  for (const CommandEntry& entry : commands()) {
    table.add({std::string(entry.name), std::string(entry.summary)});
  }
  return fmt::format(
      "Slackline: compile, prove, simulate, run and analyse RDMA schedules.\n\n"
      "usage: slackline COMMAND [SCHEDULE] [options]\n\n"
      "{}\n"
      "SCHEDULE is a spec such as binomial-pipeline:ranks=16,bytes=256MiB,block=1MiB,\n"
      "a file that `compile` wrote (or a GOAL program), or - for standard input.\n"
      "`slackline help COMMAND` shows a command's options; each takes --json.\n\n"
      "exit codes: 0 done, 1 the answer is no, 2 bad input, 3 something is missing on\n"
      "this machine, 70 a defect of Slackline\n",
      table.text("  "));
}

std::string version() {
#ifdef SLACKLINE_HAVE_SIMGRID
  return "slackline " SLACKLINE_VERSION " (with SimGrid)\n";
#else
  return "slackline " SLACKLINE_VERSION " (without SimGrid)\n";
#endif
}

const CommandEntry& command_named(std::string_view name) {
  if (const CommandEntry* found = base::find_named(commands(), name)) return *found;
  throw InputError(sched::unknown_name("command", name, base::names_of(commands())));
}

std::string defect(std::string_view what) {
  const std::string program = version();
  return fmt::format(
      "internal error: {}; this is a defect of Slackline: please report it with the command line "
      "and its input ({})",
      what, std::string_view(program).substr(0, program.size() - 1));
}

}  // namespace

int run_command(const std::vector<std::string>& arguments, Console& console) {
  if (arguments.empty()) {
    throw InputError(fmt::format("no command; expected one of {}; see `slackline --help`",
                                 fmt::join(base::names_of(commands()), ", ")));
  }
  const std::string& first = arguments.front();
  const bool asks = first == "help";  // `help COMMAND` is `COMMAND --help`
  if (first == "--help" || first == "-h" || first == "--version" ||
      (asks && arguments.size() == 1)) {
    console.print(first == "--version" ? version() : help());
    return 0;
  }
  if (first.starts_with("-")) {
    throw InputError(
        fmt::format("'{}' stands before the command; expected `slackline COMMAND …`", first));
  }
  const CommandEntry& entry = command_named(asks ? arguments[1] : first);
  const std::unique_ptr<Command> command = entry.make();
  Arguments declared(entry.name, entry.summary);
  command->declare(declared);
  std::vector<std::string> own(arguments.begin() + (asks ? 2 : 1), arguments.end());
  if (asks) own.emplace_back("--help");
  const auto help_text = declared.parse(own);
  if (help_text) {
    console.print(*help_text);
    return 0;
  }
  return command->run(console);
}

Ending run_caught(const std::function<int()>& body, Console& console) {
  try {
    const int status = body();
    console.finish();
    return {status, ""};
  } catch (const InternalError& error) {
    return {error.exit_code(), defect(error.what())};
  } catch (const Error& error) {
    return {error.exit_code(), error.what()};
  } catch (const std::bad_alloc&) {
    return {3, "out of memory; expected a smaller schedule, or a machine with more of it"};
  } catch (const std::exception& error) {
    return {70, defect(error.what())};
  }
}

int run_guarded(const std::function<int()>& body, Console& console) {
  const Ending ending = run_caught(body, console);
  if (!ending.error.empty()) console.error(ending.error);
  return ending.code;
}

int run_program(const std::vector<std::string>& arguments) {
  Console console;
  return run_guarded([&] { return run_command(arguments, console); }, console);
}

}  // namespace slackline::cli
