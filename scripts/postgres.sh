# shellcheck shell=bash
# The programs of a PostgreSQL server: for the scripts beside this one, which source it and have a function `fail`.

# shellcheck source=scripts/apt.sh
. scripts/apt.sh

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

# need_postgres WAY-OUT: sets `binaries` to the folder of its programs, which are installed when they are missing; where
# that is not possible, a way out of the script's own is named too. Tests that start a server learn it as TEST_POSTGRES_BIN.
need_postgres() {
    binaries=$(find_postgres)
    if [[ -z $binaries ]]; then
        install_by_apt PostgreSQL "PostgreSQL is missing; install its server (Debian, Ubuntu: apt-get install \
postgresql; Fedora: dnf install postgresql-server; macOS: brew install postgresql)$1" postgresql
        binaries=$(find_postgres)
        [[ -n $binaries ]] || fail "PostgreSQL was installed, but its initdb is not to be found"
    fi
    export TEST_POSTGRES_BIN=$binaries
}
