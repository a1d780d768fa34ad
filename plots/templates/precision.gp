# precision.gp - operations done per second against the peak of the fleet, by precision; bars are peaks.
# By hand: gnuplot -e "data='precision.tsv'; out='precision.svg'" precision.gp
# Data: one row a precision: its name with the unit (TFLOPS or TOPS), peak, then what was done under the
# policies named in the first row, in that unit.
set datafile separator "\t"
set datafile columnheaders
stats data using 2 nooutput
rows = STATS_records
policies = STATS_columns - 2
peak = STATS_max
height = 110 + 46 * rows
load ARG0[1:strlen(ARG0) - strlen("precision.gp")]."style.gp"
set key outside top center horizontal
set logscale x
set format x "%g"
set xlabel "operations per second (in the unit at the left, log scale)"
set yrange [rows - 0.5:-0.5]
set ytics scale 0 noenhanced
set border 1
set grid noytics xtics linecolor rgb "gray" linewidth 0.4 dashtype 3
set style fill solid 1 noborder
set xrange [*:peak * 1.5]
at(k) = $0 + 0.5 * (k - 2 - (policies + 1) / 2.0) / policies
plot data using 2:0:ytic(1) with points pointtype 0 linecolor rgb "#FF000000" notitle, \
     data using 2:0:(0.34) with yerrorbars linecolor rgb "black" linewidth 2.4 pointtype 0 title columnheader(2), \
     for [k = 3:policies + 2] data using (column(k)):(at(k)) with points linetype k - 2 pointtype mark(k - 2) pointsize 0.8 title columnheader(k), \
     for [k = 3:policies + 2] data using (column(k)):(at(k)):(sprintf("%s, %s: %s", strcol(1), columnhead(k), figure(column(k)))) with labels hypertext point pointtype 7 pointsize 1.2 linecolor rgb "#FF000000" notitle
