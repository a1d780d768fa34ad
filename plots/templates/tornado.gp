# tornado.gp - what each price, alone at the ends of its range, makes of the yearly cost.
# By hand: gnuplot -e "data='tornado.tsv'; out='tornado.svg'" tornado.gp
# Data: one row an input, the strongest first: its name, cost with all inputs at their modes, the ends of its
# range, cost at each end (USD a year), place (power of ten) of the last digit shown of it.
set datafile separator "\t"
set datafile columnheaders
stats data using 2 nooutput
rows = STATS_records
base = STATS_max
stats data using 6 nooutput
most = STATS_max > base ? STATS_max : base
height = 100 + 30 * rows
load ARG0[1:strlen(ARG0) - strlen("tornado.gp")]."style.gp"
set xlabel "equivalent annual cost".in_usd(most)
set format x "%.10g"
set xtics rotate by 0
set yrange [rows - 0.4:-0.6]
set ytics noenhanced scale 0
set border 1
set grid noytics xtics linecolor rgb "gray" linewidth 0.4 dashtype 3
set style fill solid 1 border linecolor rgb "#808080"
set arrow 1 from base / usd(most), graph 0 to base / usd(most), graph 1 nohead linecolor rgb "black" linewidth 0.8
set key outside top center horizontal
plot data using ($5 / usd(most)):0:($5 / usd(most)):(base / usd(most)):($0 - 0.32):($0 + 0.32):ytic(1) with boxxyerror linewidth 0.4 linecolor rgb category[7] title "low end of the price", \
     data using ($6 / usd(most)):0:(base / usd(most)):($6 / usd(most)):($0 - 0.32):($0 + 0.32) with boxxyerror linewidth 0.4 linecolor rgb category[3] title "high end of the price", \
     data using ($5 / usd(most)):0:(strcol(1)." = ".figure($3).": ".dollars($5, $7)) with labels hypertext point pointtype 7 pointsize 1.6 linecolor rgb "#FF000000" notitle, \
     data using ($6 / usd(most)):0:(strcol(1)." = ".figure($4).": ".dollars($6, $7)) with labels hypertext point pointtype 7 pointsize 1.6 linecolor rgb "#FF000000" notitle
