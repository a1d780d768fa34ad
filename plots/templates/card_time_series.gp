# card_time_series.gp - what became of the card time, interval by interval: a panel a policy, shared axes.
# By hand: gnuplot -e "data='card_time_series.tsv'; out='card_time_series.svg'" card_time_series.gp
# Data: one block a policy, two blank lines between; first row: name of the policy, names of the shares;
# then end of the interval in hours and the shares (0..1), which add up to one.
set datafile separator "\t"
set datafile columnheaders
stats data using 1 nooutput
blocks = STATS_blocks
hours = STATS_max
shown = ""
do for [c = 2:7] {
    stats data using c nooutput
    if (STATS_max >= 0.001) { shown = sprintf("%d ", c).shown }
}
above = 86.0
row = 92.0
panel = 64.0
below = 58.0
height = above + row * blocks - (row - panel) + below
load ARG0[1:strlen(ARG0) - strlen("card_time_series.gp")]."style.gp"
unit = per(hours)
last = hours / unit
array tone[6] = [2, 4, 6, 1, 8, 10] # as in card_time.gp
set xrange [0:last]
set yrange [0:100]
set ytics 50
set grid noytics noxtics
set style fill solid 1 noborder
set lmargin at screen 0.06
set rmargin at screen 0.985
set label 2 since(hours) at screen 0.5, 10 / height center
set label 3 "share of card time (%)" at screen 0.005, 1 - 12 / height left
set multiplot
do for [b = 0:blocks - 1] {
    bottom = (height - above - row * b - panel) / height
    set tmargin at screen bottom + panel / height
    set bmargin at screen bottom
    set format x (b == blocks - 1 ? "%g" : "")
    if (b == 0) { set key at screen 0.5, screen 1 - 22 / height center top horizontal maxcols 3 width -2 } else { unset key }
    plot for [s in shown] data index b using ($1 / unit):(100 * (sum [k = 2:int(s)] column(k))) \
        with filledcurves y=0 linecolor rgb category[tone[int(s) - 1]] title columnheader(int(s))
    unset label 2
    unset label 3
    set key at graph 0, 1.35 left top Left samplen -1 noenhanced horizontal
    set border 0
    unset tics
    plot data index b using ($1 / unit):2 with lines linecolor rgb "#FF000000" title columnheader(1)
    set border 3 linecolor rgb "black" linewidth 0.7
    set xtics nomirror out scale 0.5
    set ytics 50 nomirror out scale 0.5
}
unset multiplot
