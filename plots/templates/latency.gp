# latency.gp - percentiles of the requests of each service against their targets: a panel a figure, a line a
# policy; a flat bar is a target.
# By hand: gnuplot -e "data='latency.tsv'; out='latency.svg'" latency.gp
# Data: one block a panel, two blank lines between; first row: its name, "target", the policies; then four
# rows: place of the percentile, target in ms (NaN: none), ms under each policy.
set datafile separator "\t"
set datafile columnheaders
stats data using 1 nooutput
blocks = STATS_blocks
stats data index 0 using 1 nooutput
policies = STATS_columns - 2
above = 44.0
row = 186.0
below = 34.0
height = above + row * blocks + below
load ARG0[1:strlen(ARG0) - strlen("latency.gp")]."style.gp"
set logscale y
set format y "%g"
set xrange [-0.4:3.4]
set xtics ("p50" 0, "p90" 1, "p95" 2, "p99" 3) scale 0
set lmargin at screen 0.09
set rmargin at screen 0.985
set label 2 "time (ms, log scale)" at screen 0.005, 1 - 12 / height left
set label 3 "share of the requests that are faster" at screen 0.5, 10 / height center
set multiplot
do for [b = 0:blocks - 1] {
    top = (height - above - row * b) / height
    set tmargin at screen top - 20 / height
    set bmargin at screen top - (row - 32) / height
    if (b == 0) { set key at screen 0.5, screen 1 - 22 / height center top horizontal maxrows 1 } else { unset key }
    plot for [k = 3:policies + 2] data index b using 1:(column(k)) with linespoints linetype k - 2 pointtype mark(k - 2) pointsize 0.6 title columnheader(k), \
         data index b using 1:2:(0.3) with xerrorbars linecolor rgb "black" linewidth 2 pointtype 0 notitle, \
         for [k = 3:policies + 2] data index b using 1:(column(k)):(sprintf("%s, %s, %s: %s ms", columnhead(1), columnhead(k), word("p50 p90 p95 p99", int($1) + 1), figure(column(k)))) with labels hypertext point pointtype 7 pointsize 1.2 linecolor rgb "#FF000000" notitle
    unset label 2
    unset label 3
    set key at graph 0, 1.12 left top Left samplen -1 noenhanced horizontal
    set border 0
    unset tics
    plot data index b using 1:(10) with lines linecolor rgb "#FF000000" title columnheader(1)
    set border 3 linecolor rgb "black" linewidth 0.7
    set ytics nomirror out scale 0.5
    set xtics ("p50" 0, "p90" 1, "p95" 2, "p99" 3) scale 0
}
unset multiplot
