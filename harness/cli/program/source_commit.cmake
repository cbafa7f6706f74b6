# Writes OUTPUT from TEMPLATE with the commit of the git checkout at SOURCE, or
# without a commit if SOURCE is no checkout. Does not touch an OUTPUT that is up
# to date.
set(SOURCE_COMMIT "")
find_program(GIT git)
if(GIT AND EXISTS ${SOURCE}/.git)
  execute_process(
    COMMAND ${GIT} --no-optional-locks -C ${SOURCE} describe --always
            --exclude=* --abbrev=8 "--dirty=, with local changes"
    OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE
    RESULT_VARIABLE failed ERROR_QUIET)
  if(failed EQUAL 0)
    set(SOURCE_COMMIT "commit ${found}")
  endif()
endif()
configure_file(${TEMPLATE} ${OUTPUT} @ONLY)
