#!/bin/sh
# SPDX-License-Identifier: MIT
# completion.sh WEFT SOURCE: what Tab offers in bash, and in zsh where it is installed.
set -u
weft=$1 folder=$2/tools/completion
failed=0 count=0

# offers SHELL EXPECTED WORD...: the last word is being typed; EXPECTED is among what is offered.
offers() {
    shell=$1 expected=$2
    shift 2
    count=$((count + 1))
    found=$("complete_in_$shell" "$command" "$@" | grep -cx -e "$expected")
    [ "$found" -eq 1 ] && return
    failed=$((failed + 1))
    echo "FAILED in $shell: $program $*: '$expected' is not offered once but $found times"
}

complete_in_bash() {
    bash -c '. "$1/weft.bash"; function=$2; shift 2; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); $function
        printf "%s\n" "${COMPREPLY[@]}"' bash "$folder" "_$program" "$@"
}

# zsh's own _describe needs a terminal: this one prints what it is given.
complete_in_zsh() {
    zsh -f -c '_describe() { print -rl -- ${pairs%%:*} }
        _files() { print files }
        _normal() { print $words[-1] }
        _message() { print "value $1" }
        folder=$1 service=${2/_/-}; shift 2; words=("$@"); CURRENT=$#; PREFIX=$words[-1]
        _complete() { source $folder/_weft }; _complete' zsh "$folder" "$program" "$@"
}

# A list whose texts are wrapped offers names only.
wrapped() {
    count=$((count + 1))
    found=$("complete_in_$1" "$command" stress '' | grep -cx -e '' -e 'files')
    [ "$found" -eq 0 ] && return
    failed=$((failed + 1))
    echo "FAILED in $1: lines that a text goes on with are offered"
}

# Of the codes only codes are offered: texts of theirs are wrapped, too.
codes() {
    count=$((count + 1))
    found=$("complete_in_$1" "$command" explain '' | tr - _ | sort)
    [ "$found" = "$("$weft" explain --json | sed 's/.*"name":"WEFT_\([A-Z_]*\)".*/\L\1/' | sort)" ] && return
    failed=$((failed + 1))
    echo "FAILED in $1: not the names of error codes: $(echo "$found" | head -n 3)"
}

# nothing SHELL WORD...: no names of the program, but files where its shell adds them.
nothing() {
    shell=$1
    shift
    count=$((count + 1))
    found=$("complete_in_$shell" "$command" "$@" | grep -v -e '^$' -e '^files$' -e '^value [A-Z]*$')
    [ -z "$found" ] && return
    failed=$((failed + 1))
    echo "FAILED in $shell: $program $*: offered is $(echo "$found" | head -n 3)"
}

# One shell completes both programs in turn: loaded as a function, as zsh does it.
in_turn() {
    count=$((count + 1))
    found=$(zsh -f -c 'fpath=($1 $fpath); autoload -Uz _weft; _describe() { print -rl -- ${pairs%%:*} }; _files() { }
        service=weft words=($2 sc) CURRENT=2; _weft; service=weft-perf words=($3 ann) CURRENT=2; _weft' zsh "$folder" "$weft" "$1" |
        grep -cx -e screen -e annotate)
    [ "$found" -eq 2 ] && return
    failed=$((failed + 1))
    echo "FAILED in zsh: weft, then weft-perf in one shell"
}

shells=bash
command -v zsh >/dev/null && shells="bash zsh"
for shell in $shells; do
    program=weft command=$weft
    offers $shell screen s
    offers $shell stress help s
    offers $shell --seconds stress --se
    offers $shell iter.move3 bench iter.m
    offers $shell determinism stress det
    offers $shell not.found explain not
    offers $shell --inspect stress --insp
    offers $shell all stress al
    wrapped $shell
    codes $shell
    offers $shell help he
    nothing $shell stress --replay ''
    nothing $shell stress --seed ''
    nothing $shell bench --compare ''
    nothing $shell bake -o ''
    if [ "$shell" = bash ]; then # there = is a word
        offers $shell write stress --inspect = wr
        offers $shell paused stress --inspect =
    fi
    command -v python3 >/dev/null || continue
    program=weft_perf command=$2/tools/weft-perf
    offers $shell annotate ann
    offers $shell --stack-bytes flame --sta
    offers $shell counts probe co
    offers $shell true flame -- true
    nothing $shell trace --save ''
    [ "$shell" = zsh ] || nothing $shell flame -- cat ''
    [ "$shell" = bash ] || in_turn "$command"
done
echo "$count completions in $shells, $failed failed"
exit $((failed > 0))
