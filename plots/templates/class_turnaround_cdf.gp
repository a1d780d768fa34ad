# class_turnaround_cdf.gp - turnaround_cdf for each class of jobs: a panel a class, a curve a policy, shared axes.
# By hand: gnuplot -e "data='class_turnaround_cdf.tsv'; out='class_turnaround_cdf.svg'" class_turnaround_cdf.gp
# Data: a block for each class and, within it, each policy; first row: name of the policy, of the class;
# then time in seconds, share (0..1), number of policies. The first point stands for zero, as in turnaround_cdf.
set datafile separator "\t"
set datafile columnheaders
stats data using 1 nooutput
edge = STATS_min
last = STATS_max
blocks = STATS_blocks
stats data using 3 nooutput
policies = int(STATS_max)
panels = blocks / policies
above = 64.0
row = 150.0
below = 62.0
height = above + row * panels + below
load ARG0[1:strlen(ARG0) - strlen("class_turnaround_cdf.gp")]."style.gp"
set logscale x
set yrange [0:100]
set ytics 25
set xrange [edge:last]
set grid xtics ytics linecolor rgb "gray" linewidth 0.4 dashtype 3
set lmargin at screen 0.075
set rmargin at screen 0.985
set label 2 "jobs done within this time (%)" at screen 0.005, 1 - 12 / height left
set label 3 "time from submission to completion (log scale)" at screen 0.5, 10 / height center
set multiplot
do for [c = 0:panels - 1] {
    top = (height - above - row * c) / height
    set tmargin at screen top - 18 / height
    set bmargin at screen top - (row - 10) / height
    set xtics ("1 ms" 1e-3, "10 ms" 1e-2, "0.1 s" 0.1, "1 s" 1, "10 s" 10, "1 min" 60, "10 min" 600, \
               "1 h" 3600, "6 h" 21600, "1 d" 86400, "7 d" 604800, "30 d" 2592000, "1 y" 31536000)
    set xtics add ("0" edge)
    if (c < panels - 1) { set xtics ("" 1e-3, "" 1e-2, "" 0.1, "" 1, "" 10, "" 60, "" 600, "" 3600, "" 21600, \
                                     "" 86400, "" 604800, "" 2592000, "" 31536000) }
    set key at graph 0.5, screen 1 - 30 / height center top horizontal maxrows 1
    if (c > 0) { unset key }
    # the key has every policy, also one without a job of this class: a point below the edge
    plot for [p = 0:policies - 1] data index c * policies + p every ::0::0 using (edge):(-50) with lines linetype p + 1 title columnheader(1), \
         for [p = 0:policies - 1] data index c * policies + p using 1:(100 * $2) with lines linetype p + 1 notitle
    unset label 2
    unset label 3
    set key at graph 0, 1.19 left top Left samplen -1 noenhanced
    set border 0
    unset xtics
    unset ytics
    plot data index c * policies using 1:(100 * $2) with lines linecolor rgb "#FF000000" title columnheader(2)
    set border 3 linecolor rgb "black" linewidth 0.7
    set ytics 25 nomirror out scale 0.5
    set xtics nomirror out scale 0.5
}
unset multiplot
