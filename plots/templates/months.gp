# months.gp - cash paid since the beginning, month by month: where a line of owning meets one of renting and stays below
# it, buying has paid (a dot).
# By hand: gnuplot -e "data='months.tsv'; out='months.svg'" months.gp
# Data: one block a policy, two blank lines between; first row: its name; then month, USD paid by its end, the same where
# buying has paid against some rent (else NaN).
set datafile separator "\t"
set datafile columnheaders
stats data using 1 nooutput
blocks = STATS_blocks
last = STATS_max
height = 360
load ARG0[1:strlen(ARG0) - strlen("months.gp")]."style.gp"
set xlabel "months since the beginning"
set ylabel "paid so far (USD)"
set xrange [0:last]
set yrange [0:*]
set xtics 12
set format y "%.1s %c"
set grid xtics ytics linecolor rgb "gray" linewidth 0.4 dashtype 3
plot for [b = 0:blocks - 1] data index b using 1:2 with lines linetype b + 1 title columnheader(1), \
     for [b = 0:blocks - 1] data index b using 1:3 with points linetype b + 1 pointtype mark(b + 1) pointsize 0.9 notitle, \
     data using 1:2:(sprintf("month %d: %.0f USD", $1, $2)) with labels hypertext point pointtype 7 pointsize 0.9 linecolor rgb "#FF000000" notitle
