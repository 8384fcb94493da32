#include "cli/output_file.h"

#include "base/write_file.h"

namespace slackline::cli {

bool is_standard_output(const std::optional<std::string>& path) { return !path || *path == "-"; }

void write_output_file(const std::string& path, std::string_view contents) {
  sched::write_file(path, contents);
}

void deliver(const std::optional<std::string>& path, std::string_view contents,
             std::string_view summary, JsonDocument* document, Console& console) {
  const bool to_standard_output = is_standard_output(path);
  if (!to_standard_output) write_output_file(*path, contents);
  if (document == nullptr) {
    if (to_standard_output) {
      console.print_contents(contents);
    } else {
      console.print(summary);
    }
    return;
  }
  if (to_standard_output) {
    document->set_null("file");
    document->set("content", contents);
  } else {
    document->set("file", *path);
  }
  console.print(document->text());
}

}  // namespace slackline::cli
