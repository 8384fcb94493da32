#include "cli/arguments.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/split.h"
#include "base/suggest.h"
#include "base/write_file.h"
#include "cli/table.h"

namespace slackline::cli {
namespace {

// Of "-o,--output" what stands last.
std::string long_name(std::string_view names) {
  return std::string(names.substr(names.rfind(',') + 1));
}

// Of --help, in columns.
constexpr std::size_t kHelpWidth = 80;
constexpr std::size_t kHelpColumn = 30;  // where explanations stand

std::string help_line_break() { return '\n' + std::string(kHelpColumn, ' '); }

// The explanation of an option in lines that fit beside its name, each after the first in the
// column of explanations.
std::string in_lines(std::string_view help) {
  std::string out;
  std::size_t used = 0;
  for (const std::string_view word : base::split(help, ' ')) {
    const std::size_t width = display_width(word);
    if (used > 0 && used + 1 + width > kHelpWidth - kHelpColumn) {
      out += help_line_break();
      used = 0;
    }
    if (used > 0) out += ' ';
    used += width + (used > 0 ? 1 : 0);
    out += word;
  }
  return out;
}

// The library's own counts the bytes of an option's name, of which a character may have several.
struct HelpFormatter : CLI::Formatter {
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    const std::string name =
        "  " + make_option_name(option, is_positional) + make_option_opts(option);
    const std::size_t width = display_width(name);
    return name +
           (width < kHelpColumn ? std::string(kHelpColumn - width, ' ') : help_line_break()) +
           make_option_desc(option) + '\n';
  }
};

// The library leaves two empty lines between sections.
std::string with_single_gaps(std::string text) {
  for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;) text.erase(at, 1);
  return text;
}

// What an option that does not exist may have meant, or "".
std::string nearest_option(const CLI::App& app, std::string_view given) {
  if (!given.starts_with("--")) return "";
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  return std::string(sched::nearest_name(given.substr(0, given.find('=')), views));
}

const std::string& not_empty(const std::string& text, const std::string& where) {
  if (text.empty()) throw InputError(where + ": empty; expected a value");
  return text;
}

void require_writable(const std::string& path, const std::string& where) {
  try {
    sched::require_writable(path);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", where, error.what()));
  }
}

// A file, and not the place where the answer goes.
void require_file(const std::string& path, const std::string& where) {
  if (path == "-") {
    throw InputError(where + " -: the answer is on standard output; expected a file");
  }
  require_writable(path, where);
}

void require_svg_name(const std::string& path, const std::string& where) {
  for (const std::string_view other : {".png", ".pdf", ".jpg", ".jpeg", ".gif", ".eps", ".html"}) {
    if (!path.ends_with(other)) continue;
    throw InputError(fmt::format("{}: '{}': drawings are SVG; expected a name such as '{}.svg'",
                                 where, path, path.substr(0, path.size() - other.size())));
  }
}

}  // namespace

struct Arguments::Parser {
  explicit Parser(std::string_view command, std::string_view summary)
      : name(command), app(std::string(summary), "slackline " + std::string(command)) {
    app.set_help_flag("-h,--help", "show this and end");
    app.formatter(std::make_shared<HelpFormatter>());
  }
  std::string name;
  CLI::App app;
  std::string examples;
  std::vector<std::vector<std::string>*> lines;
  std::vector<std::string>* rest = nullptr;
  struct Excluded {
    std::vector<std::string> these, those;
    std::string why;
  };
  std::vector<Excluded> excluded;

  // The library knows exclusion, too, but not what its error says of it.
  void require_no_excluded() const {
    const auto given = [&](const std::string& option) {
      return app.get_option(option)->count() > 0;
    };
    for (const auto& [these, those, why] : excluded) {
      const auto one = std::ranges::find_if(these, given);
      const auto other = std::ranges::find_if(those, given);
      if (one == these.end() || other == those.end()) continue;
      throw InputError(fmt::format("{} beside {}{}{}; expected one of them", *other, *one,
                                   why.empty() ? "" : ": ", why));
    }
  }
};

Arguments::Arguments(std::string_view command, std::string_view summary)
    : parser_(std::make_unique<Parser>(command, summary)) {}

Arguments::~Arguments() = default;

void Arguments::positional(std::string_view name, std::string& value, std::string_view help,
                           bool needed) {
  parser_->app
      .add_option_function<std::string>(
          std::string(name),
          [&value, where = std::string(name)](const std::string& text) {
            value = not_empty(text, where);
          },
          in_lines(help))
      ->required(needed)
      ->type_name("");
}

void Arguments::option(std::string_view names, std::string_view value_name,
                       std::optional<std::string>& value, std::string_view help) {
  add_option(names, value_name, help,
             [&value](const std::string& text, const std::string&) { value = text; });
}

void Arguments::file(std::string_view names, std::optional<std::string>& value,
                     std::string_view help) {
  add_option(names, "FILE", help, [&value](const std::string& path, const std::string& where) {
    require_file(path, where);
    value = path;
  });
}

void Arguments::drawing(std::string_view names, std::optional<std::string>& value,
                        std::string_view help) {
  add_option(names, "FILE", help, [&value](const std::string& path, const std::string& where) {
    require_file(path, where);
    require_svg_name(path, where);
    value = path;
  });
}

void Arguments::output(std::string_view names, std::optional<std::string>& value,
                       std::string_view help) {
  add_option(names, "FILE", help, [&value](const std::string& path, const std::string& where) {
    if (path != "-") require_writable(path, where);
    value = path;
  });
}

void Arguments::add_option(std::string_view names, std::string_view value_name,
                           std::string_view help, const Take& take) {
  // All are taken, so that the error on a second one is ours.
  const auto take_one = [where = long_name(names), take](const std::vector<std::string>& texts) {
    if (texts.size() > 1) throw InputError(where + " stands twice; expected it once");
    take(not_empty(texts.front(), where), where);
    return true;
  };
  parser_->app
      .add_option_function<std::vector<std::string>>(std::string(names), take_one, in_lines(help))
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all()
      ->type_name(std::string(value_name));
}

void Arguments::repeatable(std::string_view names, std::string_view value_name,
                           std::vector<std::string>& values, std::string_view help) {
  const auto take = [&values, where = long_name(names)](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) values.push_back(not_empty(text, where));
    return true;
  };
  parser_->app
      .add_option_function<std::vector<std::string>>(std::string(names), take, in_lines(help))
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all()
      ->type_name(std::string(value_name));
}

void Arguments::flag(std::string_view names, bool& value, std::string_view help) {
  parser_->app.add_flag(std::string(names), value, in_lines(help))->disable_flag_override();
}

void Arguments::section(std::string_view heading) {
  parser_->app.option_defaults()->group(heading.empty() ? "Options" : std::string(heading));
}

void Arguments::throw_no_choice(const std::string& text, const std::string& name,
                                std::string choices) {
  const std::vector<std::string_view> names = base::split(choices, '|');
  const std::string meant = sched::did_you_mean(text, names);
  // "a|b|c" is "a, b or c".
  const std::size_t last = choices.rfind('|');
  if (last != std::string::npos) choices.replace(last, 1, " or ");
  for (std::size_t at = 0; (at = choices.find('|', at)) != std::string::npos;) {
    choices.replace(at, 1, ", ");
  }
  throw InputError(fmt::format("{}: '{}'{}; expected {}", name, text, meant, choices));
}

void Arguments::excludes(std::vector<std::string> these, std::vector<std::string> those,
                         std::string why) {
  parser_->excluded.push_back({std::move(these), std::move(those), std::move(why)});
}

void Arguments::whole_line(std::vector<std::string>& line) { parser_->lines.push_back(&line); }

void Arguments::rest(std::string_view name, std::vector<std::string>& words) {
  parser_->rest = &words;
  CLI::App& app = parser_->app;
  app.description(fmt::format("{}\nBehind its own arguments: -- {}", app.get_description(), name));
}

void Arguments::example(std::string_view arguments) {
  parser_->examples += fmt::format("  slackline {} {}\n", parser_->name, arguments);
}

std::optional<std::string> Arguments::parse(const std::vector<std::string>& arguments) {
  CLI::App& app = parser_->app;
  for (std::vector<std::string>* line : parser_->lines) {
    *line = {parser_->name};
    line->insert(line->end(), arguments.begin(), arguments.end());
  }
  auto own_end = arguments.end();
  if (parser_->rest != nullptr) {
    own_end = std::ranges::find(arguments, "--");
    parser_->rest->assign(own_end == arguments.end() ? own_end : own_end + 1, arguments.end());
  }
  const std::vector<std::string> own(arguments.begin(), own_end);
  const std::string see = fmt::format("see `{} --help`", app.get_name());
  if (!parser_->examples.empty()) app.footer("Examples:\n" + parser_->examples);
  try {
    // The library takes them from the back.
    app.parse(std::vector<std::string>(own.rbegin(), own.rend()));
    parser_->require_no_excluded();
  } catch (const CLI::CallForHelp&) {
    return with_single_gaps(app.help());
  } catch (const CLI::ExtrasError&) {
    // Its own message names them with no word on what was expected.
    const std::vector<std::string> extras = app.remaining();
    const std::string given = extras.empty() ? "" : extras.front();
    const std::string meant = nearest_option(app, given);
    throw InputError(fmt::format("{}: '{}' is not an argument of it{}; {}", parser_->name, given,
                                 meant.empty() ? "" : fmt::format(": did you mean '{}'?", meant),
                                 see));
  } catch (const CLI::ArgumentMismatch& error) {
    // Either "--platform: 1 required PLATFORM missing" or "json was given a disallowed flag …".
    const std::string_view what = error.what();
    const std::size_t colon = what.find(':');
    throw InputError(
        colon == std::string_view::npos
            ? fmt::format("{}: --{} takes no value; {}", parser_->name,
                          what.substr(0, what.find(' ')), see)
            : fmt::format("{}: {}: no value; {}", parser_->name, what.substr(0, colon), see));
  } catch (const CLI::Error& error) {
    throw InputError(fmt::format("{}: {}; {}", parser_->name, error.what(), see));
  }
  return std::nullopt;
}

}  // namespace slackline::cli
