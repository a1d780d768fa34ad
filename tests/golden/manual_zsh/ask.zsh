# ask.zsh LINE: what zsh would offer after LINE, one match a line. A second zsh on a terminal of its
# own completes; its compadd is wrapped, so that matches are seen as words, not as a drawn menu.
zmodload zsh/zpty
zpty child zsh -f -i
zpty -w child 'PS1= PS2= RPS1=; unsetopt zle_bracketed_paste 2>/dev/null; stty -echo'
zpty -w child 'path=('${(q)PWD:h}' $path); fpath=('${(q)PWD:h}/functions' $fpath)'
zpty -w child 'autoload -Uz compinit && compinit -u -D; bindkey "^I" complete-word; setopt no_beep'
zpty -w child 'show() { compstate[insert]=; compstate[list]=; print -r -- "<end>" }'
zpty -w child 'hide() { print -r -- "<begin>" }; compprefuncs=(hide); comppostfuncs=(show)'
zpty -w child 'compadd() {
    [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]] && { builtin compadd "$@"; return }
    local -a found; builtin compadd -O found "$@"
    (( $#found )) && print -rl -- "match "$^found
    builtin compadd "$@" }'
zpty -w child 'print READ""Y'
zpty -r child out '*READY*'
zpty -w -n child "$1"$'\t'
zpty -r child out '*<end>*'
print -r -- "$out" | tr -d '\r' | sed -n 's/^.*match //p' | sort -u
zpty -d child
