# sweep_curve.gp - a figure over the one axis of a sweep: a line a policy, with bands of 95 % over replications.
# By hand: gnuplot -e "data='x.tsv'; out='x.svg'" sweep_curve.gp
# Data: first block: axis, figure, scale (0: values in order, 1: linear, 2: logarithmic), line types
# of the policies, axis and figure in words, the upper end of the figure's axis (0: open). Then one block a policy,
# two blank lines between; first row: its name; then x, the value as text, mean, low, high, text.
set datafile separator "\t"
set datafile columnheaders
stats data index 0 using (axis = strcol(5), what = strcol(6), scale = int($3), types = strcol(4), top = int($7), 0) nooutput
stats data using 1 nooutput
blocks = STATS_blocks
height = 380
places = "" # the line types in the data are places already
load "style.gp"
set datafile missing # a point without the figure is a gap
set xlabel axis noenhanced
set format "%.10g"
set ylabel what.figure_unit(what) noenhanced
set xtics noenhanced
set yrange [0:*]
set offsets graph 0.03, graph 0.03, graph 0.08, 0
if (top > 0) { set yrange [0:top]; set offsets graph 0.03, graph 0.03, 0, 0 }
set style fill transparent solid 0.18 noborder
if (scale == 2) { set logscale x }
if (scale == 0) { set xtics () }
type(b) = int(word(types, b))
# what the pointer shows: on the axis where there is no figure (labels without any place make gnuplot 5.4 fall over)
# the key has every policy, also one without the figure: a point outside of the second axes
set x2range [0:1]
set y2range [0:1]
plot for [b = 1:blocks - 1] data index b every ::0::0 using (2):(2) axes x2y2 with linespoints linetype type(b) pointtype 7 pointsize 0.6 title columnheader(1), \
     for [b = 1:blocks - 1] data index b using 1:4:5 with filledcurves linetype type(b) notitle, \
     for [b = 1:blocks - 1] data index b using 1:3 with linespoints linetype type(b) pointtype 7 pointsize 0.6 notitle, \
     for [b = 1:(scale == 0 ? 1 : 0)] data index b using 1:(0):xtic(2) with points pointtype 0 linecolor rgb "#FF000000" notitle, \
     for [b = 1:blocks - 1] data index b using 1:(strcol(3) eq "NaN" ? 0 : $3):(strcol(6)) with labels hypertext point pointtype 7 pointsize 1.2 linecolor rgb "#FF000000" notitle
