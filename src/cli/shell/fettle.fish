# SPDX-License-Identifier: Apache-2.0
# Completion of fettle(1) for fish: the tool says what may follow.
function __fettle_candidates
    set -l words (commandline -opc) (commandline -ct)
    fettle complete -- $words[2..] 2>/dev/null
end
complete -c fettle -f -a '(__fettle_candidates)'
complete -c fettle -l cert -l key -l ca -s C -l controller -rF
