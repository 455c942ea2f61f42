"""What is equal and what is not, as docs/reference/math.md tells in words; and the policies.

Rows are (kind, answer, reference). Equal rows hold in both directions but for ONE_WAY.
"""

from __future__ import annotations

import random

import pytest

import rewardkit
from rewardkit import Verdict
from rewardkit.verifiers.math import Math

Row = tuple[str, str, str]

EQUAL: list[Row] = [
    ("pieces", "|t+3200|", r"\sqrt{(t+3200)^2}"),
    ("pieces", r"\max(u, 450)", r"\frac{u+450+|u-450|}{2}"),
    ("pieces", r"\lfloor w/250 \rfloor + 3", r"\lfloor \frac{w+750}{250} \rfloor"),
    ("powers", "(p-q)^{6000}", "(q-p)^{6000}"),
    ("powers", r"\frac{(p^2-q^2)^{900}}{(p-q)^{900}}", "(p+q)^{900}"),
    ("calculus", r"\int_1^4 3t^2\,dt", "63"),
    ("calculus", r"\int_0^1 \frac{du}{1+u^2}", r"\frac{\pi}{4}"),
    ("calculus", r"\int_0^\pi \sin v \, \mathrm{d}v", "2"),
    ("calculus", r"\lim_{h \to 0} \frac{\sin h}{h}", "1"),
    ("calculus", r"\lim_{k \to \infty} (1+\frac1k)^k", "e"),
    ("calculus", r"\lim_{x \to 0^+} x^x", "1"),
    ("calculus", r"\sum_{k=1}^{\infty} \frac{1}{k^2}", r"\frac{\pi^2}{6}"),
    ("number", r"98\ 765\ 432", "98765432"),
    ("number", "20~000", "20000"),
    ("number", r"3\ldotp 21", "3.21"),
    ("number", "2¹⁰", "1024"),
    ("number", "10⁻³", "0.001"),
    ("number", r"\sfrac{7}{3}", r"\frac{7}{3}"),
    ("number", r"\ensuremath{31}", "31"),
    ("number", r"\phantom{}202", "202"),
    ("number", r"\frac{11!}{4!\,4!\,2!}", "34650"),
    ("number", "2^6 3^5 5^4", "2^6 * 3^5 * 5^4"),
    ("units", r"-5\text{ cm}", "-5"),
    ("units", r"\pounds 5", "5"),
    ("base", "(40)_{9}", "40_9"),
    ("interval", "x<=0", r"(-\infty,0]"),
    ("number", "5.", "5"),
    ("number", "1,000.", "1000"),
    ("number", r"1\,234", "1234"),
    ("number", r"11,\! 111,\! 111,\! 100", "11111111100"),
    ("number", "1e5", "100000"),
    ("number", r"6.02\times10^{23}", "6.02e23"),
    ("number", r"3 \times 10^{ - 4 }", "0.0003"),
    ("number", "4 4/9", r"\frac{40}{9}"),
    ("number", r"-2\frac{1}{2}", "-2.5"),
    ("number", r"0.\overline{3}", r"\frac13"),
    ("number", "½", "0.5"),
    ("number", "１２", "12"),
    ("number", "-1 + \\frac{1}{25}", r"-\frac{24}{25}"),
    ("number", r"\binom{5}{2}", "10"),
    ("number", "5!", "120"),
    ("number", r"\sum_{k=1}^{10} k", "55"),
    ("percent", r"50\%", r"\frac12"),
    ("percent", "28 percent", r"28\%"),
    ("percent", r"\frac12\%", "0.005"),
    ("percent", r"20\%", "20"),
    ("percent", r"35\%", r"\frac{7}{20}"),
    ("percent", r"12.5\%", r"\frac{25}{2}"),
    ("radicals", r"\frac{1}{\sqrt{2}}", r"\frac{\sqrt{2}}{2}"),
    ("radicals", r"\sqrt{24\sqrt{2}+41}", r"3+4\sqrt{2}"),
    ("radicals", r"\sqrt[3]{2+\sqrt5}+\sqrt[3]{2-\sqrt5}", "1"),
    ("radicals", "-1 + sqrt(3)", r"\sqrt{3}-1"),
    ("radicals", r"2\sqrt3", "√12"),
    ("constants", "9/2 * π", r"\frac{9\pi}{2}"),
    ("constants", r"\log_2 8", "3"),
    ("constants", r"\cos(\pi/5)", r"\frac{1+\sqrt5}{4}"),
    ("constants", r"e^{i\pi}", "-1"),
    ("complex", r"\frac{5}{1-2i}", "1+2i"),
    ("complex", "2i+1", "1+2i"),
    ("algebra", "x²+2x+1", "(x+1)^2"),
    ("algebra", "2x(15x^2-4x+10)", "2*x*(15*x**2 - 4*x + 10)"),
    ("algebra", r"\frac{x^2-1}{x-1}", "x+1"),
    ("algebra", r"(x+1)^{200}", "(x^2+2x+1)^{100}"),
    ("algebra", r"\sqrt{x^2}", "|x|"),
    ("algebra", r"x^{2/3}", r"\sqrt[3]{x}^2"),
    ("algebra", r"\sec^2 y", r"\tan^2 y+1"),
    ("algebra", r"\ln(ab)", r"\ln a+\ln b"),
    ("algebra", r"\frac{n!}{(n-2)!}", "n(n-1)"),
    ("algebra", "(-1)^{n+1}", "-(-1)^n"),
    ("algebra", "f(x)+1", "1+f(x)"),
    ("named value", "x=5", "5"),
    ("named value", "5=x", "5"),
    ("named value", r"\angle APC = 74^\circ", r"74^\circ"),
    ("named value", "f(x)=2x+3", "2x+3"),
    ("named value", r"x = \sqrt{2} \approx 1.414", r"\sqrt2"),
    ("list", "1, -2", "-2,1"),
    ("list", r"-2 \text{ and } 1", "-2,1"),
    ("list", r"x=-2 \text{ or } x=1", "-2,1"),
    ("list", r"\{1,-2\}", "-2,1"),
    ("list", "[2, 3]", "2,3"),
    ("list", "[3]", "3"),
    ("list", r"\pm 2021", "-2021, 2021"),
    ("list", r"1\pm\sqrt5", r"1-\sqrt5, 1+\sqrt5"),
    ("list", r"\{1,1,2\}", r"\{2,1\}"),
    ("list", "(1,2),(3,4)", "(3,4),(1,2)"),
    ("tuple", "(1.0, 4.5)", r"\left(1,\frac92\right)"),
    ("tuple", "x=1, y=2", "(1,2)"),
    ("tuple", "(x,y)=(1,2)", "(1,2)"),
    ("tuple", r"\langle 1, 2\rangle", "(1,2)"),
    ("interval", "[-2,7]", r"-2 \le x \le 7"),
    ("interval", "[-2,7]", r"x \in [-2,7]"),
    ("interval", r"x<2 \text{ or } x>3", r"(-\infty,2)\cup(3,\infty)"),
    ("interval", r"[1,2]\cup(2,3]", "[1,3]"),
    ("interval", r"|x|<1", "(-1,1)"),
    ("interval", "2x > 4", "x>2"),
    ("interval", r"\mathbb{R}\setminus\{0\}", r"x \ne 0"),
    ("interval", r"\{x \mid x>2\}", r"(2,\infty)"),
    ("interval", r"\text{all real numbers}", r"(-\infty,\infty)"),
    ("equation", "y=2x+3", "2x-y+3=0"),
    ("equation", "34x+45y-20z+100=0", "-34x-45y+20z-100=0"),
    ("equation", r"\frac{x^2}{4}+\frac{y^2}{9}=1", "9x^2+4y^2=36"),
    ("inequality", "x+y<2", "2>y+x"),
    (
        "matrix",
        r"\frac15\begin{pmatrix}1\\-18\end{pmatrix}",
        r"\begin{bmatrix}0.2\\-3.6\end{bmatrix}",
    ),
    (
        "matrix",
        r"\left[\begin{array}{cc}1&2\\3&4\end{array}\right]",
        r"\begin{pmatrix}1&2\\3&4\end{pmatrix}",
    ),
    ("unit", r"4\text{ cm}", "4"),
    ("unit", r"300\text{ cm}", r"3\text{ m}"),
    ("unit", r"864\text{ square inches}", r"864 \mbox{ inches}^2"),
    ("unit", r"1 \text{ hour } 30 \text{ minutes}", r"90 \text{ min}"),
    ("unit", "500 cents", r"\$5"),
    ("angle", r"90^\circ", r"\frac{\pi}{2}"),
    ("angle", r"90^\circ", "90"),
    ("time", "4:30 pm", r"\text{4:30 p.m.}"),
    ("ratio", "6:2", "3:1"),
    ("ratio", "3:1", "3"),
    ("base", r"204_{\text{five}}", "204_5"),
    ("text", r"\textbf{evelyn}", r"\text{Evelyn}"),
    ("text", "B", r"\text{(B)}"),
    ("residue", r"10 \pmod 7", r"3 \pmod{7}"),
    ("residue", r"3 \pmod{7}", "3"),
    # letters
    ("whole numbers", r"\cos(n\pi)", "(-1)^n"),
    ("whole numbers", r"\sum_{k=1}^{n}k", r"\frac{n(n+1)}{2}"),
    ("letters", "dcba", "abcd"),
    ("letters", r"\frac{wxyz}{3}", r"\frac13 zyxw"),
    ("letters", "mg-T", "-T+gm"),
    ("letters", "3 m g", "3gm"),
    ("letters", r"2\pi hr", r"2\pi rh"),
    ("letters", "2sinx", r"2\sin x"),
    ("letters", "n3^{n-2}", r"n\cdot 3^{n-2}"),
    ("letters", "2^{k}5^{m}", r"5^m\cdot 2^k"),
    ("letters", "theta^2+1", r"\theta^2+1"),
    ("letters", r"e^{in\theta}", r"e^{i\theta n}"),
    ("letters", r"\sqrt[n]{b}", "b^{1/n}"),
    ("letters", r"v\omega'", r"\omega^{\prime}v"),
    ("letters", r"m\ddot{x}", r"\ddot{x}m"),
    ("letter before brackets", r"\frac{h(a+b)}{2}", r"\frac12(a+b)h"),
    ("letter before brackets", "P(1+r)^n", "P(r+1)^n"),
    ("letter before brackets", "mg(h+R)", "mgh+mgR"),
    ("letter before brackets", "f(x+1)+f(2)", "f(2)+f(1+x)"),
    ("signs", "3 + -13x", "3-13x"),
    ("signs", "x--y", "x+y"),
    ("signs", r"\log_23", r"\log_2 3"),
    ("number", r"2.5\text{ million}", "2500000"),
    ("number", "3 dozen", "36"),
    ("number", r"\$5\text{ million}", "5000000"),
    ("number", r"0.333\ldots", r"\frac13"),
    ("number", r"{}_6C_2", "15"),
    ("number", "C(6,2)", r"\binom62"),
    ("number", r"1\!\,234", "1234"),
    ("number", "5\\\\", "5"),
    ("number", "5。", "5"),
    ("number", r"\phantom{0}5", "5"),
    ("complex", r"\overline{3+4i}", "3-4i"),
    # names and chains
    ("name", "AB=5", "5"),
    ("name", "[ABC]=5", "5"),
    ("name", r"\overline{AB}=5", "5"),
    ("name", "|AB|=5", "5"),
    ("name", r"\text{Area}=5", "5"),
    ("name", "Area = 5", "5"),
    ("name", "Answer: 5", "5"),
    ("name", r"u(x,t)=e^{-t}\sin x", r"e^{-t}\sin x"),
    ("name", r"P(X=1)=\frac12", r"\frac12"),
    ("name", r"\Delta p\approx-\frac{h}{c}", r"-\frac hc"),
    ("name", "f(x)=2x", "f(t)=2t"),
    ("name", "AB=4, CD=5", "4, 5"),
    ("name", "p=5,q=2;p=7,q=2", "(5,2),(7,2)"),
    ("name", "V_1:V_2=11:21", "11:21"),
    ("chain", "2+3=5", "5"),
    ("chain", r"S=\pi r^2=25\pi", r"25\pi"),
    ("chain", "x=5+5+1=11", "11"),
    ("equal forms", r"0.75\text{ or }\frac34", "0.75"),
    ("equal forms", r"90^\circ\text{ or }\frac{\pi}{2}", r"90^\circ"),
    ("system", r"\begin{cases}x=1\\y=2\end{cases}", "(1,2)"),
    ("system", r"\begin{cases}x+y=3\\x-y=1\end{cases}", r"\begin{cases}y-x=-1\\2x+2y=6\end{cases}"),
    ("system", r"\begin{aligned}x&=1\\y&=2\end{aligned}", "x=1, y=2"),
    ("system", r"\left\{\begin{array}{l}x=1\\y=2\end{array}\right.", "(1,2)"),
    ("system", r"\begin{array}{c}7\end{array}", "7"),
    (
        "pieces",
        r"\begin{cases}1&x\ge0\\0&x<0\end{cases}",
        r"\begin{cases}0&\text{if }x<0\\1&\text{otherwise}\end{cases}",
    ),
    # units
    ("unit", r"5\text{ N}", "5"),
    ("unit", r"5\ \Omega", r"5\text{ ohms}"),
    ("unit", r"9.8\ \mathrm{m/s^2}", r"9.8\,\mathrm{m\,s^{-2}}"),
    ("unit", r"9.8\text{ meters per second squared}", r"9.8\ \mathrm{m/s^2}"),
    ("unit", r"3\,\mathrm{m}\,\mathrm{s}^{-1}", r"3\text{ m/s}"),
    ("unit", r"8.3\text{ J/(mol K)}", "8.3"),
    ("unit", r"1\ \mathrm{N\cdot m}", r"1\text{ J}"),
    ("unit", r"4\ \mathrm{V/m}", r"4\ \mathrm{N/C}"),
    ("unit", r"5\ \mu\text{m}", r"5\times10^{-6}\text{ m}"),
    ("unit", r"36\text{ km/h}", r"10\text{ m/s}"),
    ("unit", r"\frac12\text{ cup}", r"\frac12"),
    ("unit", "7 pens", "7"),
    ("unit", r"7\text{ red marbles}", "7"),
    ("unit", "3cm", r"3\text{ cm}"),
    ("unit", "500 USD", "500"),
    ("unit", "USD 500", "500"),
    ("unit", r"25^\circ\text{C}", r"25\text{ degrees Celsius}"),
    ("unit", r"1\text{ hour and }20\text{ minutes}", r"80\text{ minutes}"),
    ("angle", r"180^\circ-x", "180-x"),
    ("angle", r"60^\circ30'", r"60.5^\circ"),
    ("angle", r"60^\circ 30^\prime", r"60.5^\circ"),
    # words
    ("text", r"\text{Yes}", "Yes"),
    ("text", "YES", r"\mathrm{yes}"),
    ("text", r"\text{Red}", "Red"),
    ("text", r"\text{No solution}", "no solution"),
    ("text", r"\emptyset", r"\text{No solution}"),
    ("text", r"\mathbb R", "All real numbers"),
    ("text", r"\text{all integers}", r"\mathbb{Z}"),
    ("text", r"\mathbb{Z}^+", r"\text{all positive integers}"),
    ("text", r"\text{all real numbers except }4", r"\mathbb{R}\setminus\{4\}"),
    ("text", r"\text{Anna, Ben}", r"\text{Ben and Anna}"),
    ("spelling", r"5 \text{ und } 9", "5, 9"),
    ("spelling", r"5\text{ ou }9", "5, 9"),
    ("spelling", "5 和 9", "5, 9"),
    ("spelling", r"5 \text{ 或 } 9", "5, 9"),
    ("spelling", "₹640", r"640\text{ rupees}"),
    ("spelling", r"35\text{ per cent}", r"35\%"),
    ("spelling", r"n \equiv 4 \mod 9", r"n \equiv 4 \pmod 9"),
    ("spelling", "n ≡ 4 (mod 9)", r"n \equiv 4 \pmod{9}"),
    ("spelling", r"5.2 \text{ x } 10^{4}", "52000"),
    ("spelling", r"3\;000\;000", "3000000"),
    ("spelling", r"3\text{:}45\text{ PM}", "15:45"),
    ("spelling", r"5\text{ to }9", "5:9"),
    ("spelling", r"\mathbb{R}-\{6\}", r"\mathbb{R}\setminus\{6\}"),
    ("spelling", r"\prod_{i=1}^{5} i", "120"),
    ("spelling", r"\begin{pmatrix}1\\[4pt]2\end{pmatrix}", r"\begin{bmatrix}1\\2\end{bmatrix}"),
    ("sentence", r"\text{The vertex is }(4,-7)", "(4,-7)"),
    ("sentence", r"\text{There are }9\text{ ways}", "9"),
    ("sentence", r"The slope is $-\frac{2}{5}$", "-0.4"),
    ("sentence", r"\text{diverges to } -\infty", r"-\infty"),
    ("remark", r"n = 9 \text{ (since } n > 0)", "9"),
    ("remark", r"\frac{415}{7}\;\text{(about }59.3\text{ boxes)}", r"\frac{415}{7}"),
    ("remark", r"5\sqrt2 \ (\approx 7.07)", r"5\sqrt2"),
    ("remark", r"5\sqrt2 \text{ or approximately } 7.07", r"5\sqrt2"),
    ("unit", r"46 \quad (\text{units})", "46"),
    ("unit", r"\frac{2}{7}\text{ of the pizza}", r"\frac27"),
    ("unit", r"250~\text{bacteria per hour}", "250"),
    ("text", r"\text{a parabola}", r"\text{parabola}"),
    ("date", r"\text{June 5th}", r"\text{June 5}"),
    ("date", r"\text{Friday, 14 June 2019}", r"\text{June 14, 2019}"),
    ("number words", "forty-six", "46"),
    ("number words", r"\text{two thousand one hundred and five}", "2105"),
    ("number words", r"\text{minus three fifths}", "-0.6"),
    ("number words", r"\text{ninety minutes}", r"1.5\text{ hours}"),
    ("no answer", r"\text{There are no real roots}", r"\varnothing"),
    ("no answer", r"\text{The limit does not exist.}", r"\text{DNE}"),
    ("no answer", r"\text{infinitely many solutions}", r"\infty"),
    ("text", r"\text{June }4", r"\text{June 4}"),
    ("interval", "]0,1]", "(0,1]"),
    ("interval", "[0,1[", "[0,1)"),
    ("interval", r"\mathbb{R}^+", r"(0,\infty)"),
    ("interval", "-793<a<10", "(-793,10)"),
    ("list", "{1,-1}", r"\{-1,1\}"),
    ("list", r"\{1,\ldots,10\}", r"\{1,2,\dots,10\}"),
    ("list", "1、2", "1,2"),
    ("base", "A3_{16}", "a3_{16}"),
    ("base", r"\text{A3}_{16}", "A3_{16}"),
    ("base", r"1010\text{ base }2", "1010_2"),
    ("time", r"10{:}45", "10:45"),
    ("time", "16:30", "4:30 pm"),
    ("unit", r"8\,\Omega", "8"),
    ("unit", "25 sq ft", "25"),
    ("unit", r"12\text{ units}^2", "12"),
    ("unit", r"(3,4)\text{ cm}", "(3,4)"),
    ("unit", r"5\ \text{k}\Omega", r"5000\text{ ohms}"),
    ("time", r"10{:}45\text{ p.m.}", "22:45"),
    ("ratio", "3{:}2", "3:2"),
    ("text", r"\text{(B) } 7", "7"),
    ("number", r"5^{\text{th}}", "5"),
    ("name", r"f^{-1}(x)=\frac{x-1}{2}", r"\frac{x-1}{2}"),
    ("name", r"m\angle A=30^\circ", r"30^\circ"),
    ("name", r"\text{Var}(X)=3", "3"),
    ("every integer", r"n\pi, n\in\mathbb{Z}", r"n\pi"),
    ("vector", r"2\mathbf{i}-3\mathbf{j}", r"\langle 2,-3\rangle"),
    ("vector", "i+2j+3k", r"\langle 1,2,3\rangle"),
    ("vector", r"\hat{\imath}+2\hat{\jmath}", r"\hat{i}+2\hat{j}"),
    ("matrix", "[[1,2],[3,4]]", r"\begin{pmatrix}1&2\\3&4\end{pmatrix}"),
    (
        "matrix",
        r"\begin{pmatrix}1&2\\3&4\end{pmatrix}^{-1}",
        r"\begin{pmatrix}-2&1\\1.5&-0.5\end{pmatrix}",
    ),
]

ONE_WAY: list[Row] = [
    ("percent", r"150\%", "1.5"),
    ("decimal", "1000,99", "1000.99"),
    ("decimal", "2,5", "2.5"),
    ("locale", "1.250.000", "1250000"),
    ("locale", "1.250,75", "1250.75"),
    ("locale", "1'250'000", "1250000"),
    ("locale", "12,50,000", "1250000"),
    ("option", r"\textbf{(C)}\ 27", "C"),
    ("option", r"\text{C. the median}", r"\text{(C)}"),
    ("sentence", r"\text{The function is even}", r"\text{even}"),
    ("decimal", r"\pi", "3.14"),
    ("decimal", r"\sqrt{2}", "1.414"),
]
"""What only the reference makes certain: percent, rounding, separators, the letter of an option."""

UNEQUAL: list[Row] = [
    ("pieces", "|t+3200|", "t+3200"),
    ("pieces", "((v-6)^2)^{1/2}", "6-v"),
    ("pieces", r"k!+\lfloor k/47 \rfloor", "k!"),
    ("pieces", r"(-1)^m+\lfloor m/90 \rfloor", "(-1)^m"),
    ("pieces", r"w^2+\lfloor w/5000 \rfloor", "w^2"),
    ("pieces", r"\min(x+y, 9000)", "x+y"),
    ("pieces", r"|e^s-10^6|+e^s-10^6", "0"),
    ("pieces", r"400\arctan(\tan(x/400))", "x"),
    ("powers", "(p-q)^{6001}", "(q-p)^{6001}"),
    ("calculus", r"\int_1^4 3t^2\,dt", "64"),
    ("calculus", r"\sum_{n=1}^{\infty} 3^{-n}", "1"),
    ("domain", "3-x", "|x-3|"),
    ("domain", "x", r"\arctan(\tan x)"),
    ("domain", "y", r"\min(x,y)"),
    ("domain", r"\lfloor x\rfloor+1", r"\lceil x\rceil"),
    ("domain", "I(0)e^{t/RC}", "I(0)e^{-t/RC}"),
    ("units", r"6\text{ trillion}", "6"),
    ("code", "print(42)", "42"),
    ("hedge", r"5 \text{ or } 6", "5"),
    ("hedge", "5, 6", "5"),
    ("hedge", r"\{5\} \cup \{6\}", "5"),
    ("hedge", r"\ge 5", "5"),
    ("hedge", r"\ne 42", "42"),
    ("hedge", r"\text{at least } 42", "42"),
    ("hedge", r"42 \text{ or more}", "42"),
    ("hedge", r"\text{about } 42", "42"),
    ("hedge", r"\pm 42", "42"),
    ("hedge", r"x < \pm 6", "x<6"),
    ("hedge", "1, 2, 3, ...", "1, 2, 3"),
    ("hedge", "x=5=6", "6"),
    ("option", r"\text{(B) }27", "C"),
    ("option", r"\text{(C) or (B)}", "C"),
    ("decimal", "1.250", "1250"),
    ("decimal", "0.333", r"\frac13"),
    ("decimal", r"\frac13", "0.333"),
    ("decimal", "1.7320508", r"\sqrt3"),
    ("decimal", "3.14", r"\pi"),
    ("decimal", "41.9999", "42"),
    ("decimal", "10^{-20}", "0"),
    ("number", "12345678901234568", "12345678901234567"),
    ("number", r"\frac{1}{2^{98}}", r"\frac{1}{2^{99}}"),
    ("number", "2024^{4046}+1", "2024^{4046}"),
    ("number", "1000000000!+1", "1000000000!"),
    ("number", "32, 349", "32349"),
    ("number", "11 7/6", r"\frac{73}{6}"),
    ("number", "70 2", r"70\sqrt{2}"),
    ("number", "(b)0", "0"),
    ("number", r"\frac{42}{0}", "42"),
    ("number", r"\frac00", "0"),
    ("percent", r"0.2\%", "0.2"),
    ("percent", "5", r"500\%"),
    ("percent", "0.2", r"0.2\%"),
    ("percent", "5000", r"50\%"),
    ("percent", r"0.5\%", r"50\%"),
    ("percent", r"500\%", r"5\%"),
    ("percent", "0.42", "42"),
    ("algebra", r"\sqrt{x^2}", "x"),
    ("algebra", "2k", "2n"),
    ("algebra", r"\sqrt{a+b}", r"\sqrt a+\sqrt b"),
    ("algebra", r"\sin(1+10^{-500})", r"\sin 1"),
    ("algebra", r"\frac{d}{dx} x^2", "x"),
    ("named value", "2x+3=13", "5"),
    ("named value", "x=5", "y=5"),
    ("list", "2,3,3,3", "2,3"),
    ("list", r"\{1,2,3\}", r"\{1,2\}"),
    ("tuple", "(2,1)", "(1,2)"),
    ("tuple", "(1,2)", r"\{1,2\}"),
    ("tuple", "(8,-2)", "[8,-2]"),
    ("tuple", "(1,2)", "12"),
    ("interval", "(1,2]", "(1,2)"),
    ("interval", r"(1,2)\cup(2,3)", "(1,3)"),
    ("interval", "x>2", r"x \ge 2"),
    ("interval", "-x>-2", "x>2"),
    ("equation", "x^2+5=0", "x^2+7=0"),
    ("equation", "x+1=1+x", "2y=y+y"),
    ("equation", "5=6", "2+3=6"),
    ("equation", "0=0", "1=1"),
    ("matrix", r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{pmatrix}1&2\end{pmatrix}"),
    ("unit", r"3 \text{ cm}", r"3 \text{ m}"),
    ("unit", r"42 \text{ cm}", r"42 \text{ cm}^2"),
    ("unit", r"5 \text{ apples}", r"5 \text{ oranges}"),
    ("unit", r"\$36", r"36^\circ"),
    ("time", "4:30 a.m.", "4:30 p.m."),
    ("ratio", "1:2", "2:1"),
    ("ratio", "1:00", "12:00"),
    ("base", "1010_2", "1010_3"),
    ("base", "4343", "4343_6"),
    ("base", "4_2", "42"),
    ("text", r"\text{not even}", r"\text{even}"),
    ("text", "True", "1"),
    ("infinity", r"\infty", r"-\infty"),
    ("whole numbers", r"n+\binom{n}{0}-1", r"\sin(\pi n)+n"),
    ("whole numbers", r"n+0\cdot n!", r"\sin(\pi n)+n"),
    ("whole numbers", "(-1)^{2x}", r"\cos(2\pi x)"),
    ("letters", "24abcd", "24"),
    ("letters", "7mg", "7"),
    ("letters", "2km", r"2000\text{ m}"),
    ("letters", "2sinx", "2"),
    ("letters", "x2", "2x"),
    ("letter before brackets", "f(x)+f(y)", "f(x+y)"),
    ("letter before brackets", "f(2)", "f(3)"),
    ("words before", r"\text{the reciprocal of }5", "5"),
    ("words before", r"\text{July }5", "5"),
    ("words before", r"\text{July }4", r"\text{June }4"),
    ("words before", r"\text{Room }5", r"\text{Floor }5"),
    ("words after", "5 halves", "5"),
    ("words after", "5 factorial", "5"),
    ("words after", "5 millions", "5"),
    ("words after", "5 dozens", "5"),
    ("words after", r"5\text{ reciprocal}", "5"),
    ("words after", r"5\text{ larger}", "5"),
    ("words after", r"5\text{ lakh}", "5"),
    ("name", "g(x)=2x", "f(x)=2x"),
    ("name", "AB=5", "CD=5"),
    ("name", "xy=6", "6"),
    ("chain", "2+3=6", "5"),
    ("chain", "2+3=5=6", "5"),
    ("chain", "x=x=5x/x", "5"),
    ("chain", "1=1", "1=x"),
    ("system", r"\begin{cases}x=1\\y=2\end{cases}", "(2,1)"),
    ("system", r"\begin{cases}5\\6\end{cases}", "5"),
    (
        "pieces",
        r"\begin{cases}1&x\ge0\\0&x<0\end{cases}",
        r"\begin{cases}1&x>0\\0&x\le0\end{cases}",
    ),
    ("unit", r"1\text{ liter}", r"1\text{ gallon}"),
    ("unit", r"5\text{ N}", r"5\text{ J}"),
    ("unit", r"25^\circ\text{F}", r"25^\circ\text{C}"),
    ("unit", "€5", r"\$5"),
    ("e", "2e - 1", "0.2"),
    ("e", "2e + 1", "20"),
    ("list", "3, 5", "3.5"),
    ("list", "1.2", "1, 2"),
    ("list", "{{1},2}", "{1,2}"),
    ("interval", "1,0", "[0,1)"),
    ("interval", "0,1", "[0,1)"),
    ("interval", "0,1", "(0,1]"),
    ("time", "5:10", "10:20"),
    ("time", "2:15", "4:30"),
    ("text", "No idea", "No"),
    ("text", "No solution", "No"),
    ("text", "oN", "No"),
    ("text", "seY", "Yes"),
    ("text", "eurT", "True"),
    ("text", "silent", "listen"),
    ("text", r"\text{Anna and Ben}", r"\text{Anna}"),
    ("spelling", r"5\text{ to }9", "5"),
    ("spelling", "₹640", r"\$640"),
    ("spelling", r"\prod_{i=1}^{5} i", "i^5"),
    ("sentence", r"\text{The reciprocal is }5", "5"),
    ("sentence", r"\text{It is false that it is }5", "5"),
    ("sentence", r"\text{The function is not even}", r"\text{even}"),
    ("remark", r"5\text{ or about }6", "5"),
    ("remark", r"2(about+b)", "2"),
    ("unit", r"46\text{ (or 64)}", "46"),
    ("date", r"\text{June 5th}", r"\text{June 15}"),
    ("number words", "forty-six", "64"),
    ("number words", r"\text{five and six}", "11"),
    ("number words", "seven hundred eight", "7800"),
    ("no answer", r"\text{infinitely many solutions}", r"\text{no solutions}"),
    ("no answer", r"\text{DNE}", "0"),
    ("base", "A3_{16}", "A3_{12}"),
    ("residue", "10", r"3 \pmod 7"),
    ("residue", "3", r"10 \pmod 7"),
]

PAIRS = [(rf"\boxed{{{answer}}}", reference) for _, answer, reference in (*EQUAL, *UNEQUAL)]
BACK = [(kind, reference, answer) for kind, answer, reference in EQUAL]
NOT_BACK = [
    *((kind, reference, answer) for kind, answer, reference in ONE_WAY),
    *((kind, b, a) for kind, a, b in UNEQUAL if kind not in ("decimal", "percent")),
]


def judged(answer: str, reference: str, math: Math | None = None) -> Verdict:
    return rewardkit.verify(math or Math(), rf"\boxed{{{answer}}}", reference, timeout=5.0)


@pytest.mark.parametrize(("kind", "answer", "reference"), [*EQUAL, *ONE_WAY, *BACK])
def test_equal(kind: str, answer: str, reference: str) -> None:
    verdict = judged(answer, reference)
    assert verdict.correct is True, verdict


@pytest.mark.parametrize(("kind", "answer", "reference"), [*UNEQUAL, *NOT_BACK])
def test_unequal(kind: str, answer: str, reference: str) -> None:
    verdict = judged(answer, reference)
    assert verdict.correct is False, verdict


@pytest.mark.parametrize("row", [*EQUAL, *UNEQUAL], ids=lambda row: f"{row[1]} | {row[2]}")
def test_everything_equals_itself(row: Row) -> None:
    for side in row[1:]:
        assert judged(side, side).correct is True


def test_the_message_names_the_step_that_decided() -> None:
    assert "exact numbers" in judged("1/2", "0.5").message
    assert "same text" in judged(r"\frac{x}{2}", r"\frac{x}{2}").message
    assert "exact zero test" in judged(r"\sqrt8", r"2\sqrt2").message
    assert "sets of real numbers" in judged("x>2", r"(2,\infty)").message
    assert "proportional equations" in judged("y=x", "x=y").message


@pytest.mark.parametrize(
    ("tolerance", "answer", "reference", "correct"),
    [
        (None, r"\pi", "3.14", True),
        (0.0, r"\pi", "3.14", False),
        (0.01, "3.15", r"\pi", False),
        (0.01, "99.5", "100", True),
        (0.01, "98", "100", False),
        (0.01, r"\frac13", "0.333", True),
    ],
)
def test_the_tolerance_is_a_policy(
    tolerance: float | None, answer: str, reference: str, correct: bool
) -> None:
    assert judged(answer, reference, Math(tolerance=tolerance)).correct is correct


@pytest.mark.parametrize(
    ("units", "answer", "reference", "correct"),
    [
        ("lenient", r"3\text{ cm}", "3", True),
        ("strict", r"3\text{ cm}", "3", False),
        ("strict", "3", r"3\text{ cm}", False),
        ("strict", r"3\text{ cm}", r"3\text{ cm}", True),
        ("strict", r"90^\circ", r"\frac{\pi}{2}", True),
        ("ignored", r"3\text{ cm}", r"3\text{ m}", True),
    ],
)
def test_units_are_a_policy(units: str, answer: str, reference: str, correct: bool) -> None:
    math = rewardkit.load_verifier("math", units=units)
    assert rewardkit.verify(math, rf"\boxed{{{answer}}}", reference).correct is correct


@pytest.mark.parametrize(
    ("answer", "reference", "as_unit", "exact"),
    [
        (r"20\%", "20", True, False),
        (r"20\%", "0.2", True, True),
        ("20", r"20\%", True, False),
        ("5", r"500\%", False, True),
        (r"x\%", "x", True, False),
    ],
)
def test_percent_is_a_policy(answer: str, reference: str, as_unit: bool, exact: bool) -> None:
    assert judged(answer, reference).correct is as_unit
    assert judged(answer, reference, Math(percent="exact")).correct is exact


def test_a_policy_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(ValueError, match="tolerance"):
        Math(tolerance=-1)
    with pytest.raises(ValueError, match="units"):
        Math(units="metric")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="percent"):
        Math(percent="both")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="thinking"):
        Math(thinking="drop")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("answer", "reference", "correct"),
    [
        (r"2\sqrt{2}", r"\sqrt{8}", True),
        (r"\sqrt{8}", r"2\sqrt{2}", False),
        ("x+1", "1+x", True),
        (r"\frac{2x}{4}", r"\frac{x}{2}", True),
        ("2+3", "5", False),
        (r"(\frac{2}{4}, 1)", "(0.5, 1)", False),
        (r"(\frac{1}{2}, 1)", "(0.5, 1)", True),
    ],
)
def test_simplest_form_of_expressions(answer: str, reference: str, correct: bool) -> None:
    assert judged(answer, reference, Math(require_simplified=True)).correct is correct


def test_verdicts_depend_on_nothing_but_the_pair() -> None:
    alone = [rewardkit.verify("math", *pair) for pair in PAIRS]
    order = list(range(len(PAIRS)))
    random.Random(0).shuffle(order)
    for workers, size in ((1, 7), (2, len(PAIRS))):
        found: dict[int, Verdict] = {}
        for start in range(0, len(order), size):
            indices = order[start : start + size]
            verdicts = rewardkit.verify_batch(
                "math",
                [PAIRS[i][0] for i in indices],
                [PAIRS[i][1] for i in indices],
                workers=workers,
                timeout=5.0,
            )
            found.update(zip(indices, verdicts, strict=True))
        assert [found[i] for i in range(len(PAIRS))] == alone
