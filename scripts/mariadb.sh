# shellcheck shell=bash
# A private MariaDB server: for the scripts beside this one, which source it and have a function `fail` and a `folder` for
# everything temporary.

# shellcheck source=scripts/apt.sh
. scripts/apt.sh

mariadb_account=   # who runs the server in root's place
mariadb_pid=       # the server, once it is started
mariadb_buffer=${mariadb_buffer:-128M}   # how much of its tables it keeps in memory

# find_mariadb NAME…: the first of these programs that this machine has, also where servers are kept.
find_mariadb() {
    local name folder
    for name in "$@"; do
        for folder in ${PATH//:/ } /usr/sbin /usr/local/sbin /usr/libexec /opt/homebrew/opt/mariadb/bin; do
            if [[ -x $folder/$name ]]; then
                printf '%s\n' "$folder/$name"
                return
            fi
        done
    done
}

# need_mariadb WAY-OUT: installs its server when it is missing, on Debian and Ubuntu as root; elsewhere says how, and
# names a way out of the script's own.
need_mariadb() {
    [[ -z $(find_mariadb mariadbd) || -z $(find_mariadb mariadb-install-db) ]] || return 0
    install_by_apt MariaDB "MariaDB is missing; install its server (Debian, Ubuntu: apt-get install mariadb-server; \
Fedora: dnf install mariadb-server; macOS: brew install mariadb)$1" mariadb-server
    [[ -n $(find_mariadb mariadbd) ]] || fail "MariaDB was installed, but its mariadbd is not to be found"
}

# Runs a program as the account that owns the server's folder.
as_mariadb() {
    if [[ -n $mariadb_account ]]; then
        (cd "$folder/mariadb" && runuser -u "$mariadb_account" -- "$@")
    else
        (cd "$folder/mariadb" && "$@")
    fi
}

# start_mariadb: starts a server on a free port of 127.0.0.1, and exports TEST_MYSQL_URL.
start_mariadb() {
    local server port _ asked
    mkdir "$folder/mariadb"
    if [[ $(id -u) == 0 ]]; then
        mariadb_account=mysql
        id "$mariadb_account" >/dev/null 2>&1 || mariadb_account=nobody
        chmod 711 "$folder"
        chown "$mariadb_account" "$folder/mariadb"
    fi
    # A superuser without a password, on a socket that nobody else can reach and a port of this machine alone.
    as_mariadb "$(find_mariadb mariadb-install-db)" --no-defaults --datadir="$folder/mariadb/data" \
        --auth-root-authentication-method=normal --skip-test-db >"$folder/mariadb.log" 2>&1 ||
        { cat "$folder/mariadb.log" >&2; fail "mariadb-install-db failed"; }
    server=$(find_mariadb mariadbd)
    # Whoever binds a port has it: try until one is free. Nothing here makes the server less safe in a crash.
    for _ in {1..50}; do
        port=$((10000 + RANDOM % 20000))
        : >"$folder/mariadb.log"
        as_mariadb "$server" --no-defaults --datadir="$folder/mariadb/data" --socket="$folder/mariadb/socket" \
            --port="$port" --bind-address=127.0.0.1 --max-connections=300 --pid-file="$folder/mariadb/pid" \
            --character-set-server=utf8mb4 --innodb-buffer-pool-size="$mariadb_buffer" >>"$folder/mariadb.log" 2>&1 &
        mariadb_pid=$!
        for asked in {1..300}; do
            if grep -q "ready for connections" "$folder/mariadb.log"; then
                export TEST_MYSQL_URL="mysql://root@127.0.0.1:$port/mysql"
                return
            fi
            kill -0 "$mariadb_pid" 2>/dev/null || break
            [[ $asked == 300 ]] || sleep 0.2
        done
        stop_mariadb
        grep -qiE "can't start server|address already in use" "$folder/mariadb.log" || break
    done
    cat "$folder/mariadb.log" >&2
    fail "MariaDB did not start"
}

# stop_mariadb: stops what start_mariadb has started.
stop_mariadb() {
    [[ -n $mariadb_pid ]] || return 0
    if [[ -r $folder/mariadb/pid ]]; then
        kill "$(<"$folder/mariadb/pid")" 2>/dev/null
    fi
    kill "$mariadb_pid" 2>/dev/null
    wait "$mariadb_pid" 2>/dev/null
    mariadb_pid=
}
