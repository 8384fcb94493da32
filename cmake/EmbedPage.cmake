# cmake -D OUT=page_parts.cc -P EmbedPage.cmake FILE.html FILE.css… FILE.js… : writes the source of
# page_parts(): the page, its style, its script, and the hashes by which the page allows those two and
# nothing else. Style and script are the files of their kind in the order of their names.
set(html "")
set(css_files "")
set(js_files "")
foreach(i RANGE ${CMAKE_ARGC})
  set(file "${CMAKE_ARGV${i}}")
  if(file MATCHES "\\.html$")
    file(READ ${file} html)
  elseif(file MATCHES "\\.css$")
    list(APPEND css_files "${file}")
  elseif(file MATCHES "\\.js$")
    list(APPEND js_files "${file}")
  endif()
endforeach()
list(SORT css_files)
list(SORT js_files)

set(css "")
foreach(file IN LISTS css_files)
  file(READ ${file} text)
  string(APPEND css "${text}")
endforeach()
# One scope for all, so that nothing of ours is a global of the page.
set(js "(() => {\n'use strict';\n")
foreach(file IN LISTS js_files)
  file(READ ${file} text)
  string(APPEND js "${text}")
endforeach()
string(APPEND js "start();\n})();\n")

# hash_of(TEXT RESULT): "sha256-" and its SHA-256 in base 64, as Content-Security-Policy wants it.
function(hash_of text result)
  set(digits ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  string(SHA256 hex "${text}")
  string(APPEND hex 00)  # 32 bytes are not a multiple of 3
  set(base64 "")
  foreach(i RANGE 0 60 6)
    string(SUBSTRING ${hex} ${i} 6 six)
    foreach(shift 18 12 6 0)
      math(EXPR digit "(0x${six} >> ${shift}) & 63")
      string(SUBSTRING ${digits} ${digit} 1 digit)
      string(APPEND base64 ${digit})
    endforeach()
  endforeach()
  string(REGEX REPLACE ".$" "=" base64 ${base64})
  set(${result} "sha256-${base64}" PARENT_SCOPE)
endfunction()

# literal(TEXT RESULT): raw strings beside each other, as compilers limit how long one may be.
function(literal text result)
  if("${text}" MATCHES "\\)page\"")
    message(FATAL_ERROR "The page must not hold the end of a raw string")
  endif()
  set(pieces "")
  string(LENGTH "${text}" length)
  set(begin 0)
  while(begin LESS length)
    string(SUBSTRING "${text}" ${begin} 8000 piece)
    string(APPEND pieces "\n    R\"page(${piece})page\"")
    math(EXPR begin "${begin} + 8000")
  endwhile()
  set(${result} "${pieces}" PARENT_SCOPE)
endfunction()

hash_of("${css}" css_hash)
hash_of("${js}" js_hash)
literal("${html}" html)
literal("${css}" css)
literal("${js}" js)
file(WRITE ${OUT} "// Made from report/page/ by cmake/EmbedPage.cmake.
#include \"report/page_parts.h\"

namespace slackline::report {

PageParts page_parts() {
  return {${html},${css},${js},
          \"${css_hash}\", \"${js_hash}\"};
}

}  // namespace slackline::report
")
