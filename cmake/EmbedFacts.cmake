# cmake -D OUT=fact_texts.cc -P EmbedFacts.cmake FOLDER/facts.toml… : writes the source of
# fact_texts(), with the text of every file, so that the program needs no file at run time.
set(entries "")
set(files "")
foreach(i RANGE ${CMAKE_ARGC})
  if("${CMAKE_ARGV${i}}" MATCHES "\\.toml$")
    list(APPEND files "${CMAKE_ARGV${i}}")
  endif()
endforeach()
list(SORT files)
foreach(file IN LISTS files)
  file(READ ${file} text)
  get_filename_component(folder ${file} DIRECTORY)
  get_filename_component(name ${folder} NAME)
  if("${text}" MATCHES "\\)toml\"")
    message(FATAL_ERROR "${file}: must not hold the end of a raw string")
  endif()
  string(APPEND entries "    {\"${name}\",\n     R\"toml(${text})toml\"},\n")
endforeach()
set(source "// Made from experiments/*/facts.toml by cmake/EmbedFacts.cmake.
#include \"experiments/fact_file.h\"

namespace slackline::experiments {
namespace {

constexpr FactText kFactTexts[] = {
${entries}};

}  // namespace

std::span<const FactText> fact_texts() { return kFactTexts; }

}  // namespace slackline::experiments
")
file(WRITE ${OUT} "${source}")
