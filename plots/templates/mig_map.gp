# mig_map.gp - which slots of the first cards held jobs when: a band a card, its memory slices from bottom to
# top, a box a job, darker for more compute slices; hatched: a replica of a service.
# By hand: gnuplot -e "data='mig_map.tsv'; out='mig_map.svg'" mig_map.gp
# Data: first block: card, memory slices of a card, end in hours, 1 when later ones are left out, place;
# second block: one row a job: from, to (hours), lower and upper edge, compute slices (0: the whole card);
# third block: the same of replicas.
set datafile separator "\t"
set datafile columnheaders
stats data index 0 using 2 nooutput
cards = STATS_records
units = int(STATS_max)
stats data index 0 using 3 nooutput
hours = STATS_max
height = 90 + cards * (10 + 8 * units)
load ARG0[1:strlen(ARG0) - strlen("mig_map.gp")]."style.gp"
unit = per(hours)
last = hours / unit
set xrange [0:last]
set yrange [-0.5:cards * (units + 1)]
set ytics scale 0 noenhanced
set border 1
set grid noytics xtics linecolor rgb "gray" linewidth 0.4 dashtype 3
set xlabel since(hours)
set style fill solid 1 border linecolor rgb "#808080"
color(s) = int(column(s)) == 0 ? 0x3B2A20 : int(column(s)) == 1 ? 0xE6DCD1 : int(column(s)) == 2 ? 0xC3B1A1 : int(column(s)) == 3 ? 0x99816E : int(column(s)) == 4 ? 0x826957 : 0x523D2F
unset key
plot data index 1 using 1:3:($1 / unit):($2 / unit):3:4:(color(5)) with boxxyerror linewidth 0.3 linecolor rgb variable, \
     data index 2 using 1:3:($1 / unit):($2 / unit):3:4 with boxxyerror fillstyle pattern 4 border linecolor rgb "#6A5242" linewidth 0.3 linecolor rgb "#6A5242", \
     data index 0 using (0):($5 * (units + 1) + units / 2.0):ytic(1) with points pointtype 0 linecolor rgb "#FF000000"
