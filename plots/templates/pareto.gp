# pareto.gp - what useful work costs against how long jobs wait: down and left is better. Policies that no
# other beats in both are joined; hollow: more than one job in a hundred was not served.
# By hand: gnuplot -e "data='pareto.tsv'; out='pareto.svg'" pareto.gp
# Data: one row a policy: name, where zero stands on the axis (s), p95 wait (s), USD per useful GPU-hour,
# share of jobs not served, 1 for a policy that no other beats, place (power of ten) of the last digit shown of the cost.
set datafile separator "\t"
set datafile columnheaders
stats data using 2 nooutput
rows = STATS_records
edge = STATS_min
stats data using 3 nooutput
top = STATS_max
stats data using 4 nooutput
low = STATS_min
high = STATS_max
height = 360
array names[rows]
stats data using (names[int($0) + 1] = strcol(1), 0) nooutput
load ARG0[1:strlen(ARG0) - strlen("pareto.gp")]."style.gp"
set key outside right top
set logscale x
set xrange [edge / 2:top * 2]
pad = high > low ? 0.15 * (high - low) : 0.1 * high + 1e-9
set yrange [low - pad:high + pad]
set format y (pad < 0.09 ? "%.2f" : pad < 0.9 ? "%.1f" : "%g")
set grid xtics ytics linecolor rgb "gray" linewidth 0.4 dashtype 3
set xlabel "wait that 95 % of the jobs do not exceed (log scale)"
set ylabel "cost per useful GPU-hour (USD)"
set xtics ("1 ms" 1e-3, "10 ms" 1e-2, "0.1 s" 0.1, "1 s" 1, "10 s" 10, "1 min" 60, "10 min" 600, \
           "1 h" 3600, "6 h" 21600, "1 d" 86400, "7 d" 604800, "30 d" 2592000, "1 y" 31536000)
set xtics add ("0" edge)
plot data using ($6 == 1 ? $3 : NaN):4 smooth unique with lines linecolor rgb "gray" dashtype 2 notitle, \
     for [k = 0:rows - 1] data every ::k::k using 3:4 with points linetype k + 1 pointtype mark(k + 1) pointsize 1.1 title names[k + 1], \
     data using ($5 > 0.01 ? $3 : NaN):4 with points pointtype 7 pointsize 0.6 linecolor rgb "white" notitle, \
     data using 3:4:(strcol(1).": ".duration($3 > edge ? $3 : 0).", ".dollars($4, $7)) with labels hypertext point pointtype 7 pointsize 1.6 linecolor rgb "#FF000000" notitle
