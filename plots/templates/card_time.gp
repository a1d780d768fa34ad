# card_time.gp - what became of the card time under each policy, in percent of all card time.
# By hand: gnuplot -e "data='card_time.tsv'; out='card_time.svg'" card_time.gp
# Data: one row a policy: name, then the shares (0..1) of the columns named in the first row. What is
# nowhere as much as a thousandth has no entry in the key.
set datafile separator "\t"
set datafile columnheaders
shown = ""
do for [c = 2:7] {
    stats data using c nooutput
    if (STATS_max >= 0.001) { shown = shown." ".c }
}
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
set style fill solid 1 border linecolor rgb "#808080"
array tone[6] = [2, 4, 6, 1, 8, 10] # of the ramp for categories: stranded stands out
plot for [s in shown] data using (100 * (sum [k = 2:int(s)] column(k))):0:\
        (100 * ((sum [k = 2:int(s)] column(k)) - column(int(s)))):(100 * (sum [k = 2:int(s)] column(k))):\
        ($0 - 0.36):($0 + 0.36):ytic(1) with boxxyerror linewidth 0.4 linecolor rgb category[tone[int(s) - 1]] \
        title columnheader(int(s)), \
     for [s in shown] data using (100 * ((sum [k = 2:int(s)] column(k)) - column(int(s)) / 2)):0:(sprintf("%s, %s: %.1f %%", strcol(1), columnhead(int(s)), 100 * column(int(s)))) \
        with labels hypertext point pointtype 7 pointsize 1.6 linecolor rgb "#FF000000" notitle
