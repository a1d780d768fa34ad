# fragments.gp - free capacity that is of no use, over time, one curve a policy.
# By hand: gnuplot -e "data='fragments.tsv'; out='fragments.svg'" fragments.gp
# Data: one block a policy, two blank lines between; first row: name of the policy, "fragmentation",
# "stranded"; then end of the interval in hours and both shares (0..1).
set datafile separator "\t"
set datafile columnheaders
stats data using 1 nooutput
blocks = STATS_blocks
hours = STATS_max
height = 440
load ARG0[1:strlen(ARG0) - strlen("fragments.gp")]."style.gp"
unit = per(hours)
last = hours / unit
set xrange [0:last]
set yrange [0:*]
set lmargin at screen 0.075
set rmargin at screen 0.985
set multiplot
set tmargin at screen 0.88
set bmargin at screen 0.54
set format x ""
set key at screen 0.5, screen 0.985 center top horizontal maxrows 1
set ylabel "fragmentation (%)"
plot for [b = 0:blocks - 1] data index b using ($1 / unit):(100 * $2) with lines linetype b + 1 title columnheader(1)
set tmargin at screen 0.48
set bmargin at screen 0.14
set format x "%g"
unset key
set ylabel "stranded (%)"
set xlabel since(hours)
plot for [b = 0:blocks - 1] data index b using ($1 / unit):(100 * $3) with lines linetype b + 1
unset multiplot
