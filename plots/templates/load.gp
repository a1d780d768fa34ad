# load.gp - allocation and queue over time, one line a policy.
# By hand: gnuplot -e "data='load.tsv'; out='load.svg'" load.gp
# Data: one block a policy, two blank lines between; first row: name of the policy, "allocated",
# "queued"; then end of the interval in hours, mean allocated share (0..1), most jobs waiting.
set datafile separator "\t"
set datafile columnheaders
stats data using 1 nooutput
blocks = STATS_blocks
rows = (blocks + 1) / 2
height = 480 + 19 * rows
load ARG0[1:strlen(ARG0) - strlen("load.gp")]."style.gp"
days = STATS_max > 96
set xrange [0:*]
set lmargin 10
set rmargin 3
set key outside top center horizontal maxcols 2
set multiplot
top = 1 - (20.0 + 19 * rows) / height
bottom = 70.0 / height
middle = (top + bottom) / 2
set tmargin at screen top
set bmargin at screen middle + 0.02
set ylabel "card time allocated (%)"
set yrange [0:100]
set format x ""
plot for [b = 0:blocks - 1] data index b using ($1 / (days ? 24 : 1)):(100 * $2) with steps linetype b + 1 \
        title columnheader(1)
set tmargin at screen middle - 0.05
set bmargin at screen bottom
set ylabel "jobs waiting"
set yrange [0:*]
set format x "%g"
set xlabel days ? "time since the start of the run (days)" : "time since the start of the run (h)"
unset key
plot for [b = 0:blocks - 1] data index b using ($1 / (days ? 24 : 1)):3 with steps linetype b + 1
unset multiplot
