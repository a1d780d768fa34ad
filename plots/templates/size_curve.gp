# size_curve.gp - what a target is about, over the number of cards: a line a policy, with bands of 95 % over
# replications; the target is the dotted line. Hollow: a fleet that misses some target. What lies far above the target is
# beyond the upper edge.
# By hand: gnuplot -e "data='x.tsv'; out='x.svg'" size_curve.gp
# Data: first block: axis, figure, the target and its number, line types and dashes of the lines, axis and figure in
# words. Then one block a line,
# two blank lines between; first row: its name; then cards, mean, low, high, 1 where all targets are met, text.
set datafile separator "\t"
set datafile columnheaders
stats data index 0 using (axis = strcol(7), what = strcol(8), target = strcol(3), limit = strcol(4), types = strcol(5), dashes = strcol(6), 0) nooutput
stats data using 1 nooutput
blocks = STATS_blocks
least = STATS_min
most = STATS_max
stats data using 4 nooutput
top = STATS_max > real(limit) ? STATS_max : real(limit)
if (real(limit) > 0 && top > 10 * real(limit)) { top = 10 * real(limit) }
if (top <= 0) { top = 1 }
height = 360 + (blocks > 12 ? 18 * (blocks - 12) : 0)
places = "" # the line types in the data are places already
load "style.gp"
set datafile missing # a fleet without the figure is a gap
set xlabel axis noenhanced
set ylabel what.figure_unit(what) noenhanced
set yrange [0:1.06 * top]
set xrange [least - 0.04 * (most - least) - 0.5:most + 0.04 * (most - least) + 0.5]
set style fill transparent solid 0.18 noborder
if (least > 0 && most > 30 * least) { set logscale x 2; set xrange [0.9 * least:1.1 * most] }
type(b) = int(word(types, b))
# what the pointer shows: on the axis where there is no figure (labels without any place make gnuplot 5.4 fall over)
dash(b) = int(word(dashes, b))
# the key has every policy, also one without the figure: a point outside of the second axes
set x2range [0:1]
set y2range [0:1]
plot for [b = 1:blocks - 1] data index b using 1:3:4 with filledcurves linetype type(b) notitle, \
     real(limit) with lines linecolor rgb "black" linewidth 1 dashtype 3 title target, \
     for [b = 1:blocks - 1] data index b every ::0::0 using (2):(2) axes x2y2 with lines linetype type(b) dashtype dash(b) title columnheader(1), \
     for [b = 1:blocks - 1] data index b using 1:2 with lines linetype type(b) dashtype dash(b) notitle, \
     for [b = 1:blocks - 1] data index b using 1:2 with points linetype type(b) pointtype 6 pointsize 0.7 notitle, \
     for [b = 1:blocks - 1] data index b using 1:($5 == 1 ? $2 : NaN) with points linetype type(b) pointtype 7 pointsize 0.7 notitle, \
     for [b = 1:blocks - 1] data index b using 1:(strcol(2) eq "NaN" ? 0 : $2):(strcol(6)) with labels hypertext point pointtype 7 pointsize 1.2 linecolor rgb "#FF000000" notitle
