# sweep_heat.gp - a figure over two axes of a sweep, as colour and as a number; nothing: no such figure there.
# By hand: gnuplot -e "data='x.tsv'; out='x.svg'" sweep_heat.gp
# Data: first block: both axes, figure, policy, numbers of columns and rows, axes and figure in words. Second: column,
# row, both values as text, the figure, that as text.
set datafile separator "\t"
set datafile columnheaders
stats data index 0 using (xaxis = strcol(7), yaxis = strcol(8), what = strcol(9), policy = strcol(4), columns = int($5), rows = int($6), 0) nooutput
height = 150 + (rows > 24 ? 24 : rows < 5 ? 5 : rows) * 26
places = "" # the line types in the data are places already
load "style.gp"
set datafile missing # a point without the figure says n/a
set title policy.": ".what noenhanced
set xlabel xaxis noenhanced
set ylabel yaxis noenhanced
set xrange [-0.5:columns - 0.5]
set yrange [-0.5:rows - 0.5]
set xtics scale 0 noenhanced
set ytics scale 0 noenhanced
set grid noxtics noytics
set border 0
unset key
set palette defined (0 "#F2F7FB", 1 "#5FA8D3")
set colorbox
set format cb "%.10g"
set style fill solid 1.0 noborder
show_numbers = columns <= 14 && rows <= 40
plot data index 1 using 1:2:(0.49):(0.47):5:xtic(3):ytic(4) with boxxyerror fillcolor palette notitle, \
     data index 1 using 1:2:(show_numbers ? strcol(6) : "") with labels textcolor rgb "#111111" notitle, \
     data index 1 using 1:2:(sprintf("%s, %s, %s: %s", policy, strcol(3), strcol(4), strcol(6))) with labels hypertext point pointtype 5 pointsize 2 linecolor rgb "#FF000000" notitle
