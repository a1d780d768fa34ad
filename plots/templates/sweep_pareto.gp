# sweep_pareto.gp - every point and policy of a sweep, cost against service level: down and left is better. Those
# that no other beats in both are joined; hollow: more than one job in a hundred was not served.
# By hand: gnuplot -e "data='x.tsv'; out='x.svg'" sweep_pareto.gp
# Data: first block: service level, cost, where nothing stands on the axis, line types, level and cost in words. Then one block a policy; first row: its
# name; then level, cost, 1 on the front, 1 for hollow, what it is in words.
set datafile separator "\t"
set datafile columnheaders
stats data index 0 using (path = strcol(1), level = strcol(5), cost = strcol(6), edge = $3, types = strcol(4), 0) nooutput
stats data using 1 nooutput
blocks = STATS_blocks
height = 400
places = "" # the line types in the data are places already
load "style.gp"
set logscale x
set grid xtics ytics linecolor rgb "gray" linewidth 0.4 dashtype 3
timed = has(path, "_s.")
set format "%.10g"
if (timed) { set xtics ("1 ms" 1e-3, "10 ms" 1e-2, "0.1 s" 0.1, "1 s" 1, "10 s" 10, "1 min" 60, "10 min" 600, \
           "1 h" 3600, "6 h" 21600, "1 d" 86400, "7 d" 604800, "30 d" 2592000, "1 y" 31536000) }
set xlabel level.figure_unit(level) noenhanced
set ylabel cost.figure_unit(cost) noenhanced
set offsets graph 0.05, graph 0.05, graph 0.08, graph 0.08
type(b) = int(word(types, b))
# the key has every policy, also one without figures: a point outside of the second axes
set x2range [0:1]
set y2range [0:1]
plot data index 1:blocks - 1 using ($3 == 1 ? $1 : NaN):2 smooth unique with lines linecolor rgb "gray" dashtype 2 notitle, \
     for [b = 1:blocks - 1] data index b every ::0::0 using (2):(2) axes x2y2 with points linetype type(b) pointtype 7 pointsize 0.8 title columnheader(1), \
     for [b = 1:blocks - 1] data index b using 1:2 with points linetype type(b) pointtype 7 pointsize 0.8 notitle, \
     for [b = 1:blocks - 1] data index b using ($4 == 1 ? $1 : NaN):2 with points pointtype 7 pointsize 0.4 linecolor rgb "white" notitle, \
     for [b = 1:blocks - 1] data index b using 1:2:(strcol(5)) with labels hypertext point pointtype 7 pointsize 1.3 linecolor rgb "#FF000000" notitle
