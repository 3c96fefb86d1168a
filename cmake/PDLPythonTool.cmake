# Adds the tool NAME, which is written in Python: the program NAME and the folder MODULES of the
# current source folder. It may run other tools, which it finds in its own folder, so a link to it
# is created there. Its modules are found through the link.
function(pdl_add_python_tool name modules)
  file(MAKE_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/${name} ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name}
    SYMBOLIC)
  install(PROGRAMS ${name} DESTINATION share/pdl/${name} COMPONENT pdl-tools)
  install(DIRECTORY ${modules} DESTINATION share/pdl/${name} COMPONENT pdl-tools
    PATTERN __pycache__ EXCLUDE)
  install(CODE "
    set(bin \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/bin\")
    file(MAKE_DIRECTORY \"\${bin}\")
    file(CREATE_LINK ../share/pdl/${name}/${name} \"\${bin}/${name}\" SYMBOLIC)
  " COMPONENT pdl-tools)
endfunction()
