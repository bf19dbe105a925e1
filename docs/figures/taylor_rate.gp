# The picture of the Taylor-remainder test, docs/maths.md, "Verification":
#
#   cd docs/figures && gnuplot taylor_rate.gp
#
# F(h) = exp(sin(1 + h)). The remainder |F(h) - F(0) - h c| is taken at halved steps, as the library does, for the right
# slope c = F'(0) and for one that is 1% off. All arithmetic is gnuplot's, in doubles: the floor is true rounding noise.

if (!exists("output")) output = "taylor_rate.svg"
if (!exists("terminal")) terminal = "svg size 760,460 font 'sans-serif,14' background '#ffffff'"
eval "set terminal ".terminal
set output output

F(h) = exp(sin(1 + h))
slope = cos(1.0) * exp(sin(1.0))
remainder(h, c) = abs(F(h) - F(0) - h * c)
noise = 2 * 2.2e-16 * F(0)  # of a difference of two values

set print $remainders
do for [k = 0:26] {
  h = 0.1 / 2**k
  print h, remainder(h, slope), remainder(h, 1.01 * slope)
}
unset print

set logscale xy
set xrange [1e-9:0.3]
set yrange [1e-16:1]
set format "10^{%T}"
set xlabel "step h"
set ylabel "Taylor remainder  |F(h) - F(0) - h c|"
set grid xtics ytics back lt 1 lw 1 lc rgb "#e4e4e4"
set border 3
set tics nomirror
set key off

orange = "#d55e00"
blue = "#0072b2"
set label "c is 1% off: falls as h" at 2e-8, 2e-6 textcolor rgb orange
set label "c = F'(0): falls as h^2" at 4e-4, 8e-9 textcolor rgb blue
set label "rounding noise: no longer read" at 2e-5, 2e-15 textcolor rgb "#777777"
set object rectangle from graph 0, graph 0 to graph 1, first 100 * noise fillcolor rgb "#f0f0f0" fillstyle solid \
  noborder behind

plot $remainders using 1:3 title "slope 1% off" with linespoints lc rgb orange lw 2 pt 5 ps 0.6, \
     $remainders using 1:2 title "right slope" with linespoints lc rgb blue lw 2 pt 7 ps 0.6
