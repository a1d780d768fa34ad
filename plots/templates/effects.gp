# effects.gp - what each device parameter, alone at the ends of its range, changes: mean turnaround at the left, cost
# per useful GPU-hour at the right, where they are known.
# By hand: gnuplot -e "data='effects.tsv'; out='effects.svg'" effects.gp
# Data: one row a parameter, the strongest first: its name and the policy it moves most, change of mean turnaround
# at the low and at the high end (%), the same of the cost, the ends of the range.
set datafile separator "\t"
set datafile columnheaders
set datafile missing "NaN"
greater(x, y) = x == x && (y != y || x > y) ? x : y
do for [k = 2:5] {
    stats data using k nooutput name sprintf("C%d", k)
    # of a column that is not known
    if (!exists(sprintf("C%d_min", k))) { eval sprintf("C%d_records = 0; C%d_min = 0; C%d_max = 0", k, k, k) }
}
rows = C2_records > C4_records ? C2_records : C4_records
jobs = C2_records > 0
priced = C4_records > 0
turnaround = jobs ? greater(greater(abs(C2_min), abs(C2_max)), greater(abs(C3_min), abs(C3_max))) : 0
cost = priced ? greater(greater(abs(C4_min), abs(C4_max)), greater(abs(C5_min), abs(C5_max))) : 0
height = 150 + 28 * rows
load ARG0[1:strlen(ARG0) - strlen("effects.gp")]."style.gp"
set yrange [rows - 0.4:-0.6]
set ytics noenhanced scale 0
set border 1
set grid noytics xtics linecolor rgb "gray" linewidth 0.4 dashtype 3
set style fill solid 1 border linecolor rgb "#808080"
set arrow 1 from 0, graph 0 to 0, graph 1 nohead linecolor rgb "black" linewidth 0.8
set xtics rotate by 0 autofreq
set format x "%g"
set tmargin at screen 1 - 62.0 / height
set bmargin at screen 74.0 / height
both = jobs && priced
low = "low end of the range"
high = "high end of the range"
set multiplot
set key at screen 0.62, screen 1 - 26.0 / height center center horizontal maxrows 1
if (jobs) {
    set lmargin at screen 0.30
    set rmargin at screen (both ? 0.62 : 0.97)
    set xlabel "mean turnaround (change in %)"
    set xrange [-greater(1, 1.15 * turnaround):greater(1, 1.15 * turnaround)]
    plot data using (0):0:(0):2:($0 - 0.32):($0):ytic(1) with boxxyerror linewidth 0.4 linecolor rgb category[7] title low, \
         data using (0):0:(0):3:($0):($0 + 0.32) with boxxyerror linewidth 0.4 linecolor rgb category[3] title high, \
         data using 2:($0 - 0.16):(strcol(1)." = ".figure($6).": ".change($2)) with labels hypertext point pointtype 7 pointsize 1.6 linecolor rgb "#FF000000" notitle, \
         data using 3:($0 + 0.16):(strcol(1)." = ".figure($7).": ".change($3)) with labels hypertext point pointtype 7 pointsize 1.6 linecolor rgb "#FF000000" notitle
    unset key
}
if (priced) {
    if (jobs) { set ytics format "" }
    set lmargin at screen (both ? 0.65 : 0.30)
    set rmargin at screen 0.97
    set xlabel "cost per useful GPU-hour (change in %)"
    set xrange [-greater(1, 1.15 * cost):greater(1, 1.15 * cost)]
    if (jobs) {
        unset ytics
        plot data using (0):0:(0):4:($0 - 0.32):($0) with boxxyerror linewidth 0.4 linecolor rgb category[7] title low, \
             data using (0):0:(0):5:($0):($0 + 0.32) with boxxyerror linewidth 0.4 linecolor rgb category[3] title high, \
             data using 4:($0 - 0.16):(strcol(1)." = ".figure($6).": ".change($4)) with labels hypertext point pointtype 7 pointsize 1.6 linecolor rgb "#FF000000" notitle, \
             data using 5:($0 + 0.16):(strcol(1)." = ".figure($7).": ".change($5)) with labels hypertext point pointtype 7 pointsize 1.6 linecolor rgb "#FF000000" notitle
    } else {
        plot data using (0):0:(0):4:($0 - 0.32):($0):ytic(1) with boxxyerror linewidth 0.4 linecolor rgb category[7] title low, \
             data using (0):0:(0):5:($0):($0 + 0.32) with boxxyerror linewidth 0.4 linecolor rgb category[3] title high
    }
}
unset multiplot
