# The build with mutants (GAUNTLET_MUTANTS): sources that have some are replaced
# by copies with each of them behind a switch. A change of the engine or of a
# table makes them anew.
find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)
set(MUTATED ${CMAKE_BINARY_DIR}/mutated)
file(GLOB_RECURSE inputs CONFIGURE_DEPENDS
     ${CMAKE_SOURCE_DIR}/engine/*.h ${CMAKE_SOURCE_DIR}/engine/*.cc
     ${CMAKE_CURRENT_LIST_DIR}/*.toml ${CMAKE_CURRENT_LIST_DIR}/*.py)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${inputs})
execute_process(
  COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/generate.py ${MUTATED}
  COMMAND_ERROR_IS_FATAL ANY)
# A mutated header comes before the original.
include_directories(BEFORE ${MUTATED})

# take_mutated(SOURCES_VARIABLE): of the current folder.
function(take_mutated variable)
  file(RELATIVE_PATH folder ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  set(taken "")
  foreach(source ${${variable}})
    if(NOT IS_ABSOLUTE ${source} AND EXISTS ${MUTATED}/${folder}/${source})
      set(source ${MUTATED}/${folder}/${source})
      # What a mutant leaves unused is no mistake.
      set_source_files_properties(${source} PROPERTIES
                                  COMPILE_OPTIONS -Wno-error)
    endif()
    list(APPEND taken ${source})
  endforeach()
  set(${variable} ${taken} PARENT_SCOPE)
endfunction()
