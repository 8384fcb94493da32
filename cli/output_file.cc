#include "cli/output_file.h"

#include <fmt/format.h>

#include <utility>

#include "base/write_file.h"
#include "cli/human.h"

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

void deliver_as(std::string_view format, const std::optional<std::string>& path,
                std::string_view contents, Subject schedule, bool json, Console& console) {
  const std::string name = std::exchange(
      schedule.name,
      fmt::format("{}: {} as {}", path.value_or("-"), human_bytes(contents.size()), format));
  Answer answer({json, false}, std::move(schedule));
  answer.set("schedule", name);
  answer.set("format", format);
  answer.set("file_bytes", contents.size());
  deliver(path, contents, answer, console);
}

}  // namespace slackline::cli
