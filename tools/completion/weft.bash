# SPDX-License-Identifier: MIT
# weft.bash: completion of `weft` in bash: commands, their options (read from --help), names of benchmarks and stress
# scenarios, files. Installed as share/bash-completion/completions/weft; by hand: . tools/completion/weft.bash
_weft() {
    local word=${COMP_WORDS[COMP_CWORD]} weft=${COMP_WORDS[0]} command=${COMP_WORDS[1]} words
    if [ "$COMP_CWORD" -eq 1 ] || { [ "$COMP_CWORD" -eq 2 ] && [ "$command" = help ]; }; then
        words=$("$weft" help --names 2>/dev/null)
    elif [[ $word == -* ]]; then
        words=$("$weft" "$command" --help 2>/dev/null | grep -oE '^ +(-[a-z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+')
    elif [[ $command == @(bench|stress|shard-demo) ]]; then
        words=$("$weft" "$command" --list 2>/dev/null | cut -d' ' -f1)
    elif [ "$command" = explain ]; then
        words=$("$weft" explain 2>/dev/null | sed 's/^E[0-9]* WEFT_\([A-Z_]*\).*/\1/' | tr 'A-Z_' 'a-z-')
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _weft weft
