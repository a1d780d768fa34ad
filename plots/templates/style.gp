# style.gp - common look of all plots. Each template sets `height` and loads it.
# Colours: each at least 3 to 1 against the white and the dark page, and any two at least 11 apart in CIELAB, also
# as red-, green- or blue-blind eyes see them; found by search from the hues of Okabe and Ito, some of whose colours
# are 2.3 to 1 on white. Line type k is policy k in every plot; from the ninth on the same colours come back dashed,
# and points as triangles (mark).
# Categories (what card time is spent on, cost items) take no policy's colour but steps of a ramp of
# browns that differ in lightness, in the order in which they stand in a bar.
set terminal svg enhanced size 860, height font "sans-serif,13" linewidth 1.4
set output out
set encoding utf8
set datafile missing "NaN"
set border 3 linecolor rgb "black" linewidth 0.7
set tics nomirror out scale 0.5
set grid ytics linecolor rgb "gray" linewidth 0.4 dashtype 3
set key outside right top Left reverse noenhanced samplen 2
do for [k = 0:1] {
    set linetype 8 * k + 1 linecolor rgb "#2294FF" linewidth 1.6 dashtype 1 + k
    set linetype 8 * k + 2 linecolor rgb "#B58819" linewidth 1.6 dashtype 1 + k
    set linetype 8 * k + 3 linecolor rgb "#00957C" linewidth 1.6 dashtype 1 + k
    set linetype 8 * k + 4 linecolor rgb "#B4585A" linewidth 1.6 dashtype 1 + k
    set linetype 8 * k + 5 linecolor rgb "#4262D6" linewidth 1.6 dashtype 1 + k
    set linetype 8 * k + 6 linecolor rgb "#E764B0" linewidth 1.6 dashtype 1 + k
    set linetype 8 * k + 7 linecolor rgb "#65666F" linewidth 1.6 dashtype 1 + k
    set linetype 8 * k + 8 linecolor rgb "#716719" linewidth 1.6 dashtype 1 + k
}
set linetype cycle 16
mark(k) = k > 8 ? 9 : 7
array category[10] = ["#3B2A20", "#523D2F", "#6A5242", "#826957", "#99816E", \
                      "#AF9987", "#C3B1A1", "#D6C8BA", "#E6DCD1", "#F4EEE7"]
