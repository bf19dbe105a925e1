# Shows what scripts/check says of a part that passes, one that fails and one whose tool is missing:
#   sh check_test.sh SOURCE-FOLDER
check=$1/scripts/check
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
# Only these programs are there: no clang-format, except the one that a test puts here.
for tool in bash cat cmake dirname env mktemp rm sed tail tee; do ln -s "$(command -v $tool)" "$work/$tool" || exit 1; done
failures=0

# expect WHAT CODE PATTERN PART...: scripts/check PART... ends with CODE, and its last line has the pattern in it.
expect() {
  what=$1 wanted=$2 pattern=$3
  shift 3
  PATH=$work "$check" "$@" >"$work/printed" 2>&1
  code=$?
  [ "$code" = "$wanted" ] && tail -n 1 "$work/printed" | grep -q "$pattern" && return
  failures=$((failures + 1))
  echo "$what: exit code $code, wanted $wanted and \"$pattern\" at the end of"
  cat "$work/printed"
}

# format MESSAGE CODE: a clang-format that says so.
format() {
  printf '#!/bin/sh\necho "%s" >&2\nexit %s\n' "$1" "$2" >"$work/clang-format"
  chmod +x "$work/clang-format"
}

expect "a tool that is missing" 0 '^check: format: skipped: no clang-format$' format
expect "two of them" 0 '^check: warnings: skipped: no clang++$' format warnings
expect "an unknown part" 2 '^check: no part is called frmat; there are format warnings ' frmat
format "fine" 0
expect "a part that passes" 0 '^check: format: passed, ' format
format "some.cpp:7: not like this" 1
expect "a part that fails" 1 '^check: format: FAILED, ' format
expect "a part that fails, and another after it" 1 '^check: warnings: skipped' format warnings
sed -n '/^check: the end of format/,$p' "$work/printed" | grep -q 'some.cpp:7: not like this' ||
  { failures=$((failures + 1)); echo "the first failure is not repeated at the end"; }

[ "$failures" = 0 ] && echo "all as it should be" && exit 0
echo "$failures failed"
exit 1
