# shellcheck shell=bash
# A private PostgreSQL server: for the scripts beside this one, which source it and have a function `fail` and, to start
# one, a `folder` for everything temporary.

# shellcheck source=scripts/apt.sh
. scripts/apt.sh

binaries=             # the folder of initdb and pg_ctl
postgres_account=     # who runs the server in root's place: it refuses to run as root
postgres_running=no
postgres_buffer=${postgres_buffer:-128MB}   # how much of its tables the server keeps in memory

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

# Runs one of the server's programs as the account that owns the server's folder.
as_postgres() {
    if [[ -n $postgres_account ]]; then
        (cd "$folder/postgres" && runuser -u "$postgres_account" -- "$@")
    else
        (cd "$folder/postgres" && "$@")
    fi
}

# start_postgres: starts a server on a free port of 127.0.0.1, and exports TEST_POSTGRES_URL.
start_postgres() {
    local log=$folder/postgres/log port
    mkdir "$folder/postgres"
    if [[ $(id -u) == 0 ]]; then
        postgres_account=postgres
        id "$postgres_account" >/dev/null 2>&1 || postgres_account=nobody
        chmod 711 "$folder"
        chown "$postgres_account" "$folder/postgres"
    fi
    as_postgres "$binaries/initdb" --pgdata=data --username=postgres --auth=trust --encoding=UTF8 --locale=C \
        >"$folder/initdb.log" 2>&1 || { cat "$folder/initdb.log" >&2; fail "initdb failed"; }

    # Whoever binds a port has it: try until one is free. Nothing here makes the server less safe in a crash.
    for _ in {1..50}; do
        port=$((10000 + RANDOM % 20000))
        postgres_running=maybe
        if as_postgres "$binaries/pg_ctl" start --silent --wait --timeout=60 --pgdata=data --log=log --options="-p $port \
            -c listen_addresses=127.0.0.1 -c unix_socket_directories='$folder/postgres' -c max_connections=300 \
            -c shared_buffers=$postgres_buffer" \
            >"$folder/pg_ctl.log" 2>&1; then
            postgres_running=yes
            export TEST_POSTGRES_URL="postgres://postgres@127.0.0.1:$port/postgres"
            return
        fi
        grep -qE 'could not bind|could not create any TCP/IP sockets' "$log" 2>/dev/null || break
        : >"$log"
    done
    cat "$folder/pg_ctl.log" "$log" >&2 || true
    fail "PostgreSQL did not start"
}

# stop_postgres: stops what start_postgres has started; fails if it does not stop.
stop_postgres() {
    local mode
    [[ $postgres_running != no ]] || return 0
    for mode in fast immediate; do
        as_postgres "$binaries/pg_ctl" stop --silent --pgdata=data --mode="$mode" --timeout=20 >/dev/null 2>&1 && return
    done
    [[ $postgres_running == maybe ]]
}
