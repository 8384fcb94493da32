#include "report/page_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/xml_text.h"
#include "report/document.h"
#include "report/page_parts.h"
#include "report/script_json.h"

namespace slackline::report {
namespace {

// The version of what the page is given, for whoever reads it out of one.
constexpr int kFormat = 1;

std::string_view coding_name(Coding coding) {
  return coding == Coding::kValues ? "values" : "differences";
}

// Appends the template with what stands for each `{{NAME}}`.
void fill(std::string& out, std::string_view html,
          const std::vector<std::pair<std::string_view, std::string_view>>& values) {
  while (true) {
    const std::size_t begin = html.find("{{");
    out += html.substr(0, begin);
    if (begin == std::string_view::npos) return;
    const std::size_t end = html.find("}}", begin);
    const std::string_view key = html.substr(begin + 2, end - begin - 2);
    const auto found = std::find_if(values.begin(), values.end(),
                                    [&](const auto& entry) { return entry.first == key; });
    out += found->second;
    html.remove_prefix(end + 2);
  }
}

}  // namespace

std::string page_text(std::string_view name, Document&& document) {
  document.facts["format"] = kFormat;
  std::string data;
  for (const PackedColumn& column : document.columns.all()) {
    document.facts["columns"][column.name] = {{"count", column.count},
                                              {"planes", column.planes},
                                              {"coding", coding_name(column.coding)},
                                              {"least", column.least},
                                              {"most", column.most}};
    data += "<script type=\"text/plain\" data-column=\"" + column.name + "\">" + column.base64 +
            "</script>\n";
  }
  const PageParts parts = page_parts();
  const std::string title = sched::xml_text(name);
  const std::string facts = script_json(document.facts);
  std::string page;
  page.reserve(parts.html.size() + parts.style.size() + parts.script.size() + facts.size() +
               data.size() + 2 * title.size());
  fill(page, parts.html,
       {{"title", title},
        {"style_hash", parts.style_hash},
        {"script_hash", parts.script_hash},
        {"style", parts.style},
        {"script", parts.script},
        {"facts", facts},
        {"columns", data}});
  return page;
}

}  // namespace slackline::report
