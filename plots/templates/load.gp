# load.gp - allocation and queue over time: a row of two panels for each policy, shared axes.
# By hand: gnuplot -e "data='load.tsv'; out='load.svg'" load.gp
# Data: one block a policy, two blank lines between; first row: name of the policy, "allocated",
# "queued"; then end of the interval in hours, mean allocated share (0..1), most jobs waiting.
set datafile separator "\t"
set datafile columnheaders
stats data using 1 nooutput
blocks = STATS_blocks
hours = STATS_max
stats data using 3 nooutput
most = STATS_max > 2 ? 1.05 * STATS_max : 2
decade = 10 ** floor(log10(most / 2))
step = decade * (most / 2 < 2 * decade ? 1 : most / 2 < 5 * decade ? 2 : 5) # two to four tics
above = 34.0 # pixels: over the first row, of a row, of its panels, under the last
row = 84.0
panel = 56.0
below = 58.0
height = above + row * blocks - (row - panel) + below
load ARG0[1:strlen(ARG0) - strlen("load.gp")]."style.gp"
unit = per(hours)
last = hours / unit
set xrange [0:last]
set xtics autofreq
set style fill solid 0.8 noborder
set key at graph 0, 1.32 left Left reverse noenhanced samplen 1 height 0
set label 1 at graph 1, 1.14 right
set label 2 since(hours) at screen 0.5, 10 / height center
set multiplot
do for [b = 0:blocks - 1] {
    bottom = (height - above - row * b - panel) / height
    set tmargin at screen bottom + panel / height
    set bmargin at screen bottom
    set format x (b == blocks - 1 ? "%g" : "")
    set lmargin at screen 0.05
    set rmargin at screen 0.49
    set yrange [0:100]
    set ytics 50
    set label 1 (b == 0 ? "card time allocated (%)" : "")
    set key
    plot data index b using ($1 / unit):(100 * $2) with filledcurves y=0 linetype b + 1 title columnheader(1)
    set lmargin at screen 0.54
    set rmargin at screen 0.975
    set yrange [0:most]
    set ytics step
    set label 1 (b == 0 ? "jobs waiting" : "")
    unset key
    unset label 2
    plot data index b using ($1 / unit):3 with filledcurves y=0 linetype b + 1
}
unset multiplot
