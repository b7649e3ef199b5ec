# shellcheck shell=bash
# The programs of a PostgreSQL server: for the scripts beside this one, which source it and have a function `fail`.

# The newest PostgreSQL server of this machine: prints the folder of its programs, or nothing.
find_postgres() {
    local candidate
    while read -r candidate; do
        if [[ -x $candidate/initdb && -x $candidate/pg_ctl && -x $candidate/postgres ]]; then
            printf '%s\n' "$candidate"
            return
        fi
    done < <(
        printf '%s\n' /usr/lib/postgresql/*/bin | sort -rV
        pg_config --bindir 2>/dev/null || true
        dirname "$(command -v initdb || true)"
    )
}

# install_postgres WAY-OUT: installs it, on Debian and Ubuntu as root; elsewhere says how.
install_postgres() {
    if [[ $(id -u) != 0 ]] || ! command -v apt-get >/dev/null; then
        fail "PostgreSQL is missing; install its server (Debian, Ubuntu: apt-get install postgresql;" \
            "Fedora: dnf install postgresql-server; macOS: brew install postgresql)$1"
    fi
    printf '\n== installing PostgreSQL\n'
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -q
    apt-get install -q -y --no-install-recommends postgresql
}

# need_postgres WAY-OUT: sets `binaries` to the folder of its programs, which are installed when they are missing; where
# that is not possible, a way out of the script's own is named too. Tests that start a server learn it as TEST_POSTGRES_BIN.
need_postgres() {
    binaries=$(find_postgres)
    if [[ -z $binaries ]]; then
        install_postgres "$1"
        binaries=$(find_postgres)
        [[ -n $binaries ]] || fail "PostgreSQL was installed, but its initdb is not to be found"
    fi
    export TEST_POSTGRES_BIN=$binaries
}
