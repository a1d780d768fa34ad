# service_load.gp - requests, replicas and the slowest requests of each service over time: a column of three
# panels a service.
# By hand: gnuplot -e "data='service_load.tsv'; out='service_load.svg'" service_load.gp
# Data: a block for each service and, within it, each policy; first row: name of the policy, of the service;
# then end of the interval in hours, requests per second, replicas up, p99 latency in ms, number of policies.
set datafile separator "\t"
set datafile columnheaders
stats data using 1 nooutput
blocks = STATS_blocks
hours = STATS_max
stats data using 5 nooutput
policies = int(STATS_max)
services = blocks / policies
above = 62.0
row = 120.0
below = 34.0
block = 3 * row + 14
height = above + block * services + below
load ARG0[1:strlen(ARG0) - strlen("service_load.gp")]."style.gp"
unit = per(hours)
last = hours / unit
set xrange [0:last]
set lmargin at screen 0.09
set rmargin at screen 0.985
set label 3 since(hours) at screen 0.5, 10 / height center
set multiplot
do for [s = 0:services - 1] {
    do for [f = 2:4] {
        top = (height - above - block * s - row * (f - 2)) / height
        set tmargin at screen top
        set bmargin at screen top - (row - 22) / height
        set format x (f == 4 ? "%g" : "")
        if (f == 4) {
            set logscale y
            set yrange [*:*]
            set ytics nomirror autofreq
            set format y "%g"
        } else {
            unset logscale y
            set yrange [0:*]
            stats data index s * policies:(s + 1) * policies - 1 using f nooutput name "F"
            step = F_max > 0 ? 10 ** floor(log10(F_max)) : 1
            set ytics nomirror 0, (F_max < 2 * step ? 1 : F_max < 5 * step ? 2 : 5) * step
        }
        if (s == 0 && f == 2) { set key at screen 0.5, screen 1 - 8 / height center top horizontal maxrows 1 } else { unset key }
        set label 4 (f == 2 ? "requests per second" : f == 3 ? "replicas up" : "p99 latency (ms, log scale)") at graph 0.995, 1.1 right
        plot for [p = 0:policies - 1] data index s * policies + p using ($1 / unit):(column(f)) with lines linetype p + 1 title columnheader(1)
        unset label 3
        if (f == 2) {
            unset label 4
            set key at graph 0, 1.22 left top Left samplen -1 noenhanced horizontal
            set border 0
            unset tics
            plot data index s * policies using ($1 / unit):2 with lines linecolor rgb "#FF000000" title columnheader(2)
            set border 3 linecolor rgb "black" linewidth 0.7
            set tics nomirror out scale 0.5
            set xtics nomirror
        }
    }
}
unset multiplot
