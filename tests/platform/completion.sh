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
        folder=$1 service=${2/_/-}; shift 2; words=("$@"); CURRENT=$#; PREFIX=$words[-1]
        _complete() { source $folder/_weft }; _complete' zsh "$folder" "$program" "$@"
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
    command -v python3 >/dev/null || continue
    program=weft_perf command=$2/tools/weft-perf
    offers $shell annotate ann
    offers $shell --stack-bytes flame --sta
    offers $shell counts probe co
    offers $shell true flame -- true
done
echo "$count completions in $shells, $failed failed"
exit $((failed > 0))
