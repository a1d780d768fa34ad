# two_runs.gp - the second run against the first, in percent of the first run, with 95 % intervals where
# there are replications: left of zero is less. What lies beyond the axis stands at its end, hollow.
# By hand: gnuplot -e "data='two_runs.tsv'; out='two_runs.svg'" two_runs.gp
# Data: one block a policy, two blank lines between; first row: its name; then number and name
# of the figure, number of these policies, and difference, low and high as shares of the first's value.
set datafile separator "\t"
set datafile columnheaders
stats data using 1 nooutput
blocks = STATS_blocks
rows = int(STATS_max) + 1
height = 110 + rows * (14 + 9 * blocks)
load ARG0[1:strlen(ARG0) - strlen("two_runs.gp")]."style.gp"
far = 105.0
set xrange [-far:far]
set xtics 25
set yrange [rows - 0.5:-0.5]
set ytics scale 0 noenhanced
set border 1
set grid noytics xtics linecolor rgb "gray" linewidth 0.4 dashtype 3
set arrow 1 from 0, graph 0 to 0, graph 1 nohead linecolor rgb "black" linewidth 0.8
set xlabel "second run less the first (% of the first)"
in(x) = x > 1 ? 102.5 : x < -1 ? -102.5 : 100 * x
at(b) = $1 + 0.7 * (b - (blocks - 1) / 2.0) / blocks
plot data index 0 using (0):1:ytic(2) with points pointtype 0 linecolor rgb "#FF000000" notitle, \
     for [b = 0:blocks - 1] data index b using (in($4)):(at(b)):(in($5)):(in($6)) with xerrorbars linetype b + 1 pointtype 7 pointsize 0.01 notitle, \
     for [b = 0:blocks - 1] data index b using (in($4)):(at(b)) with points linetype b + 1 pointtype 7 pointsize 0.75 title columnheader(1), \
     for [b = 0:blocks - 1] data index b using (abs($4) > 1 ? in($4) : NaN):(at(b)) with points pointtype 7 pointsize 0.4 linecolor rgb "white" notitle, \
     for [b = 0:blocks - 1] data index b using (in($4)):(at(b)):(sprintf("%s: %s", strcol(2), change(100 * $4))) with labels hypertext point pointtype 7 pointsize 1.2 linecolor rgb "#FF000000" notitle
