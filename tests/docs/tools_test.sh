# Shows that extract.awk, links.awk and run_example.cmake find what they are there to find:
#   sh tools_test.sh AWK FOLDER-OF-THE-SCRIPTS CMAKE
awk=$1
here=$2
cmake=$3
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/out" "$work/docs"
cd "$work" || exit 1
failures=0

# expect WHAT SCRIPT PATTERN: the script must refuse bad.md, with a message that has the pattern in it; an empty pattern
# means that it must accept it.
expect() {
  if "$awk" -v out=out -f "$here/$2" bad.md >printed 2>&1; then code=0; else code=1; fi
  if [ -z "$3" ]; then [ "$code" = 0 ]; else [ "$code" = 1 ] && grep -q "$3" printed; fi && return
  failures=$((failures + 1))
  echo "$1: exit code $code, expected \"${3:-no error}\", got:"
  cat printed
}

good='```cpp example=a\nint main() {\n  return 0;\n}\n```\n```text output=a\n```\n'
printf "$good" >bad.md
expect "a complete pair" extract.awk ""
[ "$(cat printed)" = a ] && [ "$(cat out/a.cpp)" = "$(printf 'int main() {\n  return 0;\n}')" ] && [ -e out/a.txt ] &&
  [ ! -s out/a.txt ] || { echo "a complete pair: not extracted as it stands"; failures=$((failures + 1)); }
printf "$good"'```cpp fragment of=a\nreturn 0;\n```\n```sh\nls\n```\n```text\nanything\n```\n' >bad.md
expect "a fragment and other blocks" extract.awk ""
printf '```cpp fragment of=a\nreturn 0;\n```\n'"$good" >bad.md
expect "a fragment before its example" extract.awk ""

printf '```cpp example=a\nint main() {}\n```\n' >bad.md
expect "an example without output" extract.awk 'bad.md:1: example a has no block'
printf '```text output=a\n```\n' >bad.md
expect "an output without example" extract.awk 'bad.md:1: output of a, but no example a above it'
printf '```cpp\nint x;\n```\n' >bad.md
expect "C++ without a tag" extract.awk 'bad.md:1: "cpp": C++ is'
printf '```cpp exmaple=a\n```\n' >bad.md
expect "a misspelt tag" extract.awk '"cpp exmaple=a": C++ is'
printf '```cpp example=a more\n```\n' >bad.md
expect "a word too many" extract.awk '"cpp example=a more": C++ is'
printf '```cpp example=A-b\n```\n' >bad.md
expect "a bad name" extract.awk '"cpp example=A-b": C++ is'
printf '```text outptu=a\n```\n' >bad.md
expect "a misspelt output tag" extract.awk '"text outptu=a": text is'
for language in c++ cc C++ python ''; do
  printf '```%s\n```\n' "$language" >bad.md
  expect "language \"$language\"" extract.awk 'bad.md:1: "'"$language"'": a block is'
done
printf "$good$good" >bad.md
expect "a name used twice" extract.awk 'bad.md:8: example a is there already, at bad.md:1'
printf "$good"'```cpp fragment of=a\nreturn 1;\n```\n' >bad.md
expect "a fragment that is not in the example" extract.awk 'bad.md:9: not a line of example a: return 1;'
printf "$good"'```cpp fragment of=b\nreturn 0;\n```\n' >bad.md
expect "a fragment of nothing" extract.awk 'not a line of example b'
printf '```cpp example=a\nint main() {}\n' >bad.md
expect "a block left open" extract.awk 'bad.md:1: this block is never closed'
printf '```sh\n'"$good" >bad.md
expect "a block not closed before the next" extract.awk 'bad.md:1: this block is not closed'
printf '  ```cpp\n  ```\n' >bad.md
expect "an indented block" extract.awk 'bad.md:1: a block opens and closes'

touch docs/there.md
printf '# One two, three\n[a](docs/there.md) [b](docs) [c](#one-two-three)\n' >bad.md
printf '[d](https://nowhere.example) `[e](no.md)`\n' >>bad.md
expect "good links" links.awk ""
printf '[a](docs/there.md) and [b](docs/missing.md)\n' >bad.md
expect "a missing file" links.awk 'bad.md:1: docs/missing.md: there is no docs/missing.md'
printf '\n![a](picture.svg)\n' >bad.md
expect "a missing picture" links.awk 'bad.md:2: picture.svg: there is no picture.svg'
printf '# One\n[a](#two)\n' >bad.md
expect "a missing heading" links.awk 'bad.md:2: #two: bad.md has no such heading'
printf '[a](/etc/passwd)\n' >bad.md
expect "an absolute path" links.awk 'a link of this project is relative'

# compare WHAT CODE DOCUMENT PRINTED: a program that prints that is accepted (0) or refused (1) beside the document.
compare() {
  printf '%b' "$3" >document.txt
  printf '#!/bin/sh\ncat "%s/text"\n' "$work" >program
  chmod +x program
  printf '%b' "$4" >text
  "$cmake" -DPROGRAM="$work/program" -DEXPECTED="$work/document.txt" -DPRINTED="$work/program.printed" \
    -P "$here/run_example.cmake" >printed 2>&1 && code=0 || code=1
  [ "$code" = "$2" ] && return
  failures=$((failures + 1))
  echo "$1: exit code $code, wanted $2"
  cat printed
}
cost='12 calls (1 grad f, 2 grad g), 3 iterations, 0.5 s\n'
compare "the same text; with a semicolon" 0 'a; [b] = 0.25\n' 'a; [b] = 0.25\n'
compare "another number" 1 'b = 0.25\n' 'b = 0.26\n'
compare "a line less" 1 'a\nb\n' 'a\n'
compare "another rest of a gradient" 0 '|u| = 1.5e-07\n' '|u| = 2e-11\n'
compare "a gradient that is not small" 1 '|u| = 1.5e-07\n' '|u| = 0.5\n'
compare "another cost" 0 "$cost" '9 calls (0 grad f, 1 grad g), 5 iterations, 2 restarts, 2e-05 s\n'
compare "no cost" 1 "$cost" '\n'

[ "$failures" = 0 ] && echo "all found" && exit 0
echo "$failures failed"
exit 1
