# cost.gp - cost of the run by item, straight line, one bar a policy.
# By hand: gnuplot -e "data='cost.tsv'; out='cost.svg'" cost.gp
# Data: one row a policy: name, then USD of the items named in the first row, and the place (power of ten) of the
# last digit that is shown of them.
set datafile separator "\t"
set datafile columnheaders
stats data using 2 nooutput
rows = STATS_records
items = STATS_columns - 2
stats data using (sum [k = 2:items + 1] column(k)) nooutput
most = STATS_max
height = 130 + 34 * rows
if (height < 90 + 22 * items) height = 90 + 22 * items
load ARG0[1:strlen(ARG0) - strlen("cost.gp")]."style.gp"
set xlabel "cost over the run".in_usd(most)
set xrange [0:*]
set format x "%.10g"
set yrange [rows - 0.4:-0.6]
set ytics noenhanced scale 0
set grid noytics xtics linecolor rgb "gray" linewidth 0.4 dashtype 3
set border 1
set style fill solid 1 border linecolor rgb "#808080"
tone(i) = items < 2 ? 4 : 1 + int(9.0 * (i - 1) / (items - 1) + 0.5) # spread over the ramp
plot for [c = 2:items + 1] data using ((sum [k = 2:c] column(k)) / usd(most)):0:\
        (((sum [k = 2:c] column(k)) - column(c)) / usd(most)):((sum [k = 2:c] column(k)) / usd(most)):\
        ($0 - 0.36):($0 + 0.36):ytic(1) with boxxyerror linewidth 0.4 linecolor rgb category[tone(c - 1)] \
        title columnheader(c), \
     for [c = 2:items + 1] data using (((sum [k = 2:c] column(k)) - column(c) / 2) / usd(most)):0:(strcol(1).", ".columnhead(c).": ".dollars(column(c), column(items + 2))) \
        with labels hypertext point pointtype 7 pointsize 1.6 linecolor rgb "#FF000000" notitle
