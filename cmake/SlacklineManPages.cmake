# A man page for the program and one for each of its commands, from what `--help` of the program that
# was just built says.
find_package(Python3 COMPONENTS Interpreter QUIET)
if(NOT Python3_Interpreter_FOUND OR CMAKE_CROSSCOMPILING OR SLACKLINE_SANITIZE)
  message(STATUS "Man pages will be missing, since they need Python 3, and a program that runs here "
    "without sanitizers")
  return()
endif()

set(slackline_man_pages ${PROJECT_BINARY_DIR}/man)
add_custom_command(OUTPUT ${slackline_man_pages}/slackline.1.gz
  COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/man_pages.py $<TARGET_FILE:slackline>
          ${slackline_man_pages}
  DEPENDS slackline ${CMAKE_CURRENT_LIST_DIR}/man_pages.py
  COMMENT "Writing man pages" VERBATIM)
add_custom_target(slackline_man_pages ALL DEPENDS ${slackline_man_pages}/slackline.1.gz)
install(DIRECTORY ${slackline_man_pages}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
  COMPONENT program)
