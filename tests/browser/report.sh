#!/bin/bash
# The report opens in a browser, offline: Chromium renders it from file in both languages without a network, a
# complaint or a request; every picture is drawn; tables sort and download; nothing is cut on paper or sticks out
# of a narrow screen. TAP output; skipped where there is no Chromium.
#   GPUSIM_BIN=build/gpusim tests/browser/report.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=${GPUSIM_BIN:-build/gpusim}
echo 1..26
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [ -z "$browser" ]; then
    for i in $(seq 26); do echo "ok $i # SKIP no Chromium"; done
    exit 0
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# What a reader would do, by script behind the page's own: its findings go into the last element of the page.
probe() {
    cat <<'JS'
<script>addEventListener('load', function () {
var say = {}, table = document.querySelector('#options'), body = table.tBodies[0];
var heads = table.tHead.rows[table.tHead.rows.length - 1].cells;
function column(i) { return [].map.call(body.rows, function (r) { return +r.cells[i].dataset.v; }); }
var at = [].findIndex.call(heads, function (h) { return /p95/.test(h.textContent); }), before = column(at);
function sorted(a, sign) { return a.every(function (x, i) { return i === 0 || sign * (x - a[i - 1]) >= 0; }); }
say.unsorted = !sorted(before, 1);
heads[at].querySelector('button').click();
say.up = sorted(column(at), 1) && heads[at].getAttribute('aria-sort') === 'ascending';
heads[at].querySelector('button').click();
say.down = sorted(column(at), -1) && heads[at].getAttribute('aria-sort') === 'descending' &&
    table.querySelectorAll('th[aria-sort]').length === 1;
var bill = document.querySelector('#items'), cells = bill.tHead.rows[0].cells;
cells[1].querySelector('button').click();
say.sum_last = bill.tBodies[0].rows[bill.tBodies[0].rows.length - 1].className === 'sum';
var svg = document.querySelectorAll('svg'), drawn = 0;
svg.forEach(function (s) { var b = s.getBoundingClientRect(); drawn += b.width > 100 && b.height > 60; });
say.pictures = svg.length >= 15 && drawn === svg.length;
say.requests = performance.getEntriesByType('resource').length === 0;
say.wide = document.documentElement.scrollWidth <= innerWidth;
say.named = [].every.call(document.querySelectorAll('table'), function (t) { return t.caption && t.caption.textContent; }) &&
    [].every.call(svg, function (s) { return s.getAttribute('role') === 'img' && s.querySelector('title'); });
say.described = [].every.call(document.querySelectorAll('figure svg[aria-describedby]'), function (s) {
    var d = document.getElementById(s.getAttribute('aria-describedby')), t = document.getElementById(s.getAttribute('aria-labelledby'));
    return d && d.textContent.length > 60 && t && t.textContent; }) &&
    /whole, SMs active: [0-9.]+ %/.test(document.getElementById('card_time-d').textContent) &&
    /timeslice, 0 s/.test(document.getElementById('pareto-d').textContent.replace(/: 0 s/, ', 0 s'));
var ids = [].map.call(document.querySelectorAll('[id]'), function (e) { return e.id; }), level = 1;
function name(e) { return e.getAttribute('aria-label') || (e.getAttribute('aria-labelledby') || '').split(' ').map(function (i) {
    return document.getElementById(i).textContent; }).join(' '); }
say.alone = ['.get a', '[role=region]'].every(function (of) {
    var all = [].map.call(document.querySelectorAll(of), name);
    return all.length > 9 && all.every(function (n, i) { return n && all.indexOf(n) === i; }); });
say.ids = ids.every(function (id, i) { return ids.indexOf(id) === i; }) &&
    [].every.call(document.querySelectorAll('a[href^="#"]'), function (a) { return document.getElementById(a.getAttribute('href').slice(1)); });
say.outline = document.querySelectorAll('h1').length === 1 && [].every.call(document.querySelectorAll('h1,h2,h3'), function (h) {
    var n = +h.tagName[1], fits = n <= level + 1; level = n; return fits; }) &&
    document.querySelectorAll('main').length === 1 && document.querySelectorAll('header').length === 1 &&
    !!document.querySelector('nav[aria-label]') && document.documentElement.lang !== '';
say.scoped = [].every.call(document.querySelectorAll('th'), function (t) { return /^(row|col|colgroup)$/.test(t.scope); }) &&
    [].every.call(document.querySelectorAll('table.sort'), function (t) { return t.tBodies[0].rows.length < 2 ||
        [].every.call(t.tHead.rows[t.tHead.rows.length - 1].cells, function (c) {
            var b = c.querySelector('button'); return b && b.type === 'button' && b.textContent; }); });
var first = document.querySelector('a,button,[tabindex]');
first.focus();
say.skip = first.className === 'skip' && document.activeElement === first && first.getBoundingClientRect().left >= 0;
var sort = document.querySelector('th button');
sort.focus();
say.keys = document.activeElement === sort && [].every.call(document.querySelectorAll('.scroll'), function (s) {
    return s.tabIndex === 0 && (s.getAttribute('aria-label') || document.getElementById(s.getAttribute('aria-labelledby'))); });
var point = document.querySelector('.v');
point.dispatchEvent(new PointerEvent('pointermove', { bubbles: true, clientX: 50, clientY: 50 }));
var tip = document.getElementById('tip');
say.tip = !!tip && !tip.hidden && /: /.test(tip.textContent);
function done(csv) {
    var lines = csv.replace(/^\uFEFF/, '').trim().split('\r\n');
    say.csv = lines.length === body.rows.length + 1 && /\(%\)/.test(lines[0]) && !/NaN|undefined/.test(csv);
    var out = document.createElement('p');
    out.id = 'probe';
    out.textContent = Object.keys(say).map(function (k) { return k + '=' + say[k]; }).join(' ') + ' end';
    document.body.appendChild(out);
}
var href = table.parentNode.nextElementSibling.querySelector('a').href;
done(decodeURIComponent(href.slice(href.indexOf(',') + 1)));
});</script>
JS
}
look() { # page, name, width: DOM and log of the page with the probe
    { cat "$1"; probe; } >"$dir/$2.html"
    "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$dir/profile" --window-size="$3,2000" \
        --host-resolver-rules='MAP * ~NOTFOUND' --enable-logging=stderr --v=0 \
        --dump-dom "file://$dir/$2.html" >"$dir/$2.dom" 2>"$dir/$2.log" || true
    grep -o '<p id="probe">[^<]*' "$dir/$2.dom" >"$dir/$2.said" || echo none >"$dir/$2.said"
}
failed=0
n=0
check() { # what, command...
    local what=$1
    shift
    n=$((n + 1))
    if "$@"; then echo "ok $n $what"; else
        echo "not ok $n $what"
        sed 's/^/# /' "$dir"/*.said
        failed=1
    fi
}
says() { for w in "${@:2}"; do grep -q " $w=true \|>$w=true " "$dir/$1.said" || return 1; done; }

"$bin" run scenarios/mixed.json -o "$dir/out" --quiet >/dev/null 2>&1
look "$dir/out/report.html" en 1280
check 'the page has its title and its tables' grep -q '<h1[^>]*>mixed' "$dir/en.dom"
check 'every picture is drawn, and has a name for screen readers' says en pictures named
check 'the page names no other file and no server' \
    bash -c "! grep -Eq '(src|href)=.(https?:|//|file:)' '$dir/out/report.html'"
check 'it asks for nothing' says en requests
check 'the browser complains of nothing' bash -c "! grep -q CONSOLE '$dir/en.log'"
check 'tables sort up and down, sums stay last' says en unsorted up down sum_last
check 'a table downloads as CSV with its units' says en csv
check 'a value is shown under the pointer' says en tip
check 'nothing sticks out at 1280 px' says en wide
check 'every picture says in words what it shows' says en described
check 'headings, landmarks and the language are in order, names are unique, links lead somewhere' says en outline ids alone
check 'heads of tables say what they are of, and sort by buttons' says en scoped
check 'the keyboard gets everywhere, past the contents first' says en skip keys

{ echo '<iframe id="f" style="width:390px;height:3000px;border:0" src="en.html"></iframe><script>
addEventListener("load", function () { setTimeout(function () { var d = document.getElementById("f").contentDocument;
document.body.dataset.narrow = d && d.documentElement.scrollWidth <= 390; }, 300); });</script>'; } >"$dir/narrow.html"
"$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$dir/profile" --allow-file-access-from-files \
    --virtual-time-budget=3000 --dump-dom "file://$dir/narrow.html" >"$dir/narrow.dom" 2>/dev/null || true
check 'nor at 390 px' grep -q 'data-narrow="true"' "$dir/narrow.dom"

# A4 landscape less its margins of 12 mm is 1031 px wide: the rules for paper, on a screen of that width.
sed 's/@media print{/@media all{/' "$dir/out/report.html" >"$dir/paper-rules.html"
look "$dir/paper-rules.html" paper 1031
check 'nothing is cut on paper' says paper wide
# Once as it is, and twice further down: where a page ends is chance, and another end is another test of the rules.
for mm in 0 50 75; do
    sed "s|<main>|<main><div style=\"height:${mm}mm\"></div>|" "$dir/out/report.html" >"$dir/lower.html"
    "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$dir/profile" --no-pdf-header-footer \
        --print-to-pdf="$dir/report-$mm.pdf" "file://$dir/lower.html" >/dev/null 2>&1 || true
done
check 'it prints' bash -c "test \"\$(grep -ac '/Type /Page\$' '$dir/report-0.pdf')\" -ge 4"

# Where a page of the PDF begins and ends: never with a heading or the head of a table that goes on behind it, nor with
# a row whose head stands a page before.
edge() { for f in "$dir"/report-*.pdf; do pdftotext -layout "$f" -; done | awk -v RS='\f' -v at="$1" '{ n = split($0, line, "\n"); one = ""
    for (i = at == "first" ? 1 : n; i >= 1 && i <= n && one == ""; i += at == "first" ? 1 : -1) if (line[i] ~ /[^ ]/) one = line[i]
    gsub(/[^ -~]/, "", one); sub(/^ */, "", one); if (one != "") print one }'; }
no_heading_last() {
    grep -o '<h[23] id="[^"]*">[^<]*' "$dir/out/report.html" | sed 's/.*>//' | sort -u >"$dir/headings"
    ! edge last | sed 's/ *$//' | grep -Fxq -f "$dir/headings"
}
no_head_last() {
    ! edge last | grep -Eq '^(policy|work|figure|item|user|group|bought|aspect|parameter|measured quantity)  [^0-9]*$|^((USD|%|kWh|kW|jobs|times|months|number|GPU-hours|a year)( +|$))+$'
}
no_row_first() { ! edge first | grep -Eq '^(whole|mig|timeslice|mps|intercept|pool|total|(train|dev|notebook|base)-[ug][0-9]+)(  |$)'; }
# Where rows break: the page's own rules, a sheet for each of 40 heights of what stands above a table of 12 rows and one of 6.
# Every line of the text is a row: "t07 r01".
{
    echo '<!doctype html><meta charset="utf-8">'
    sed -n '/<style>/,/<\/style>/p' "$dir/out/report.html"
    for rows in 12 6; do
        for k in $(seq -w 40); do
            echo "<div style=\"break-before:page;height:$((104 + 2 * 10#$k))mm\"></div><div class=\"scroll\"><table><thead><tr><th>head</th></tr></thead><tbody>"
            for r in $(seq -w "$rows"); do [ "$rows" = 12 ] || r=0$r; echo "<tr><td class=\"text\">t$rows-$k r$r</td></tr>"; done
            echo '</tbody></table></div>'
        done
    done
} >"$dir/rows.html"
"$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$dir/profile" --no-pdf-header-footer \
    --print-to-pdf="$dir/rows.pdf" "file://$dir/rows.html" >/dev/null 2>&1 || true
# "12-07 4 8": the table, and how many of its rows stand on each of its pages
split_rows() { pdftotext -layout "$dir/rows.pdf" - | awk -v RS='\f' '{ n = split($0, line, "\n"); delete on
    for (i = 1; i <= n; i++) if (match(line[i], /t[0-9]+-[0-9]+ r/)) on[substr(line[i], RSTART + 1, RLENGTH - 3)]++
    for (t in on) rows[t] = rows[t] " " on[t] } END { for (t in rows) print t rows[t] }' | sort; }
# Both must be seen: tables that are cut, and none with fewer than two rows before the cut or three behind it.
cut_well() { split_rows >"$dir/split.said"; awk '/^12-/ { all++; if (NF > 2) { cut++; if ($2 < 2 || $NF < 3) bad++ } }
    END { exit !(all == 40 && cut >= 5 && !bad) }' "$dir/split.said"; }
kept_whole() { awk '/^6-/ { all++; if (NF > 2 || $2 != 6) bad++ } END { exit !(all == 40 && !bad) }' "$dir/split.said"; }
if command -v pdftotext >/dev/null; then
    check 'a table is cut with two rows before the cut and three behind it' cut_well
    check 'a small table is not cut' kept_whole
    check 'on few pages' bash -c "test \"\$(grep -ac '/Type /Page\$' '$dir/report-0.pdf')\" -le 22"
    check 'no page ends with a heading' no_heading_last
    check 'nor with the head of a table' no_head_last
    check 'no page begins with a row without its head' no_row_first
else
    for i in 17 18 19 20 21 22; do n=$((n + 1)); echo "ok $i # SKIP no pdftotext"; done
fi

"$bin" report "$dir/out" --lang zh
look "$dir/out/report.html" zh 1280
check 'the Chinese page has all of it, too' says zh up down pictures requests csv tip wide named
check 'and says that it is Chinese' grep -q '<html lang="zh-CN"' "$dir/zh.dom"
check 'its pictures too' bash -c "grep -q '占卡时的比例' '$dir/out/plots/card_time.svg'"
check 'the browser complains of nothing there' bash -c "! grep -q CONSOLE '$dir/zh.log'"
exit $failed
