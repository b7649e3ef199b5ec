-- What `wrk` sends to `orders` and to `orders_bare`: wrk … URL -- MODE RUN BODY, where RUN tells the keys of runs apart.
--   fresh   places an order, each under a key of its own
--   replay  repeats one of a thousand requests, which `fill` has placed
--   read    reads one of them by its number
--   hot     places an order under one key, the same for all
-- `done` writes a line for the benchmark to read.

local threads = {}

function setup(thread)
    thread:set("number", #threads)
    table.insert(threads, thread)
end

local counter = 0

function init(args)
    mode, run, body = args[1], args[2], args[3]
    statuses = {}
    headers = {
        ["Authorization"] = "Bearer " .. run,
        ["Content-Type"] = "application/json",
    }
end

function request()
    counter = counter + 1
    if mode == "read" then
        return wrk.format("GET", "/orders/" .. (counter * 769 % 1000 + 1), headers)
    end
    local key
    if mode == "fresh" then
        key = string.format("%s-%04x-%012x", run, number, counter)
    elseif mode == "replay" then
        key = string.format("%s-fill-%012x", run, counter * 769 % 1000)
    else
        key = run .. "-the-one-key"
    end
    headers["Idempotency-Key"] = key
    return wrk.format("POST", "/orders", headers, body)
end

function response(status)
    statuses[status] = (statuses[status] or 0) + 1
    answered = ""
    for code, count in pairs(statuses) do
        answered = answered .. code .. "=" .. count .. ","
    end
end

function done(summary, latency)
    local all = {}
    for _, thread in ipairs(threads) do
        for code, count in string.gmatch(thread:get("answered") or "", "(%d+)=(%d+)") do
            all[code] = (all[code] or 0) + tonumber(count)
        end
    end
    local counts = {}
    for code, count in pairs(all) do
        table.insert(counts, string.format('"%s":%d', code, count))
    end
    local errors = summary.errors
    print(string.format(
        'LOAD {"per_second":%.1f,"p50_ms":%.3f,"p99_ms":%.3f,"broken":%d,"statuses":{%s}}',
        summary.requests / (summary.duration / 1e6), latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
        errors.connect + errors.read + errors.write + errors.timeout, table.concat(counts, ",")))
end
