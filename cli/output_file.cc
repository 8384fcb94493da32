#include "cli/output_file.h"

#include <fmt/format.h>

#include <functional>
#include <utility>

#include "base/write_file.h"
#include "cli/human.h"

namespace slackline::cli {
namespace {

// What is said of a file or text of `size` bytes; `deliver_it` does the rest.
void say_made(std::string_view format, const std::optional<std::string>& path, std::size_t size,
              Subject schedule, bool json, const std::function<void(Answer&)>& deliver_it) {
  const std::string name = std::exchange(
      schedule.name, fmt::format("{}: {} as {}", path.value_or("-"), human_bytes(size), format));
  Answer answer({json, false}, std::move(schedule));
  answer.set("schedule", name);
  answer.set("format", format);
  answer.set("file_bytes", size);
  deliver_it(answer);
}

}  // namespace

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
  say_made(format, path, contents.size(), std::move(schedule), json,
           [&](Answer& answer) { deliver(path, contents, answer, console); });
}

void deliver_as(std::string_view format, const std::optional<std::string>& path,
                const sched::Pieces& pieces, Subject schedule, bool json, Console& console) {
  if (is_standard_output(path)) {
    std::string contents;
    pieces([&](std::string_view piece) { contents += piece; });
    return deliver_as(format, path, contents, std::move(schedule), json, console);
  }
  std::size_t size = 0;
  sched::write_file(*path, [&](const sched::Sink& out) {
    size = 0;
    pieces([&](std::string_view piece) {
      size += piece.size();
      out(piece);
    });
  });
  say_made(format, path, size, std::move(schedule), json, [&](Answer& answer) {
    answer.set("file", *path);
    console.print(answer.text());
  });
}

void say_written(std::string_view format, const std::string& prefix, std::size_t files,
                 std::size_t bytes, Subject schedule, bool json, Console& console,
                 std::optional<std::string_view> command, std::string_view differs) {
  const std::string name = std::exchange(
      schedule.name, fmt::format("{}: {}, {} as {}", prefix, human_count(files, "file"),
                                 human_bytes(bytes), format));
  Answer answer({json, false}, std::move(schedule));
  answer.set("schedule", name);
  answer.set("format", format);
  answer.set("file_bytes", bytes);
  answer.set("file", prefix);
  answer.set("files", files);
  if (command) answer.both("command", "run", Value(*command));
  if (!differs.empty()) answer.both("remark", "differs", Value(differs));
  console.print(answer.text());
}

}  // namespace slackline::cli
