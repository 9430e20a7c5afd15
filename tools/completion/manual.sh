#!/bin/sh
# SPDX-License-Identifier: MIT
# manual.sh WEFT DIR: writes the manual pages weft.1 and weft-COMMAND.1, each from the command's own --help,
# and weft-shards.1.
set -eu
weft=$1 dir=$2
mkdir -p "$dir"
{
    printf '.TH WEFT 1\n.SH NAME\nweft \\- entities, jobs and systems: the command line\n'
    printf '.SH SYNOPSIS\n.B weft\nCOMMAND [options] [arguments]\n.SH DESCRIPTION\n'
    "$weft" --help | sed 's/-/\\-/g; s/^\./\\\&./' | awk '
        /^usage:/ { next }
        /^[a-z]+:$/ { print ".SS " toupper(substr($0, 1, length - 1)); is_list = $0 == "commands:"; if (!is_list) print ".nf"; next }
        /^ / && is_list { name = $1; sub(/^ +[^ ]+ +/, ""); print ".TP\n.B " name; print; next }
        /^$/ { is_list = 0; print ".PP"; next }
        { print }'
    printf '.fi\n.SH SEE ALSO\n'
    "$weft" help --names | sed '/^help$/d; s/.*/.BR weft\\-& (1)/'
} >"$dir/weft.1.part"
mv "$dir/weft.1.part" "$dir/weft.1"
"$weft" help --names | sed '/^help$/d' | while read -r command; do
    "$weft" "$command" --help=man >"$dir/weft-$command.1.part" 2>/dev/null || : >"$dir/weft-$command.1.part"
    if grep -q '^\.TH' "$dir/weft-$command.1.part"; then
        mv "$dir/weft-$command.1.part" "$dir/weft-$command.1"
    else
        rm -f "$dir/weft-$command.1.part" # weft simulate without its program
    fi
done
{
    printf '.TH WEFT-SHARDS 1\n.SH NAME\nweft-shards \\- the commands of weft that run as several processes\n'
    printf '.SH SYNOPSIS\n.B weft-shards\nCOMMAND [options] [arguments]\n.SH DESCRIPTION\n'
    printf 'The part of weft that is linked with MPI. weft becomes this program when a command needs it '
    printf '(weft shard\\-demo, weft screen \\-\\-shards); it takes the same arguments.\n'
    printf '.SH SEE ALSO\n.BR weft (1)\n'
} >"$dir/weft-shards.1.part"
mv "$dir/weft-shards.1.part" "$dir/weft-shards.1"
