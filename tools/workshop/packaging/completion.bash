# bash completion of Sluice's programs but sluicectl: their verbs, options and files. The words come from --help each time, so that this
# never ages.
_sluice() {
    local program=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} verb help
    [[ ${COMP_WORDS[1]-} != [a-z]* || $COMP_CWORD -eq 1 ]] || verb=${COMP_WORDS[1]}
    help=$("$program" ${verb:+"$verb"} --help 2>/dev/null || "$program" --help 2>/dev/null)
    COMPREPLY=()
    if [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(grep -oE -- '--[a-z][a-z-]*' <<<"$help" | sort -u)" -- "$word")
        return
    fi
    [[ $COMP_CWORD -ne 1 ]] || mapfile -t COMPREPLY < <(compgen -W "$(sed -nE -e "s/^(usage:|      ) ${program##*/} ([a-z][a-z-]*)( .*)?$/\2/p" \
        -e 's/^  ([a-z]+) [A-Z].*/\1/p' <<<"$help" | sort -u)" -- "$word")
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$word")
}
complete -o filenames -F _sluice sluiced sluice-traffic sluice-fabric sluice-import sluice-peer
