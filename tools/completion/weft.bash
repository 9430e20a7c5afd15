# SPDX-License-Identifier: MIT
# weft.bash: completion of `weft` and `weft-perf` in bash: commands, their options (read from --help), names of
# benchmarks, stress scenarios and recipes, files. Installed as share/bash-completion/completions/weft and weft-perf;
# by hand: . tools/completion/weft.bash
# Whether the option before the word takes a value, which the help of PROGRAM ... shows behind it: files are offered.
_weft_value() {
    local option=${COMP_WORDS[COMP_CWORD - 1]}
    [[ $option == -?* && $option != -- ]] && "$@" --help 2>/dev/null | grep -qE -- "^ *(-[a-z], )?$option(, --[a-z-]+)? [A-Z]"
}

_weft() {
    local word=${COMP_WORDS[COMP_CWORD]} weft=${COMP_WORDS[0]} command=${COMP_WORDS[1]} words
    if [ "$COMP_CWORD" -eq 1 ] || { [ "$COMP_CWORD" -eq 2 ] && [ "$command" = help ]; }; then
        words=$("$weft" help --names 2>/dev/null)
    elif [[ " ${COMP_WORDS[*]:COMP_CWORD - 2:3} " == *' --inspect = '* ]]; then # = is a word of its own
        words="write paused"
        word=${word#=}
    elif _weft_value "$weft" "$command" || { [ "$command" = bench ] && [[ " ${COMP_WORDS[*]} " == *' --compare '* ]] && [[ $word != -* ]]; }; then
        words=""
    elif [[ $word == -* ]]; then
        words=$("$weft" "$command" --help 2>/dev/null | grep -oE '^ +(-[a-z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+')
    elif [[ $command == @(bench|stress|shard-demo) ]]; then
        words=$("$weft" "$command" --list 2>/dev/null | sed -nE 's/^([^ ]+) .*/\1/p')
        [ "$command" != stress ] || words+=" all"
    elif [ "$command" = explain ]; then
        words=$("$weft" explain 2>/dev/null | sed -n 's/^E[0-9]* WEFT_\([A-Z_]*\).*/\1/p' | tr 'A-Z_' 'a-z-')
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

# Behind -- the program and its arguments are completed, as if they stood alone.
_weft_perf() {
    local word=${COMP_WORDS[COMP_CWORD]} perf=${COMP_WORDS[0]} words i
    for ((i = 1; i < COMP_CWORD; i++)); do
        [ "${COMP_WORDS[i]}" = -- ] || continue
        COMP_WORDS=("${COMP_WORDS[@]:i + 1}")
        COMP_CWORD=$((COMP_CWORD - i - 1))
        if [ "$COMP_CWORD" -gt 0 ]; then
            [ "${COMP_WORDS[0]##*/}" = weft ] && _weft
            return # files
        fi
        mapfile -t COMPREPLY < <(compgen -c -- "$word" | sort -u)
        return
    done
    if [ "$COMP_CWORD" -gt 1 ] && _weft_value "$perf"; then
        words=""
    elif [ "$COMP_CWORD" -eq 1 ]; then
        words=$("$perf" --help 2>/dev/null | sed -nE 's/^.* weft-perf ([a-z]+) .*\[-o FOLDER\].*/\1/p')
    elif [[ $word == -* ]]; then
        words="-- $("$perf" --help 2>/dev/null | grep -oE '^ +(-[a-z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+')"
    elif [ "${COMP_WORDS[1]}" = probe ]; then
        words=$("$perf" probe 2>&1 | sed -n 's/.*there are: //; s/,//gp')
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _weft weft
complete -o default -F _weft_perf weft-perf
