# style.gp - common look of all plots. Each template sets `height` and loads it.
# Colours: each at least 3 to 1 against the white and the dark page, and any two at least 11 apart in CIELAB, also
# as red-, green- or blue-blind eyes see them; found by search from the hues of Okabe and Ito, some of whose colours
# are 2.3 to 1 on white. Line type k is policy k of the data; from the ninth on the same colours come back dashed,
# and points as triangles (mark).
# Categories (what card time is spent on, cost items) take no policy's colour but steps of a ramp of
# browns that differ in lightness, in the order in which they stand in a bar.
set terminal svg enhanced size 860, height font "sans-serif,13" linewidth 1.4
set output out
set encoding utf8
set datafile missing "NaN"
set border 3 linecolor rgb "black" linewidth 0.7
set tics nomirror out scale 0.5
set grid ytics linecolor rgb "gray" linewidth 0.4 dashtype 3
set key outside right top Left reverse noenhanced samplen 2
# A policy looks the same everywhere: with "3 5" in `places` the first of the data has the third colour, the second the fifth.
if (!exists("places")) { places = "" }
place(k) = k <= words(places) ? int(word(places, k)) : k
array hue[8] = ["#2294FF", "#B58819", "#00957C", "#B4585A", "#4262D6", "#E764B0", "#65666F", "#716719"]
last_type = words(places) > 16 ? words(places) : 16
do for [k = 1:last_type] {
    set linetype k linecolor rgb hue[(place(k) - 1) % 8 + 1] linewidth 1.6 dashtype 1 + (place(k) - 1) / 8 % 2
}
set linetype cycle last_type
mark(k) = place(k) > 8 ? 9 : 7
array category[10] = ["#3B2A20", "#523D2F", "#6A5242", "#826957", "#99816E", \
                      "#AF9987", "#C3B1A1", "#D6C8BA", "#E6DCD1", "#F4EEE7"]
# A line below the picture: that its figures are of another version than the program that drew it.
note = ""
if (strlen(note) > 0) { set label 99 note at screen 0.01, screen 0.02 left noenhanced font ",11" textcolor rgb "black" }
# Axes of time, `hours` long, and of money, up to `most` USD: the unit that suits them, in hours and in USD, and its name.
per(hours) = hours > 96 ? 24.0 : hours > 3 ? 1.0 : hours > 0.05 ? 1 / 60.0 : 1 / 3600.0
since(hours) = hours > 96 ? "time since the start of the run (days)" : hours > 3 ? "time since the start of the run (hours)" : \
    hours > 0.05 ? "time since the start of the run (minutes)" : "time since the start of the run (seconds)"
usd(most) = most >= 2e9 ? 1e9 : most >= 2e6 ? 1e6 : most >= 2e4 ? 1e3 : most >= 2e-3 ? 1 : most >= 2e-6 ? 1e-6 : most > 0 ? 1e-9 : 1
in_usd(most) = most >= 2e9 ? " (billion USD)" : most >= 2e6 ? " (million USD)" : most >= 2e4 ? " (thousand USD)" : \
    most >= 2e-3 || most == 0 ? " (USD)" : most >= 2e-6 ? " (millionths of a USD)" : " (billionths of a USD)"
# Numbers as the report writes them (sim/base/figure.h): to_place(x, -2) has hundredths, to_place(x, 3) thousands; figure(x)
# four significant digits, whole numbers whole; duration(s) three in the unit that suits; thousands are grouped, and there
# are no powers of ten.
grouped(s) = strlen(s) > 3 ? grouped(s[1:strlen(s) - 3]).",".s[strlen(s) - 2:] : s
with_point(s) = strstrt(s, ".") ? grouped(s[1:strstrt(s, ".") - 1]).s[strstrt(s, "."):] : grouped(s)
size(x, p) = sprintf(sprintf("%%.%df", p < 0 ? -p : 0), p > 0 ? floor(abs(x) / 10.0**p + 0.5) * 10.0**p : abs(x))
to_place(x, p) = x != x ? "n/a" : (x < 0 && real(size(x, p)) > 0 ? "-" : "").with_point(size(x, p))
last_place(x, n) = x == 0 ? 0 : floor(log10(abs(x) * (1 + 0.5 * 10.0**-n))) - n + 1
figure(x) = to_place(x, x == floor(x) ? 0 : last_place(x, 4))
in_unit(s) = to_place(s, last_place(s, 3))
duration(s) = s == 0 ? "0 s" : s < 1e-3 ? in_unit(s * 1e6)." \302\265s" : s < 1 ? in_unit(s * 1e3)." ms" : s < 120 ? in_unit(s)." s" : \
    s < 7200 ? in_unit(s / 60)." min" : s < 172800 ? in_unit(s / 3600)." h" : in_unit(s / 86400)." d"
dollars(x, p) = to_place(x, p)." "."USD"
change(x) = (x > 0 ? "+" : "").to_place(x, -1)." %"
# The unit of a stored figure, which is in its name: "jobs.wait_s.p95" is in seconds, "gpu.allocated" a share.
has(f, part) = strstrt(f, part) > 0
figure_unit(f) = has(f, "_ms") ? " (ms)" : has(f, "_s.") || has(f, "_per_s") ? (has(f, "_per_s") ? " (1/s)" : " (s)") : \
    has(f, "usd") ? " (USD)" : has(f, "_kwh") ? " (kWh)" : has(f, "gpu_hours") ? " (GPU-hours)" : has(f, "slowdown") ? " (times)" : \
    has(f, "gpu.count") ? " (cards)" : substr(f, 1, 4) eq "gpu." || has(f, "attainment") || has(f, ".busy") ? " (share, 0 to 1)" : \
    substr(f, 1, 5) eq "jobs." ? " (jobs)" : ""
