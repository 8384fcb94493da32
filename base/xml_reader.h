// XML as far as formats of numbers use it: elements and their attributes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace slackline::base {

struct XmlAttribute {
  std::string_view name;
  std::string_view value;  // as it stands, entities and all
};

/// Texts are views of what was read.
struct XmlElement {
  std::string_view name;
  std::uint32_t line = 0;
  std::vector<XmlAttribute> attributes;
  std::vector<XmlElement> children;

  /// The value of an attribute; null if there is none of the name.
  const std::string_view* find(std::string_view attribute) const;
};

/// The root element. Comments and processing instructions are passed over. Throws InputError,
/// naming file and line, on what is not well formed, on an attribute twice, on text that stands
/// between elements, on document types, and on elements more than 32 deep.
XmlElement read_xml(std::string_view text, std::string_view file);

/// The name of the root element, if `text` begins with one, after comments and instructions.
std::string_view xml_root(std::string_view text);

}  // namespace slackline::base
