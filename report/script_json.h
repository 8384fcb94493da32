// Data inside HTML.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace slackline::report {

/// JSON as the content of a script element of data, which nothing in it can end: it holds no `<`,
/// `>` or `&`, and no line separator that only JSON takes. What is not UTF-8 is replaced.
std::string script_json(const nlohmann::ordered_json& value);

}  // namespace slackline::report
