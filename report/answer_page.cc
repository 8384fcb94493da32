#include "report/answer_page.h"

#include "base/error.h"
#include "report/document.h"
#include "report/page_text.h"

namespace slackline::report {

std::string answer_page(std::string_view title, std::string_view answer) {
  Document document;
  document.facts["title"] = title;
  document.facts["columns"] = nlohmann::ordered_json::object();
  auto& given = document.facts["answer"];
  given = nlohmann::ordered_json::parse(answer, nullptr, false);
  if (!given.is_object()) throw InternalError("a page of an answer that is no JSON object");
  return page_text(title, std::move(document));
}

}  // namespace slackline::report
