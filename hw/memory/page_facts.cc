#include "hw/memory/page_facts.h"

#include <fmt/format.h>

#include "base/units.h"

namespace slackline::hw {

std::string to_string(const PageFacts& facts) {
  const std::string size = sched::human_bytes(facts.page_bytes);
  std::string text = sched::human_bytes(facts.bytes);
  switch (facts.kind) {
    case PageKind::kNormal:
      text += fmt::format(" in pages of {}", size);
      break;
    case PageKind::kTransparent:
      text += fmt::format(" in huge pages of {}, made by the kernel", size);
      break;
    case PageKind::kSetAside:
      text += fmt::format(" in huge pages of {}, set aside", size);
      break;
  }
  if (facts.node < 0) return text + ", on no NUMA node that is known";
  return text + fmt::format(", on NUMA node {}", facts.node);
}

}  // namespace slackline::hw
