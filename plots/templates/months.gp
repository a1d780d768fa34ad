# months.gp - cash paid since the beginning, month by month: where a line of owning meets one of renting and stays below
# it, buying has paid (a dot). Dashed: the same work on rented cards.
# By hand: gnuplot -e "data='months.tsv'; out='months.svg'" months.gp
# Data: one block a policy, two blank lines between; first row: its name; then month, USD paid by its end, the same where
# buying has paid against some rent (else NaN), USD that renting would have cost by then (NaN: nothing to rent), place
# (power of ten) of the last digit shown.
set datafile separator "\t"
set datafile columnheaders
stats data using 1 nooutput
blocks = STATS_blocks
last = STATS_max
stats data using 2 nooutput
most = STATS_max
rented = 0
stats data using 4 nooutput name "R"
if (exists("R_max") && R_records > 0) { rented = 1; if (R_max > most) { most = R_max } }
height = 360
load ARG0[1:strlen(ARG0) - strlen("months.gp")]."style.gp"
set xlabel "months since the beginning"
set ylabel "paid so far".in_usd(most)
set yrange [0:*]
set xtics 12
set grid xtics ytics linecolor rgb "gray" linewidth 0.4 dashtype 3
set xrange [0:last]
owned = "bought"
hired = "rented"
plot for [b = 0:blocks - 1] data index b using 1:($2 / usd(most)) with lines linetype b + 1 title columnheader(1), \
     for [b = 0:(rented ? blocks - 1 : -1)] data index b using 1:($4 / usd(most)) with lines linetype b + 1 dashtype 2 notitle, \
     for [b = 0:blocks - 1] data index b using 1:($3 / usd(most)) with points linetype b + 1 pointtype mark(b + 1) pointsize 0.9 notitle, \
     NaN with lines linecolor rgb "black" dashtype 1 title owned, \
     for [b = 0:(rented ? 0 : -1)] NaN with lines linecolor rgb "black" dashtype 2 title hired, \
     data using 1:($2 / usd(most)):(sprintf("month %d: %s USD", $1, to_place($2, $5))) with labels hypertext point pointtype 7 pointsize 0.9 linecolor rgb "#FF000000" notitle
