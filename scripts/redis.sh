# shellcheck shell=bash
# A private Redis server: for the scripts beside this one, which source it and have a function `fail` and a `folder` for
# everything temporary.

# shellcheck source=scripts/apt.sh
. scripts/apt.sh

redis_pid=    # the server, once it is started

# need_redis WAY-OUT: installs its server when it is missing, on Debian and Ubuntu as root; elsewhere says how, and names
# a way out of the script's own.
need_redis() {
    ! command -v redis-server >/dev/null || return 0
    install_by_apt Redis "Redis is missing; install its server (Debian, Ubuntu: apt-get install redis-server; \
Fedora: dnf install redis; macOS: brew install redis)$1" redis-server
    command -v redis-server >/dev/null || fail "Redis was installed, but its redis-server is not to be found"
}

# start_redis: starts a server on a free port of 127.0.0.1, and exports TEST_REDIS_URL.
start_redis() {
    local port asked
    mkdir "$folder/redis"
    # Whoever binds a port has it: try until one is free.
    for _ in {1..50}; do
        port=$((10000 + RANDOM % 20000))
        : >"$folder/redis.log"
        redis-server --bind 127.0.0.1 --port "$port" --dir "$folder/redis" --save '' >>"$folder/redis.log" 2>&1 &
        redis_pid=$!
        for asked in {1..100}; do
            if grep -q "Ready to accept connections" "$folder/redis.log"; then
                export TEST_REDIS_URL="redis://127.0.0.1:$port"
                return
            fi
            kill -0 "$redis_pid" 2>/dev/null || break
            [[ $asked == 100 ]] || sleep 0.1
        done
        stop_redis
        grep -qi "address already in use" "$folder/redis.log" || break
    done
    cat "$folder/redis.log" >&2
    fail "Redis did not start"
}

# stop_redis: stops what start_redis has started.
stop_redis() {
    [[ -n $redis_pid ]] || return 0
    kill "$redis_pid" 2>/dev/null
    wait "$redis_pid" 2>/dev/null
    redis_pid=
}
