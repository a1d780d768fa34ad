# power.gp - power at the boards over time, one curve a policy.
# By hand: gnuplot -e "data='power.tsv'; out='power.svg'" power.gp
# Data: one block a policy, two blank lines between; first row: name of the policy, "kW"; then end of the
# interval in hours and mean power in kW.
set datafile separator "\t"
set datafile columnheaders
stats data using 1 nooutput
blocks = STATS_blocks
hours = STATS_max
height = 300
load ARG0[1:strlen(ARG0) - strlen("power.gp")]."style.gp"
unit = per(hours)
last = hours / unit
set key outside top center horizontal
set xrange [0:last]
set yrange [0:*]
set xlabel since(hours)
set ylabel "power at the boards (kW)"
plot for [b = 0:blocks - 1] data index b using ($1 / unit):2 with lines linetype b + 1 title columnheader(1)
