# What the package for Python needs: an interpreter, its headers, NumPy and pybind11. Sets
# SLACKLINE_HAVE_PYTHON, and says what is missing. The interpreter is the system's, since NumPy is
# the system's package: another one that comes first in PATH would not find it.
option(SLACKLINE_PYTHON "Build the package for Python" ON)
set(SLACKLINE_PYTHON_PROGRAM /usr/bin/python3 CACHE FILEPATH "The interpreter that the package is for")
set(SLACKLINE_HAVE_PYTHON OFF)

# slackline_ask_python(CODE RESULT): what the interpreter prints for it, empty if it fails.
function(slackline_ask_python code result)
  execute_process(COMMAND ${SLACKLINE_PYTHON_PROGRAM} -c "${code}" OUTPUT_VARIABLE answer
    ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(${result} "${answer}" PARENT_SCOPE)
endfunction()

set(missing "")
if(SLACKLINE_SANITIZE)
  # Its run-time library would have to be loaded before the interpreter is.
  set(missing "a build without sanitizers")
elseif(SLACKLINE_PYTHON)
  set(PYBIND11_NOPYTHON ON)  # which would look for an interpreter by itself
  find_package(pybind11 2.10 QUIET)
  slackline_ask_python("import sysconfig; print(sysconfig.get_path('include'))"
    SLACKLINE_PYTHON_INCLUDES)
  slackline_ask_python("import sysconfig; print(sysconfig.get_config_var('EXT_SUFFIX'))"
    SLACKLINE_PYTHON_SUFFIX)
  slackline_ask_python("import numpy; print(numpy.__version__)" numpy)
  if(NOT pybind11_FOUND)
    set(missing "pybind11 (Debian: pybind11-dev)")
  elseif(NOT EXISTS "${SLACKLINE_PYTHON_INCLUDES}/Python.h")
    set(missing "the headers of ${SLACKLINE_PYTHON_PROGRAM} (Debian: libpython3-dev)")
  elseif(NOT numpy)
    set(missing "NumPy for ${SLACKLINE_PYTHON_PROGRAM} (Debian: python3-numpy)")
  else()
    set(SLACKLINE_HAVE_PYTHON ON)
  endif()
endif()
if(missing)
  message(STATUS "Python: `import slackline` will be missing, since it needs ${missing}")
endif()

if(SLACKLINE_HAVE_PYTHON)
  # Where the interpreter of a prefix looks: Debian's own of /usr in one folder for all versions.
  slackline_ask_python("import sys; print('%d.%d' % sys.version_info[:2])" version)
  set(site lib/python${version}/dist-packages)
  if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
    set(site lib/python3/dist-packages)
  endif()
  set(SLACKLINE_PYTHON_DIR ${site} CACHE STRING
    "Where the package for Python is installed, in CMAKE_INSTALL_PREFIX")
endif()
