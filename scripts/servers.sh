# shellcheck shell=bash
# The servers that tests and benchmarks need, each private, on a free port and in a temporary folder, unless a variable
# names one to use: for the scripts beside this one, which source it and have functions `fail` and `say`, and a `folder`.

# shellcheck source=scripts/postgres.sh
. scripts/postgres.sh
# shellcheck source=scripts/mariadb.sh
. scripts/mariadb.sh
# shellcheck source=scripts/redis.sh
. scripts/redis.sh

# start_servers: starts what is not named by TEST_POSTGRES_URL, TEST_MYSQL_URL and TEST_REDIS_URL, and exports these.
start_servers() {
    if [[ -n ${TEST_POSTGRES_URL:-} ]]; then
        say "using the PostgreSQL server of TEST_POSTGRES_URL"
    else
        need_postgres ", or set TEST_POSTGRES_URL to a server for tests"
        start_postgres
        say "started $("$binaries/postgres" --version) at $TEST_POSTGRES_URL"
    fi
    if [[ -n ${TEST_MYSQL_URL:-} ]]; then
        say "using the server of TEST_MYSQL_URL"
    else
        need_mariadb ", or set TEST_MYSQL_URL to a server for tests"
        start_mariadb
        say "started $("$(find_mariadb mariadbd)" --version) at $TEST_MYSQL_URL"
    fi
    if [[ -n ${TEST_REDIS_URL:-} ]]; then
        say "using the server of TEST_REDIS_URL"
    else
        need_redis ", or set TEST_REDIS_URL to a server for tests"
        start_redis
        say "started $(redis-server --version) at $TEST_REDIS_URL"
    fi
}

# make_folder: makes `folder`. As root the servers run under other accounts, which may not get into a private TMPDIR.
make_folder() {
    local temporary
    if [[ $(id -u) == 0 ]]; then temporary=/tmp; else temporary=${TMPDIR:-/tmp}; fi
    folder=$(mktemp -d "$temporary/idempotent.XXXXXX")
}

# stop_servers: stops what start_servers has started, and removes the folder.
stop_servers() {
    stop_mariadb
    stop_redis
    stop_postgres || printf 'PostgreSQL did not stop\n' >&2
    [[ -z $folder ]] || rm -rf "$folder"
}
