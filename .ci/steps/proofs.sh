# shellcheck shell=bash
# Steps that try to show the tests wrong, or the code: interpreters, random input, measures of the tests.

step_mutants() { not_run "there is no such step yet"; }
