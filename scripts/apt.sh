# shellcheck shell=bash
# Packages of Debian and Ubuntu: for the scripts beside this one, which source it and have a function `fail`.

# install_by_apt NAME HOW PACKAGE…: installs packages, on Debian and Ubuntu as root; elsewhere fails, and says how.
install_by_apt() {
    local name=$1 how=$2
    shift 2
    if [[ $(id -u) != 0 ]] || ! command -v apt-get >/dev/null; then
        fail "$how"
    fi
    printf '\n== installing %s\n' "$name"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -q && apt-get install -q -y --no-install-recommends "$@"
}
