// `view`: a run's page in the user's browser, at once.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/child.h"
#include "base/error.h"
#include "cli/commands.h"
#include "cli/output_file.h"
#include "cli/trace_page.h"

namespace slackline::cli {
namespace {

constexpr const char* kOpener = "xdg-open";
constexpr std::string_view kSuffix = ".html";

// An empty file of a new name, which only its user can read.
std::string new_file() {
  const char* folder = std::getenv("TMPDIR");
  std::string path = folder != nullptr && *folder != '\0' ? folder : "/tmp";
  path += fmt::format("/slackline-XXXXXX{}", kSuffix);
  const int descriptor = ::mkostemps(path.data(), static_cast<int>(kSuffix.size()), O_CLOEXEC);
  if (descriptor < 0) {
    throw EnvironmentError(
        fmt::format("{}: no file can be made there: {}; expected a folder for "
                    "temporary files, which TMPDIR names",
                    path, std::strerror(errno)));
  }
  ::close(descriptor);
  return path;
}

// Why the file is not shown; nothing if it is.
std::string why_not_opened(const std::string& path) {
  std::string argument = path;
  std::string name = kOpener;
  char* arguments[] = {name.data(), argument.data(), nullptr};
  pid_t child = 0;
  if (const int error = ::posix_spawnp(&child, kOpener, nullptr, nullptr, arguments, environ)) {
    return std::strerror(error);
  }
  const int status = base::wait_for(child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
  return WIFEXITED(status) ? fmt::format("it ended with {}", WEXITSTATUS(status))
                           : fmt::format("it was ended by signal {}", WTERMSIG(status));
}

class View : public Command {
 public:
  void declare(Arguments& arguments) override {
    page_.declare(arguments);
    arguments.flag("--json", json_, "print one JSON document");
    arguments.example("pipeline.trace");
    arguments.example("predicted.trace measured.trace");
  }

  int run(Console& console) override {
    const TracePage::Made made = page_.make(console);
    const std::string path = new_file();
    write_output_file(path, made.html);
    if (const std::string why = why_not_opened(path); !why.empty()) {
      throw EnvironmentError(
          fmt::format("{} {}: {}; expected it and a browser (Debian: xdg-utils), or open the file "
                      "by hand",
                      kOpener, path, why));
    }
    Answer answer({json_, false}, made.subject(path));
    made.add_to(answer);
    answer.set("file", path);
    console.print(answer.text());
    return 0;
  }

 private:
  TracePage page_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_view() { return std::make_unique<View>(); }

}  // namespace slackline::cli
