# card_time.gp - what became of the card time under each policy, in percent of all card time.
# By hand: gnuplot -e "data='card_time.tsv'; out='card_time.svg'" card_time.gp
# Data: one row a policy: name, then the shares (0..1) of the columns named in the first row.
set datafile separator "\t"
set datafile columnheaders
stats data using 2 nooutput
rows = STATS_records
height = 130 + 34 * rows
load ARG0[1:strlen(ARG0) - strlen("card_time.gp")]."style.gp"
set key outside top center horizontal maxcols 3
set xlabel "share of card time (%)"
set xrange [0:100]
set yrange [rows - 0.4:-0.6]
set ytics noenhanced scale 0
set grid noytics xtics linecolor rgb "gray" linewidth 0.4 dashtype 3
set border 1
set style fill solid 1 noborder
array colour[6] = ["#0072B2", "#56B4E9", "#E69F00", "#D55E00", "#BBBBBB", "#6B6B6B"]
plot for [c = 2:7] data using (100 * (sum [k = 2:c] column(k))):0:\
        (100 * ((sum [k = 2:c] column(k)) - column(c))):(100 * (sum [k = 2:c] column(k))):\
        ($0 - 0.36):($0 + 0.36):ytic(1) with boxxyerror linecolor rgb colour[c - 1] title columnheader(c)
