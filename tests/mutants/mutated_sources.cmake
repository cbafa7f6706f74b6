# The build with mutants (GAUNTLET_MUTANTS): each source file that has mutants
# is replaced by a copy with each mutant behind a switch. The copies are
# generated again when the engine or a table changes.
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

# take_mutated(SOURCES_VARIABLE): replaces sources of the current folder.
function(take_mutated variable)
  file(RELATIVE_PATH folder ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  set(taken "")
  foreach(source ${${variable}})
    if(NOT IS_ABSOLUTE ${source} AND EXISTS ${MUTATED}/${folder}/${source})
      set(source ${MUTATED}/${folder}/${source})
      # Code that a mutant leaves unused is no error.
      set_source_files_properties(${source} PROPERTIES
                                  COMPILE_OPTIONS -Wno-error)
    endif()
    list(APPEND taken ${source})
  endforeach()
  set(${variable} ${taken} PARENT_SCOPE)
endfunction()
