# use.gp - allocation, duty cycle, SM activity and memory apart: a group of bars each, one bar a policy.
# By hand: gnuplot -e "data='use.tsv'; out='use.svg'" use.gp
# Data: one row a figure: its name, then its share (0..1) under the policies named in the first row; NaN:
# not known.
set datafile separator "\t"
set datafile columnheaders
stats data using (0) nooutput
policies = STATS_columns - 1
height = 330
load ARG0[1:strlen(ARG0) - strlen("use.gp")]."style.gp"
set key outside top center horizontal
set ylabel "share of card time or capacity (%)"
set yrange [0:100]
set xrange [-0.5:3.5]
set xtics scale 0
set style fill solid 1 noborder
wide = 0.8 / policies
at(k) = $0 - 0.4 + wide * (k - 1.5)
plot data using 0:(0):xtic(1) with points pointtype 0 linecolor rgb "#FF000000" notitle, \
     for [k = 2:policies + 1] data using (at(k)):(100 * column(k)):(wide * 0.92) with boxes linetype k - 1 title columnheader(k), \
     for [k = 2:policies + 1] data using (at(k)):(column(k) == column(k) ? 50 * column(k) : NaN):(sprintf("%s, %s: %.1f %%", strcol(1), columnhead(k), 100 * column(k))) \
        with labels hypertext point pointtype 7 pointsize 1.4 linecolor rgb "#FF000000" notitle
