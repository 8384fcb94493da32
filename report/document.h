// What a report's page is given: facts as JSON, columns of numbers, and nothing else.
#pragma once

#include <nlohmann/json.hpp>

#include "report/columns.h"

namespace slackline::report {

struct Document {
  nlohmann::ordered_json facts = nlohmann::ordered_json::object();
  Columns columns;
};

}  // namespace slackline::report
