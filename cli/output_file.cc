#include "cli/output_file.h"

#include "base/write_file.h"

namespace slackline::cli {

bool is_standard_output(const std::optional<std::string>& path) { return !path || *path == "-"; }

void write_output_file(const std::string& path, std::string_view contents) {
  sched::write_file(path, contents);
}

void deliver(const std::optional<std::string>& path, std::string_view contents, Console& console) {
  if (is_standard_output(path)) return console.print_contents(contents);
  write_output_file(*path, contents);
}

void deliver(const std::optional<std::string>& path, std::string_view contents, Answer& answer,
             Console& console) {
  const bool to_standard_output = is_standard_output(path);
  if (answer.for_people() || !to_standard_output) deliver(path, contents, console);
  if (answer.for_people() && to_standard_output) return;
  if (to_standard_output) {
    answer.set_null({"file"});
    answer.set("content", contents);
  } else {
    answer.set("file", *path);
  }
  console.print(answer.text());
}

}  // namespace slackline::cli
