# Installs the build as a whole and by its components, which are Debian packages of their own: each file
# belongs to one of them. Links are made in the place of copies.
cmake_minimum_required(VERSION 3.25)

# Sets `files` to what is installed to WORK_DIR/NAME.
function(install name)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env CMAKE_INSTALL_MODE=ABS_SYMLINK
            ${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/${name} ${ARGN}
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  file(GLOB_RECURSE files RELATIVE ${WORK_DIR}/${name} ${WORK_DIR}/${name}/*)
  set(files "${files}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
install(whole)
set(whole "${files}")
set(packed "")
string(REPLACE "," ";" components "${COMPONENTS}")
foreach(component IN LISTS components)
  install(${component} --component ${component})
  if(NOT files)
    message(FATAL_ERROR "component ${component} has no files")
  endif()
  foreach(file IN LISTS files)
    if(file IN_LIST packed)
      message(FATAL_ERROR "${file} is in ${component}, and in a component before it")
    endif()
  endforeach()
  list(APPEND packed ${files})
endforeach()
list(REMOVE_ITEM whole ${packed})
if(whole)
  message(FATAL_ERROR "in none of the components ${components}: ${whole}")
endif()
file(REMOVE_RECURSE ${WORK_DIR})
