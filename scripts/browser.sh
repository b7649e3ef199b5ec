# shellcheck shell=bash
# Chromium and its chromedriver, in which the page of the example `checkout` is tested: for the scripts beside this one,
# which source it and have a function `fail`.

# shellcheck source=scripts/apt.sh
. scripts/apt.sh

# The chromedriver of this machine: prints its path, or nothing.
find_chromedriver() {
    local candidate
    for candidate in "${TEST_CHROMEDRIVER:-}" "$(command -v chromedriver || true)" /usr/lib/chromium/chromedriver \
        /usr/lib/chromium-browser/chromedriver; do
        if [[ -x $candidate ]]; then
            printf '%s\n' "$candidate"
            return
        fi
    done
}

# Whether there is a browser that it finds by itself.
have_browser() {
    command -v chromium || command -v chromium-browser || command -v google-chrome ||
        [[ -x "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" || -x /Applications/Chromium.app/Contents/MacOS/Chromium ]]
} >/dev/null 2>&1

# need_browser: exports TEST_CHROMEDRIVER. It and its browser are installed when they are missing, on Debian as root;
# elsewhere it says how.
need_browser() {
    if [[ -z $(find_chromedriver) ]] || ! have_browser; then
        # Ubuntu has no such packages, but its own wrappers around snaps.
        install_by_apt Chromium "Chromium or its chromedriver is missing; install both (Debian: apt-get install chromium \
chromium-driver; Fedora: dnf install chromium chromedriver; macOS: brew install --cask chromium chromedriver), and set \
TEST_CHROMEDRIVER where chromedriver is not in PATH" chromium chromium-driver ||
            fail "Chromium cannot be installed by apt; install it and its chromedriver, and set TEST_CHROMEDRIVER"
        if [[ -z $(find_chromedriver) ]] || ! have_browser; then
            fail "Chromium was installed, but its chromedriver is not to be found"
        fi
    fi
    TEST_CHROMEDRIVER=$(find_chromedriver)
    export TEST_CHROMEDRIVER
}
