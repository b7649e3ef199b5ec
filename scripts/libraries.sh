# shellcheck shell=bash
# The client libraries that blocking diesel calls, libpq and libmysqlclient (or MariaDB's libmariadb): for the scripts
# beside this one, which source it and have a function `fail`. The tests need them, and the program `blocking` on a
# server; the other programs do not.

# shellcheck source=scripts/apt.sh
. scripts/apt.sh

# Whether the build scripts of diesel's drivers will find both.
have_libraries() {
    { pkg-config --exists libpq || command -v pg_config; } >/dev/null 2>&1 &&
        { pkg-config --exists mysqlclient || command -v mysql_config; } >/dev/null 2>&1
}

# Installs them when they are missing, on Debian and Ubuntu as root; elsewhere says how.
need_libraries() {
    ! have_libraries || return 0
    install_by_apt "libpq and libmariadb" "libpq or libmysqlclient is missing; install both (Debian, Ubuntu: apt-get \
install libpq-dev libmariadb-dev-compat pkg-config; Fedora: dnf install libpq-devel mariadb-connector-c-devel; macOS: brew \
install libpq mysql-client pkg-config)" libpq-dev libmariadb-dev libmariadb-dev-compat pkg-config
    have_libraries || fail "libpq and libmariadb were installed, but are not to be found"
}
