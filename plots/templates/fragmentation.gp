# fragmentation.gp - what is allocated and what is free but of no use, against what has arrived.
# By hand, on the series of a fill such as scenarios/fragmentation.json:
#   gnuplot -e "data='out/fragmentation/series.csv'; out='fragmentation.svg'" fragmentation.gp
# arrivals: requests for cards per second, as a share of the cards (default: that scenario's).
set datafile separator ","
set datafile columnheaders
if (!exists("arrivals")) arrivals = 1.3 / 10671
names = "" # as they come, each once; no shell sees the path
seen(p) = strstrt(" ".names, " ".p." ") ? 1 : (names = names.p." ", 0)
stats data using (seen(strcol("policy"))) nooutput
rows = (words(names) + 1) / 2
height = 480 + 19 * rows
load ARG0[1:strlen(ARG0) - strlen("fragmentation.gp")]."style.gp"
set xrange [0:130]
set lmargin 10
set rmargin 3
set key outside top center horizontal maxcols 2
set multiplot
top = 1 - (20.0 + 19 * rows) / height
bottom = 70.0 / height
middle = (top + bottom) / 2
set tmargin at screen top
set bmargin at screen middle + 0.02
set ylabel "allocated (% of the cards)"
set yrange [0:100]
set format x ""
of(p, x) = strcol("policy") eq p ? x : NaN
set datafile missing NaN
plot for [k = 1:words(names)] data using (100 * arrivals * column("t_s")):(of(word(names, k), 100 * column("allocated"))) \
        with lines linetype k title word(names, k)
set tmargin at screen middle - 0.05
set bmargin at screen bottom
set ylabel "fragments (% of the cards)"
set yrange [0:*]
set format x "%g"
set xlabel "arrived (% of the cards)"
unset key
plot for [k = 1:words(names)] data using (100 * arrivals * column("t_s")):(of(word(names, k), 100 * column("fragmentation"))) \
        with lines linetype k
unset multiplot
