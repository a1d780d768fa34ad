# breakeven.gp - rent per card-hour at which owning costs the same, by how much the cards are used: rent above the
# curve makes owning the cheaper. A dot is the run itself; a policy that is rented has nothing else.
# By hand: gnuplot -e "data='breakeven.tsv'; out='breakeven.svg'" breakeven.gp
# Data: one block a policy, two blank lines between; first row: its name; then share of card time that jobs
# hold (0..1), USD per card-hour held, 1 in the row of the run itself, place (power of ten) of the last digit shown.
set datafile separator "\t"
set datafile columnheaders
stats data using 1 nooutput
blocks = STATS_blocks
height = 340
load ARG0[1:strlen(ARG0) - strlen("breakeven.gp")]."style.gp"
set xlabel "card time that jobs hold (%)"
stats data using 2 nooutput
most = STATS_max
set ylabel "break-even rent per card-hour held".in_usd(most)
set xrange [0:100]
set logscale y
set format y "%g"
set grid xtics ytics linecolor rgb "gray" linewidth 0.4 dashtype 3
plot for [b = 0:blocks - 1] data index b using (100 * $1):($3 == 0 ? $2 / usd(most) : NaN) with lines linetype b + 1 notitle, \
     for [b = 0:blocks - 1] data index b using (100 * $1):($3 == 1 ? $2 / usd(most) : NaN) with points linetype b + 1 pointtype mark(b + 1) pointsize 0.9 title columnheader(1), \
     for [b = 0:blocks - 1] data index b using (100 * $1):($3 == 1 ? $2 / usd(most) : NaN):(sprintf("%s, %.1f %%: %s", columnhead(1), 100 * $1, dollars($2, $4))) with labels hypertext point pointtype 7 pointsize 1.4 linecolor rgb "#FF000000" notitle
