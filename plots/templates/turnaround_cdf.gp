# turnaround_cdf.gp - how many jobs were done this long after their submission, one curve a policy.
# By hand: gnuplot -e "data='turnaround_cdf.tsv'; out='turnaround_cdf.svg'" turnaround_cdf.gp
# Data: one block a policy, two blank lines between; first row: name of the policy, "share"; then
# turnaround in seconds and the share (0..1) of completed jobs done in at most so long. The first point
# of each block stands for jobs that took no time: zero has no place on a log axis, so it is drawn
# at the left edge, which is marked 0.
set datafile separator "\t"
set datafile columnheaders
stats data using 1 nooutput
edge = STATS_min
last = STATS_max
blocks = STATS_blocks
height = 360
load ARG0[1:strlen(ARG0) - strlen("turnaround_cdf.gp")]."style.gp"
set logscale x
set xlabel "time from submission to completion (log scale)"
set ylabel "jobs done within this time (%)"
set yrange [0:100]
set xrange [edge:last]
set grid xtics ytics linecolor rgb "gray" linewidth 0.4 dashtype 3
set xtics ("1 ms" 1e-3, "10 ms" 1e-2, "0.1 s" 0.1, "1 s" 1, "10 s" 10, "1 min" 60, "10 min" 600, \
           "1 h" 3600, "6 h" 21600, "1 d" 86400, "7 d" 604800, "30 d" 2592000, "1 y" 31536000)
set xtics add ("0" edge)
plot for [b = 0:blocks - 1] data index b using 1:(100 * $2) with lines linetype b + 1 title columnheader(1), \
     for [b = 0:blocks - 1] data index b using 1:(100 * $2) every ::0::0 with points linetype b + 1 \
        pointtype 7 pointsize 0.7 notitle
