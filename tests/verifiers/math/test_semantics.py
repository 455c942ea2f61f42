"""What is equal and what is not, as docs/reference/math.md tells in words; and the policies.

Equal rows hold in both directions but for ONE_WAY.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import pytest

import rewardkit
from rewardkit import Verdict
from rewardkit.verifiers.math import Math
from rewardkit.verifiers.math.spelling import repaired

Row = tuple[str, str, str]


def rows(table: str) -> list[Row]:
    """The rows of a table of `answer ~ reference`, two of them parted by `;;`, under each kind."""
    found, kind = [], ""
    for line in table.replace(" ~\n    ", " ~ ").strip().splitlines():
        if not line.startswith("  "):
            kind = line.removesuffix(":")
            continue
        for pair in line.split(" ;; "):
            answer, reference = pair.strip().split(" ~ ")
            found.append((kind, answer, reference))
    return found


EQUAL = rows(r"""
terms by name:
  y'(0)=3 ~ y'(0)=3 ;; 3 ~ y'(0)=3
  \text{Pr}(X)=0.3 ~ P(X)=0.3 ;; 1/3 ~ P(A)=1/3 ;; P(A)=1/3 ~ \frac13
  24 ~ \varphi(84)=24 ;; p(-3)=41 ~ 41 ;; -40 ~ \det(2A)=-40
  \sqrt{\frac{7}{16}} ~ e=\frac{\sqrt7}{4}
  P(A\cup B)=\frac13 ~ \frac13 ;; 5 ~ E(X)=5 ;; E(X)=5 ~ 5 ;; |\vec{u}|=5 ~ 5 ;; \|u\|=5 ~ 5
  5 ~ |\vec u|=5 ;; \vec u\cdot\vec v=6 ~ 6 ;; 6 ~ \vec u\cdot\vec v=6
  \mathbf{u}\cdot\mathbf{v}=6 ~ 6 ;; \overrightarrow{PQ}\cdot\overrightarrow{PR}=6 ~ 6
  \frac{S_{PQR}}{S_{KLM}}=\frac14 ~ \frac14 ;; x_1x_2=4 ~ 4 ;; x_1+x_2=7 ~ 7
  \frac32 ~ \frac{KL}{MN}=\frac32 ;; \frac{KL}{MN}=\frac32 ~ \frac32 ;; 2 ~ \tan B=2
  \tan\beta=2 ~ 2 ;; \cos(2\theta)=-\frac12 ~ -\frac12 ;; PA+PB=13 ~ 13 ;; 13 ~ PA+PB=13
  PA^2+PB^2=13 ~ 13 ;; x+2x=3x ~ 3x ;; 2,5 ~ x=2,5 ;; \dim\ker S=1 ~ 1 ;; h(6)=5 ~ 5
  \operatorname{rank}M=2 ~ \operatorname{rank}(M)=2 ;; |P\setminus Q|=9 ~ 9 ;; n(P\cap Q)=9 ~ 9
  (1,0,-2) ~ \vec p\times\vec q=(1,0,-2) ;; \langle p,q\rangle=3 ~ 3 ;; \sup S=2 ~ 2
  [H:K]=4 ~ 4 ;; [\mathbb{Q}(\sqrt2):\mathbb{Q}]=2 ~ 2 ;; \Pr(Z=1)=\frac13 ~ P(Z=1)=\frac13
  (3,4) ~ \nabla g(1,0)=(3,4) ;; \int t\,dt=\frac{t^2}{2}+C ~ \frac12t^2+C ;; \deg h=3 ~ 3
  \overset{\frown}{PQ}=40^\circ ~ 40^\circ ;; \max_{t\in[0,1]}g(t)=3 ~ 3 ;; \sigma^2=3 ~ 3
  e^{Mt}=\begin{pmatrix}1&0\\0&2\end{pmatrix} ~ \begin{pmatrix}1&0\\0&2\end{pmatrix}
  \chi^2=3 ~ 3 ;; u^*=3 ~ 3 ;; u^{\ast}=3 ~ u^*=3 ;; h^{(3)}(0)=6 ~ h'''(0)=6
  \text{rank}=2 ~ \operatorname{rank}(M)=2 ;; \oint_C g\,dz=2 ~ 2
  \mathcal{L}\{g\}=\frac1s ~ \frac1s ;; \mathrm{Var}[Z]=4 ~ 4
percent:
  150\% ~ 1.5 ;; \frac65 ~ 120\%
mixed:
  \$8\frac34 ~ \$8.75 ;; 17\text{ R }2 ~ 17\text{ remainder }2 ;; ①③ ~ 3, 1 ;; S(6|-5) ~ (6,-5)
  7\text{ (seven)} ~ 7 ;; \text{in the year }1969 ~ 1969 ;; \text{3:20 p.m.} ~ 3:20
  x=1\text{ with multiplicity }2 ~ 1
sentences:
  \text{an obtuse triangle} ~ \text{obtuse} ;; \text{A and C} ~ AC
  \text{linearly independent vectors} ~ \text{linearly independent}
  \text{The series converges absolutely} ~ \text{absolutely convergent}
  9\text{ chairs are needed} ~ 9\text{ chairs} ;; \text{Each pupil gets 9} ~ 9
  \text{9 pupils passed the exam} ~ 9 ;; \text{exactly nine} ~ 9 ;; \text{The answer is nine} ~ 9
  x=9\text{ only} ~ 9 ;; \sigma=(1\,3)(2\,4) ~ (1\,3)(2\,4)
  (5,3,2)\text{ and all permutations} ~ (2,3,5)\text{ and permutations}
  (2,3,5),(3,5,2),(5,2,3) ~ (2,3,5)\text{ and its cyclic permutations}
  q\to\neg p ~ p\to\neg q ;; y(x)=1+Ke^{-2x} ~ y=Ce^{-2x}+1
  \text{all positive integers }n ~ \mathbb{Z}^+
labels and steps:
  \text{center }(5,-1),\text{ radius }4 ~ \text{Center: }(5,-1),\text{ Radius: }4
  \text{mean }7,\text{ variance }4 ~ 7, 4 ;; (v-2)(v+5)=0\Rightarrow v=2,-5 ~ 2, -5
  \left<2,-1,4\right> ~ (2,-1,4) ;; \frac37=0.428\ldots ~ \frac37
  3+i4 ~ 3+4i ;; \{v\in\mathbb{R}:v\ne\pm2\} ~ v\ne\pm2
  \left\{\begin{pmatrix}1\\0\end{pmatrix},\begin{pmatrix}0\\1\end{pmatrix}\right\} ~ (1,0),(0,1)
  3.5\text{ kg of rice} ~ 3.5\text{ kg}
  v=0.333\ldots ~ v=\frac13 ;; 5\text{ cm long} ~ 5\text{ cm} ;; \textdollar12 ~ \$12
groups:
  \mathbb{Z}/2\mathbb{Z}\times\mathbb{Z}/4\mathbb{Z} ~ \mathbb{Z}_4\oplus\mathbb{Z}_2
  \operatorname{Gal}(L/\mathbb{Q})\cong S_4 ~ S_4
  \pi_1(Y)\cong\mathbb{Z}/3\mathbb{Z} ~ \mathbb{Z}_3
curves of constants:
  x^2+y^2=K ~ \frac{x^2}{2}+\frac{y^2}{2}=C ;; x^2=y^2+C ~ x^2-y^2=C ;; \text{18 remaining} ~ 18
  \text{It takes 18 days} ~ 18
chains of names:
  (u,v,w)=(2,2,2) ~ u=v=w=2 ;; \operatorname{rank}M=2,\operatorname{nullity}M=1 ~
    \text{rank}(M)=2,\ \text{nullity}(M)=1
  m=3^k,\ k\in\mathbb{N} ~ m=3^k,\ k\ge1 ;; C_{2m}^m ~ \binom{2m}{m}
terms in bounds:
  \frac ab\in[1,3) ~ 1\le\frac ab<3 ;; v+u\in(2,5) ~ 2<u+v<5
lines and pairs:
  4y=\pm5x ~ y=\pm\frac54x ;; 5x\pm4y=0 ~ y=\pm\frac54x
  x=\pm2y ~ x-2y=0\text{ or }x+2y=0 ;; (3+7m,-2-5m) ~ (x,y)=(3+7t,-2-5t)
  (3-7t,-2+5t) ~ (x,y)=(3+7t,-2-5t)
intervals in families:
  \bigcup_{n\in\mathbb{Z}}(2n\pi,(2n+1)\pi) ~ (2k\pi,(2k+1)\pi),\ k\in\mathbb{Z}
  2n\pi<x<2n\pi+\pi,\ n\in\mathbb{Z} ~ x\in(2k\pi,(2k+1)\pi),\ k\in\mathbb{Z}
options:
  A) 5 ~ \text{(A) }5 ;; (C) ~ \textbf{(C)}\ 27 ;; C ~ \textbf{(C)}\ 27 ;; 27 ~ \textbf{(C)}\ 27
  \text{B} ~ \text{(B) }12\text{ cm} ;; \textbf{(C)}\ 27 ~ C
points and tuples by name:
  2 ~ \frac{AB}{CD}=2 ;; S_{ABC}=12 ~ [ABC]=12 ;; [ABC]=12 ~ S_{\triangle ABC}=12 ;; |AB|=7 ~ AB=7
  \overline{AB}=7 ~ AB=7 ;; BA=7 ~ AB=7 ;; [ABC]=12 ~ S=12 ;; v=7,x=8 ~ (x,v)=(8,7)
  (x,v)=(8,7) ~ x=8,v=7 ;; (2,5) ~ (p,q)=(2,5)
reports:
  4\over1+1 ~ 2 ;; {{x}_1}=3 ~ x_1=3 ;; {{a}_{n}}=2n+1 ~ a_n=2n+1 ;; {{\log}_{2}}3 ~ \log_2 3
  {1+\sqrt5 \over 2} ~ \frac{1+\sqrt5}{2} ;; x+x=2x ~ 2x ;; \frac{d}{dx}\sin x=\cos x ~ \cos x
  \sin A=1 ~ 1 ;; |\vec a|=5 ~ 5 ;; \vec a\cdot\vec b=6 ~ 6 ;; f(x)>0 ~ (0,\infty)
  \cos A\in(0,1) ~ (0,1) ;; \frac{S_1}{S_2}=3 ~ 3 ;; x=1,y=2 ~ x=1,\quady=2 ;; 1,-1 ~ x=1orx=-1
  \mathbb{R} ~ x\inR ;; x\inR ~ \mathbb{R} ;; x&le;5 ~ x\le 5 ;; x&lt;5 ~ x<5 ;; (C) 27 ~ 27
  \overline z ~ \bar z ;; 1+\bar{z} ~ \overline{z}+1 ;; 2\varepsilon ~ 2\epsilon
  \varphi^2 ~ \phi^2 ;; \sin(θ)\,mg ~ mg\sin\theta ;; mg \sin θ ~ mg\sin\theta
  (1,2) ~ \{(1,2)\} ;; (b,a)=(3,2) ~ (a,b)=(2,3) ;; (b) 5, (a) 12 ~ (a) 12, (b) 5
  y=\pm x ~ x^2=y^2 ;; \int_0^1 f(x)\,dx ~ \int_0^1 f(t)\,dt ;; 26 m ~ 26 ;; 64\text{ cm}^3 ~ 64
  3\text{ min }20\text{ s} ~ \frac{10}{3}\text{ min}
  \frac{10}{3}\text{ min} ~ 3\text{ min }20\text{ s} ;; 200\text{ s} ~ 3\text{ min }20\text{ s}
  200 s ~ 3\text{ min }20\text{ s} ;; 300{,}000 = 3\times10^5 ~ 3\times10^5
  300{,}000 = 3\times10^5 ~ 300000 ;; \lim_{x\to\infty}x^2 ~ \infty
  \infty ~ \lim_{x\to 0^+}\frac1x ;; 4^{500000} ~ 2^{1000000} ;; forty-two (42) ~ 42
ranges of terms:
  \left|\overrightarrow{PQ}\right|=5 ~ 5 ;; p+q>2 ~ (2,\infty) ;; (2,\infty) ~ p+q>2
  g(t)\in[0,3] ~ [0,3] ;; [0,3] ~ g(t)\in[0,3] ;; 0\le g(t)\le 3 ~ [0,3] ;; [0,3] ~ 0\le g(t)\le 3
  \sin B\in(0,1) ~ (0,1) ;; 0<\sin B<1 ~ (0,1) ;; \frac{b}{a}\in[2,5] ~ [2,5]
  2\le\frac ba\le5 ~ [2,5] ;; |z|\in[2,5] ~ [2,5] ;; f(x)<4 ~ (-\infty,4) ;; (-\infty,4) ~ f(x)<4
  g(t)>1 ~ g(x)>1 ;; [1,\infty) ~ g(x)\ge1
limits and integrals:
  \frac{d}{dt}t^2=2t ~ 2t ;; \frac{d}{dt}\sin t=\cos t ~ \cos t
  \cos t ~ \frac{d}{dt}\sin t=\cos t ;; \int_0^t 3u^2\,du=t^3 ~ t^3
  \lim_{n\to\infty}a_n ~ \lim_{k\to\infty}a_k ;; \lim_{t\to0}g(t) ~ \lim_{h\to0}g(h)
  \lim_{h\to0}\frac{\sin h}{h} ~ 1 ;; \lim_{m\to\infty}(1+\frac1m)^m ~ e
values at bounds:
  x^2|_{x=3} ~ 9 ;; x^2\big|_{x=3} ~ 9 ;; \left.x^2\right|_0^3 ~ 9 ;; t^3-3\big|_{t=3} ~ 24
bases of one side:
  3A_{16} ~ (3A)_{16}
structure:
  \vec{g}+3\vec{f} ~ \mathbf{g}+3\mathbf{f} ;; \vec{GH}-\vec{f} ~ \overrightarrow{GH}-\mathbf{f}
  \mathbf{G}^{-1}\mathbf{M}\mathbf{G} ~ G^{-1}MG ;; (KL)^T ~ L^TK^T ;; (KL)^{-1} ~ L^{-1}K^{-1}
  M^{-1}M ~ I ;; \frac{KL}{M} ~ \frac{LK}{M} ;; -\vec{g}\times\vec{f} ~ \vec f\times\vec g
  r\times s ~ rs ;; 3w\,dw ~ 3wdw ;; dv/du ~ \frac{dv}{du} ;; 5\text{ J K}^{-1} ~ 5\text{ J/K}
  (KL)^{\top} ~ L^{T}K^{T} ;; e^T ~ e^{T}
pieces:
  \left\{\begin{array}{ll}2z&z\ge 1\\0&z<1\end{array}\right. ~
    \begin{cases}2z&z\ge 1\\0&\text{otherwise}\end{cases}
  \begin{cases}w^2,&w>0\\-w^2,&w\le0\end{cases} ~
    \begin{cases}w^2,&w\ge0\\-w^2,&w<0\end{cases}
  |t+3200| ~ \sqrt{(t+3200)^2} ;; \max(u, 450) ~ \frac{u+450+|u-450|}{2}
  \lfloor w/250 \rfloor + 3 ~ \lfloor \frac{w+750}{250} \rfloor
  \begin{cases}1&x\ge0\\0&x<0\end{cases} ~
    \begin{cases}0&\text{if }x<0\\1&\text{otherwise}\end{cases}
  |y-2| ~ \begin{cases}y-2&y\ge2\\2-y&y<2\end{cases}
  \begin{cases}4&t<4\\t&4\le t<9\\9&t\ge9\end{cases} ~ \min(9,\max(t,4))
  \begin{cases}-5&x<0\\0&x=0\\5&x>0\end{cases} ~ 5\operatorname{sgn}(x)
moduli of vectors:
  \|(1,2,3)\| ~ \sqrt{14} ;; |\langle 3,1,-2\rangle| ~ \sqrt{14} ;; |z-4i|^2=9 ~ |z-4i|=3
  \sqrt{x^2+y^2}=5 ~ x^2+y^2=25 ;; P(9,4) ~ 3024 ;; P(9,4) ~ \frac{9!}{5!}
residues:
  [4]_{9} ~ 13\pmod 9 ;; 3^{100}\equiv 4\pmod{7} ~ 4
bases:
  0x3C ~ 3C_{16} ;; \mathtt{0b1101} ~ 1101_2 ;; 3B2_{\text{twelve}} ~ 3B2_{12}
matrices:
  \operatorname{diag}(5,-2) ~ \begin{bmatrix}5&0\\0&-2\end{bmatrix} ;; [5,-2,1]^T ~ (5,-2,1)
  \begin{pmatrix}1&2\\3&4\end{pmatrix}^{T} ~ \begin{pmatrix}1&3\\2&4\end{pmatrix}
units:
  y>7\text{ cm} ~ y>7 ;; 200\text{ cm}\le y\le 600\text{ cm} ~ 2\text{ m}\le y\le 6\text{ m}
  y\in[2,6]\text{ m} ~ 2\text{ m}\le y\le 6\text{ m} ;; 35\%\text{ of the pupils} ~ 35\%
  35\%\text{ increase} ~ 35\% ;; 48°25'10" ~ 48^\circ 25' 10'' ;; 40 ds ~ 4\text{ s}
  30\text{ square units} ~ 30 ;; 30\text{ square units} ~ 30\text{ ft}^2
  30\text{ units} ~ 30\text{ tickets} ;; 12\frac12\% ~ \frac18 ;; 7\frac12^\circ ~ 7.5^\circ
  -5\text{ cm} ~ -5 ;; \pounds 5 ~ 5
money:
  6\text{ pounds} ~ £6 ;; 640\text{ pence} ~ £6.40 ;; \text{US}\$64.50 ~ \$64.50
points:
  B=(5,-1) ~ B(5,-1) ;; F_1(0,4), F_2(0,-4) ~ (0,\pm4)
names:
  d_k=5^k+1 ~ d_m=5^m+1 ;; v=w=4,\ z=1 ~ (4,4,1) ;; \mu_1=7,\ \mu_2=\mu_3=2 ~ 2,7,2
  \begin{pmatrix}x\\y\\z\end{pmatrix}=\begin{pmatrix}4\\1\\0\end{pmatrix} ~ (x,y,z)=(4,1,0)
  \int_0^2 3z^2\,dz=8 ~ 8 ;; \text{(a) }12\quad\text{(b) }5 ~ (a) 12, (b) 5
  (u,v)\in\{(5,2),(7,1)\} ~ (5,2), (7,1) ;; c_n=5^n+2\text{ for all integers }n\ge 1 ~ c_n=5^n+2
  c_n=5^n+2,\ n\ge 0 ~ c_n=5^n+2
  M^{-1}=\begin{pmatrix}4&1\\0&2\end{pmatrix} ~ \begin{pmatrix}4&1\\0&2\end{pmatrix}
counting:
  {}_7P_3 ~ 210
calculus:
  \ddot{z}=-9z ~ z''=-9z ;; \frac{dz}{du}=3u ~ z'=3u ;; \frac{dg}{du}=3u ~ g'(u)=3u
  \frac{d}{du}g(u)=2u ~ g'(u)=2u ;; \frac{\partial g}{\partial v}=3uv^2 ~ \frac{dg}{dv}=3uv^2
  \int_0^1 w\,dw+5 ~ 5.5 ;; \int_0^1 e^{s}\,ds+1 ~ e
  4-\int_0^2 v\,dv+\int_0^1 u^2\,du ~ \frac73 ;; \int_0^1\int_0^2 rs\,dr\,ds ~ 1
  \int_1^3\frac{dv}{v}\cdot 2 ~ 2\ln 3 ;; \int_1^4 3t^2\,dt ~ 63
  \int_0^1 \frac{du}{1+u^2} ~ \frac{\pi}{4} ;; \int_0^\pi \sin v \, \mathrm{d}v ~ 2
  \lim_{h \to 0} \frac{\sin h}{h} ~ 1 ;; \lim_{k \to \infty} (1+\frac1k)^k ~ e
  \lim_{x \to 0^+} x^x ~ 1 ;; \sum_{k=1}^{\infty} \frac{1}{k^2} ~ \frac{\pi^2}{6}
  \int_0^\pi 3\sin x\,dx ~ 6 ;; \int_0^2 (x+1) \, \mathrm{d}x ~ 4 ;; \lim_{x \to 1/2} 2x ~ 1
  \lim_{x \to 0^{+}} x^x ~ 1 ;; g_z=3z+u ~ \frac{\partial g}{\partial z}=u+3z
  6u\mathbf{i}-\mathbf{j} ~ \nabla g=(6u,-1)
interval:
  u\ne 3,-8 ~ \mathbb{R}\setminus\{3,-8\} ;; u\ne 3,-8 ~ u\ne -8\text{ and }u\ne 3
  x<=0 ~ (-\infty,0] ;; [-2,7] ~ -2 \le x \le 7 ;; [-2,7] ~ x \in [-2,7]
  x<2 \text{ or } x>3 ~ (-\infty,2)\cup(3,\infty) ;; [1,2]\cup(2,3] ~ [1,3] ;; |x|<1 ~ (-1,1)
  7<x<9\text{ or }1<x\le4 ~ \{x: 1<x\le4\text{ or }7<x<9\}
  2x > 4 ~ x>2 ;; \mathbb{R}\setminus\{0\} ~ x \ne 0 ;; \{x \mid x>2\} ~ (2,\infty)
  \text{all real numbers} ~ (-\infty,\infty) ;; ]0,1] ~ (0,1] ;; [0,1[ ~ [0,1)
  \mathbb{R}^+ ~ (0,\infty) ;; -793<a<10 ~ (-793,10) ;; \mathbb{R}^2 ~ \mathbb{R}^{2}
  ℝ∖{0} ~ \mathbb{R}\setminus\{0\}
spelling:
  \text{Yes, because }7>3 ~ \text{Yes} ;; 64\text{ since the rows are equal} ~ 64
  64\text{ (by symmetry)} ~ 64 ;; \text{The area is 64} ~ 64 ;; 5 \text{ und } 9 ~ 5, 9
  5\text{ ou }9 ~ 5, 9 ;; 5 和 9 ~ 5, 9 ;; 5 \text{ 或 } 9 ~ 5, 9 ;; ₹640 ~ 640\text{ rupees}
  35\text{ per cent} ~ 35\% ;; n \equiv 4 \mod 9 ~ n \equiv 4 \pmod 9
  n ≡ 4 (mod 9) ~ n \equiv 4 \pmod{9} ;; 5.2 \text{ x } 10^{4} ~ 52000 ;; 3\;000\;000 ~ 3000000
  3\text{:}45\text{ PM} ~ 15:45 ;; 5\text{ to }9 ~ 5:9
  \mathbb{R}-\{6\} ~ \mathbb{R}\setminus\{6\} ;; \prod_{i=1}^{5} i ~ 120
  \begin{pmatrix}1\\[4pt]2\end{pmatrix} ~ \begin{bmatrix}1\\2\end{bmatrix}
  5{\tfrac{1}{6}} ~ 5\frac16 ;; 0.(81) ~ \frac{9}{11} ;; 3{.}75 ~ 3.75 ;; 2{,}5 ~ 2.5
  0{,}125 ~ \frac18 ;; \text{-}12 ~ -12 ;; \Huge{81} ~ 81
  \frac{2}{9}\text{ (in lowest terms)} ~ \frac29 ;; \frac{2}{9}\text{ in simplest form} ~ \frac29
  ⑫ ~ 12 ;; \frac{7}{4}\text{ (reduced)} ~ \frac74 ;; \textbf{}\text{(C) }4 ~ 4
  x != 4 ~ x \ne 4 ;; x>=4 ~ [4,\infty) ;; 4{cm} ~ 4\text{ cm} ;; 6{\frac23} ~ 6\frac23
  0.5(27) ~ 0.5\overline{27} ;; -0.5(27) ~ -\frac{29}{55}
words:
  \text{infinite number of solutions} ~ \text{infinitely many solutions}
  \text{Sept. 9} ~ \text{September 9} ;; \text{No, it is not possible} ~ \text{No}
  \text{No such }m\text{ exists} ~ \emptyset ;; \text{It tends to infinity} ~ \infty
  \text{on a Friday} ~ \text{Fri} ;; \text{This is not possible.} ~ \text{impossible}
  \text{None exist} ~ \text{none} ;; \text{Orla wins the game} ~ \text{Orla}
  \text{Orla has a winning strategy} ~ \text{Orla}
  \text{Orla wins if and only if }m=4 ~ \text{Orla wins exactly when }m=4
  \text{Yes, it is possible} ~ \text{Yes} ;; \text{the series converges} ~ \text{convergent}
  \text{The integral does not converge} ~ \text{diverges} ;; \text{minus infinity} ~ -\infty
  \text{Concave up on }(2,+\infty) ~ \text{concave up on }(2,\infty)
  \text{No, it isn't.} ~ \text{No} ;; \{BBG, GBB\} ~ \text{GBB, BBG}
  \text{Yes, they are.} ~ \text{Yes}
  \text{It cannot be determined.} ~ \text{cannot be determined}
  \text{three fifths of the way} ~ \frac35
  \text{three-fifths of the way} ~ \frac35\text{ of the way} ;; \text{the 14th term} ~ 14
numbers:
  0.\dot{2}3\dot{4} ~ 0.\overline{234} ;; 0.003\,125 ~ 0.003125
families:
  \operatorname{span}\{(3,1,2)\} ~ u(6,2,4),\ u\in\mathbb{R} ;; (2,7,t\times t) ~ (2,7,t^2)
  z=a\cos 5w+b\sin 5w ~ z=C_1\cos 5w+C_2\sin 5w
geometry:
  \triangle GHK\cong\triangle LMN ~ \triangle GHK \cong \triangle LMN.
sets:
  v\ne\pm 2 ~ \mathbb{R}\setminus\{-2,2\} ;; 1<m\le4,\ m\in\mathbb{Z} ~ \{2,3,4\}
logic:
  q\Rightarrow r ~ \neg q\lor r ;; \lnot(f\land\lnot g) ~ \lnot f\lor g ;; f\to g ~ g\lor\neg f
  (f\lor g)\land(f\lor h) ~ f\lor(g\land h) ;; M\setminus N ~ M\cap N^c ;; M-N ~ N'\cap M
  \overline{M}\cup\overline{N} ~ (M\cap N)^c ;; M\cup(N\cap M) ~ M
remarks:
  31\text{ (exactly)} ~ 31 ;; -9\text{ (a minimum)} ~ -9 ;; w=4\text{ (double root)} ~ w=4
domain:
  \sqrt{w}^2 ~ w ;; \sqrt[3]{(w-w)^3\cdot\sqrt7} ~ (w-w)\sqrt[3]{\sqrt7}
  \ln(-w)-\ln(v) ~ \ln\frac{-w}{v}
  (1-\frac{|3|}{|3|})\sqrt[3]{7} ~ \sqrt[3]{(1-|\frac33|)^3\sqrt{7}}
  \sqrt{u}\sqrt{\sqrt{v}\sqrt{w}} ~ \sqrt{u\sqrt{vw}}
  \ln(v\ln(\log_2 w)) ~ \ln v+\ln\ln\frac{\ln w}{\ln 2}
  \ln\sqrt{\ln\frac{u}{w}} ~ \frac12\ln(\ln u-\ln w)
functions:
  (2\cos^2\frac{\pi}{4}-1+\sin\frac{\pi}{2})^2 ~ (2\cos^2\frac{\pi}{4}-1)^2+1
  g(v)=0\text{ and }g(v)=3v ~ g(z)=3z,\ g(z)=0 ;; \max\{4,9\} ~ 9 ;; \max\{x,1,2\} ~ \max(2,x)
  \gcd(12,18,27) ~ 3 ;; \binom{9}{2,3,4} ~ 1260 ;; \zeta(4) ~ \frac{\pi^4}{90}
  2\zeta(3) ~ \zeta(3)+\sum_{n=1}^{\infty}\frac{1}{n^3} ;; \Gamma(k+2) ~ (k+1)!
  \Gamma\left(\frac12\right) ~ \sqrt\pi ;; \Gamma(1-\Gamma) ~ \Gamma-\Gamma^2
  p(q(x)) ~ p\circ q ;; 4t^2-t ~ (p \circ q)(t)=4t^2-t ;; p(q(2))=9 ~ (p\circ q)(2)=9
roots:
  -\sqrt[3]{v\sqrt[3]{w}} ~ \sqrt[3]{(\sqrt[3]{-1})^3\sqrt[3]{v^3w}}
  (\sqrt{\sqrt{1}}+5+2\sqrt{5\sqrt{\sqrt{1}}})\sqrt[3]{2\sqrt[3]{4^2+2(4)(4)+4^2}} ~
    \sqrt[3]{((\sqrt{\sqrt[4]{1}}+\sqrt{6-1})^2)^3\cdot \sqrt[3]{2^3\cdot (4+4)^2}}
curves:
  (w)\cdot 7=v ~ 7w=v
sums:
  \sum_{j=1}^{3}|v+j| ~ |v+1|+|v+2|+|v+3| ;; \sum_{j=0}^{m} z^j ~ \frac{1-z^{m+1}}{1-z}
  \sum_{j\ge0}\frac{v^j}{j!} ~ \sum_{j=0}^{\infty}\frac{v^j}{j!}
  \sum_{k=1}^{m} 2b_k ~ 2\sum_{j=1}^{m} b_j ;; \sum_{k=2}^{m} b_{k-1} ~ \sum_{i=1}^{m-1} b_i
  \sum_{k=1}^{3} b_k^2 ~ b_1^2+b_2^2+b_3^2 ;; b_1+\sum_{k=2}^{m} b_k ~ \sum_{k=1}^{m} b_k
  \prod_{j=1}^{70} 2 ~ 2^{70}
bounds in words:
  q \text{ is at least } 7 ~ q\ge 7 ;; q\text{ is no more than }7 ~ (-\infty,7]
  \text{q is less than 7} ~ q<7 ;; \text{all real numbers greater than }7 ~ q>7
  \text{all }q\text{ greater than }7 ~ q>7
  \text{all real }q\text{ such that }q\le 7 ~ (-\infty,7] ;; \text{all } q>7 ~ (7,\infty)
  q_1 \text{ is greater than or equal to } \frac12 ~ q_1\ge 0.5
squares in bounds:
  q^2\le 49 ~ [-7,7] ;; (q-1)^2>4 ~ (-\infty,-1)\cup(3,\infty)
moduli:
  |7i-w|=2 ~ |w-7i|=2 ;; |a-bi| ~ |a+bi|
scientific:
  2.6\text{e-}4 ~ 0.00026 ;; 2.6\mathrm{E}4 ~ 26000
values of a letter:
  3e^{j\pi i/2},\ j=0,1,2 ~ 3,3i,-3
  w=\frac{j\pi}{5}, j=1,2,\ldots,4 ~ \frac{\pi}5,\frac{2\pi}5,\frac{3\pi}5,\frac{4\pi}5
labels:
  \text{minimum value of }-6 ~ -6 ;; \text{maximum }8,\text{ minimum }-6 ~ \min=-6,\ \max=8
  \text{The maximum is }8\text{ and the minimum is }-6 ~ \max=8,\min=-6
  A\cap B=\{4,9\} ~ \{9,4\} ;; \text{the plane }2w-3v=9 ~ 2w-3v=9
  \frac{MN}{PQ}=\frac{2}{9} ~ 2:9 ;; MN:PQ=2:9 ~ 2:9 ;; a) 4 b) 9 ~ \text{(a) }4\text{ (b) }9
  \angle RQP=41^\circ ~ \angle PQR=41^\circ ;; \ell: 3x-4y=9 ~ 3x-4y=9
  \angle B=41^\circ ~ B=41^\circ ;; \min=-6,\ \max=8 ~ \text{Maximum: }8,\text{ Minimum: }-6
classes in words:
  \text{all odd }m ~ m=2k+1,\ k\in\mathbb Z ;; m\text{ is even} ~ \text{even integers}
  6\mid m ~ m\text{ is a multiple of }6 ;; \text{all integers }m>6 ~ m\ge 7
  m\ge 7,\ m\in\mathbb N ~ \text{all }m\ge 7 ;; \{5^j:j=0,1,2,\ldots\} ~ m=5^k\text{ with }k\ge0
  \text{positive even integers} ~ 2m,\ m\in\mathbb{Z}^+ ;; \text{powers of three} ~ m=3^j,\ j\ge 0
angles:
  \frac{\pi}{6}<\alpha<\frac{\pi}{3} ~ 30^\circ<\alpha<60^\circ
  (30^\circ,60^\circ) ~ \frac{\pi}{6}<\alpha<\frac{\pi}{3}
  \text{8:40 in the evening} ~ 8:40\text{ p.m.} ;; \text{8:40 in the morning} ~ 8:40\text{ AM}
times:
  \text{4 hr 35 min} ~ \text{4 hours 35 minutes}
proportions:
  \pi\text{ to }6 ~ \pi:6 ;; w\propto\frac{1}{v^2} ~ w\propto v^{-2}
dots:
  \{1,2,3,\ldots,m\} ~ \{1,\ldots,m\} ;; 1,3,\ldots,2m-1 ~ 1,3,5,\ldots,2m-1
  1+2+\cdots+m ~ \frac{m(m+1)}{2} ;; 1+3+5+\dots+2m-1 ~ m^2
  1+2+\cdots+(m-1)+m ~ \frac{m^2+m}{2} ;; 3+7+\cdots+43 ~ 253
  1+4+9+\cdots+m^2 ~ \sum_{j=1}^{m} j^2 ;; 1^3+2^3+\cdots+m^3 ~ \left(\frac{m(m+1)}{2}\right)^2
  1+3+9+\cdots+3^{m} ~ \frac{3^{m+1}-1}{2} ;; 1+\frac12+\cdots+\frac1m ~ \sum_{j=1}^{m}\frac{1}{j}
  v^m+v^{m-1}+\cdots+v+1 ~ \frac{v^{m+1}-1}{v-1} ;; 1\cdot 3\cdot 5\cdots(2m-1) ~ (2m-1)!!
  m(m-1)\cdots(m-r+1) ~ \frac{m!}{(m-r)!} ;; b_1+b_2+\cdots+b_m ~ \sum_{i=1}^{m} b_i
  (u-b_1)(u-b_2)\cdots(u-b_m) ~ \prod_{k=1}^{m}(u-b_k)
connective:
  r\lor s ~ s\vee r ;; r\lor\neg s ~ \lnot s\lor r ;; (r\lor s)\land t ~ t\land(s\lor r)
  w=4\lor w=7 ~ 4, 7 ;; w=4\text{ and }w=7 ~ w=4\text{ or }w=7 ;; \{4,7\} ~ 4\text{ or }7
vector:
  7\hat{\jmath}-4\vec{k} ~ 7\mathbf{j}-4\mathbf{k} ;; \begin{bmatrix}4\\-7\end{bmatrix} ~ (4,-7)
  \begin{pmatrix}4&-7\end{pmatrix} ~ \langle 4,-7\rangle ;; Q(4,-7) ~ (4,-7)
  4\mathbf{i}-7\mathbf{j} ~ \begin{pmatrix}4\\-7\end{pmatrix}
  2\mathbf{i}-3\mathbf{j} ~ \langle 2,-3\rangle ;; i+2j+3k ~ \langle 1,2,3\rangle
  \hat{\imath}+2\hat{\jmath} ~ \hat{i}+2\hat{j}
  3\,\hat{\textbf{\i}}-4\,\hat{\textbf{\j}} ~ (3,-4)
  \frac13(2,\sqrt5) ~ \left(\frac23,\frac{\sqrt5}{3}\right)
  2\langle 1,3\rangle-\langle 4,0\rangle ~ \langle -2,6\rangle
for all:
  h(u)=3-u,\ \forall u\in\mathbb{R} ~ h(u)=3-u\text{ for all real }u
hedge:
  \frac{2}{7}\text{ (about }0.286) ~ \frac27
word:
  TTH ~ \text{TTH} ;; TTH, HTT ~ HTT, TTH
powers:
  (p-q)^{6000} ~ (q-p)^{6000} ;; \frac{(p^2-q^2)^{900}}{(p-q)^{900}} ~ (p+q)^{900}
number:
  98\ 765\ 432 ~ 98765432 ;; 98 {, }765 ~ 98{,}765 ;; C_9^4 ~ 126 ;; 20~000 ~ 20000 ;; 2¹⁰ ~ 1024
  10⁻³ ~ 0.001 ;; \sfrac{7}{3} ~ \frac{7}{3} ;; \ensuremath{31} ~ 31 ;; \phantom{}202 ~ 202
  \frac{11!}{4!\,4!\,2!} ~ 34650 ;; 2^6 3^5 5^4 ~ 2^6 * 3^5 * 5^4 ;; 5. ~ 5 ;; 1,000. ~ 1000
  1\,234 ~ 1234 ;; 11,\! 111,\! 111,\! 100 ~ 11111111100 ;; 1e5 ~ 100000
  6.02\times10^{23} ~ 6.02e23 ;; 3 \times 10^{ - 4 } ~ 0.0003 ;; 4 4/9 ~ \frac{40}{9}
  -2\frac{1}{2} ~ -2.5 ;; 0.\overline{3} ~ \frac13 ;; ½ ~ 0.5 ;; １２ ~ 12
  -1 + \frac{1}{25} ~ -\frac{24}{25} ;; \binom{5}{2} ~ 10 ;; 5! ~ 120 ;; \sum_{k=1}^{10} k ~ 55
  2.5\text{ million} ~ 2500000 ;; 3 dozen ~ 36 ;; \$5\text{ million} ~ 5000000
  0.333\ldots ~ \frac13 ;; {}_6C_2 ~ 15 ;; C(6,2) ~ \binom62 ;; 1\!\,234 ~ 1234 ;; 5\\ ~ 5
  5。 ~ 5 ;; \phantom{0}5 ~ 5 ;; 5^{\text{th}} ~ 5
base:
  (40)_{9} ~ 40_9 ;; 204_{\text{five}} ~ 204_5 ;; A3_{16} ~ a3_{16} ;; \text{A3}_{16} ~ A3_{16}
  1010\text{ base }2 ~ 1010_2 ;; (3E)_{16} ~ 3E_{16} ;; 3E_{\text{hex}} ~ 3E_{16}
  57_{oct} ~ 57_8 ;; 42 (base 6) ~ 42_6 ;; 42\text{ (in base six)} ~ 42_6
  42_{\text{base 6}} ~ 42_6 ;; {1101}_2 ~ 1101_2 ;; 7C_{\text{16}} ~ 7C_{16}
  \text{215 (base 7)} ~ 215_7
percent:
  50\% ~ \frac12 ;; 28 percent ~ 28\% ;; \frac12\% ~ 0.005 ;; 20\% ~ 20 ;; 35\% ~ \frac{7}{20}
  12.5\% ~ \frac{25}{2} ;; 0\% ~ 0
radicals:
  \frac{1}{\sqrt{2}} ~ \frac{\sqrt{2}}{2} ;; \sqrt{24\sqrt{2}+41} ~ 3+4\sqrt{2}
  \sqrt[3]{2+\sqrt5}+\sqrt[3]{2-\sqrt5} ~ 1 ;; -1 + sqrt(3) ~ \sqrt{3}-1 ;; 2\sqrt3 ~ √12
  ∛8 ~ 2
constants:
  9/2 * π ~ \frac{9\pi}{2} ;; \log_2 8 ~ 3 ;; \cos(\pi/5) ~ \frac{1+\sqrt5}{4} ;; e^{i\pi} ~ -1
complex:
  \frac{5}{1-2i} ~ 1+2i ;; 2i+1 ~ 1+2i ;; \overline{3+4i} ~ 3-4i
algebra:
  x²+2x+1 ~ (x+1)^2 ;; 2x(15x^2-4x+10) ~ 2*x*(15*x**2 - 4*x + 10) ;; \frac{x^2-1}{x-1} ~ x+1
  (x+1)^{200} ~ (x^2+2x+1)^{100} ;; \sqrt{x^2} ~ |x| ;; x^{2/3} ~ \sqrt[3]{x}^2
  \sec^2 y ~ \tan^2 y+1 ;; \ln(ab) ~ \ln a+\ln b ;; \frac{n!}{(n-2)!} ~ n(n-1)
  (-1)^{n+1} ~ -(-1)^n ;; f(x)+1 ~ 1+f(x)
named value:
  x=5 ~ 5 ;; 5=x ~ 5 ;; \angle APC = 74^\circ ~ 74^\circ ;; f(x)=2x+3 ~ 2x+3
  x = \sqrt{2} \approx 1.414 ~ \sqrt2 ;; |T| = 46 ~ 46 ;; \det(B) = -7 ~ -7
  \frac{dv}{ds}=8s ~ 8s ;; \text{lcm}(p,q)=46 ~ 46
list:
  1, -2 ~ -2,1 ;; -2 \text{ and } 1 ~ -2,1 ;; -2\ \&\ 1 ~ -2,1 ;; x=-2 \text{ or } x=1 ~ -2,1
  \{1,-2\} ~ -2,1 ;; [2, 3] ~ 2,3 ;; [3] ~ 3 ;; \pm 2021 ~ -2021, 2021
  1\pm\sqrt5 ~ 1-\sqrt5, 1+\sqrt5 ;; \{1,1,2\} ~ \{2,1\} ;; (1,2),(3,4) ~ (3,4),(1,2)
  r_1 = 4, r_2 = 7 ~ \{4,7\} ;; \mu_1=8, \mu_2=3 ~ \mu=3, \mu=8 ;; {1,-1} ~ \{-1,1\}
  \{1,\ldots,10\} ~ \{1,2,\dots,10\} ;; 1、2 ~ 1,2 ;; 1, 2, \ldots, 5 ~ 1,2,3,4,5
  1, 2, …, 5 ~ 1,2,3,4,5
tuple:
  (1.0, 4.5) ~ \left(1,\frac92\right) ;; x=1, y=2 ~ (1,2) ;; (x,y)=(1,2) ~ (1,2)
  \langle 1, 2\rangle ~ (1,2) ;; (3 1/2, 1) ~ (3.5,1)
equation:
  y=2x+3 ~ 2x-y+3=0 ;; 34x+45y-20z+100=0 ~ -34x-45y+20z-100=0
  \frac{x^2}{4}+\frac{y^2}{9}=1 ~ 9x^2+4y^2=36
inequality:
  x+y<2 ~ 2>y+x
matrix:
  \frac15\begin{pmatrix}1\\-18\end{pmatrix} ~ \begin{bmatrix}0.2\\-3.6\end{bmatrix}
  \left[\begin{array}{cc}1&2\\3&4\end{array}\right] ~ \begin{pmatrix}1&2\\3&4\end{pmatrix}
  \begin{bmatrix}\frac12&0\\1&3\end{bmatrix} ~ P^{-1}=\begin{pmatrix}0.5&0\\1&3\end{pmatrix}
  \begin{bmatrix}1&0\\1&3\end{bmatrix} ~ P^T=\begin{pmatrix}1&0\\1&3\end{pmatrix}
  \begin{Bmatrix}4&7\\1&2\end{Bmatrix} ~ \begin{pmatrix}4&7\\1&2\end{pmatrix}
  [[1,2],[3,4]] ~ \begin{pmatrix}1&2\\3&4\end{pmatrix}
  \begin{pmatrix}1&2\\3&4\end{pmatrix}^{-1} ~ \begin{pmatrix}-2&1\\1.5&-0.5\end{pmatrix}
unit:
  4\text{ cm} ~ 4 ;; 300\text{ cm} ~ 3\text{ m} ;; 864\text{ square inches} ~ 864 \mbox{ inches}^2
  1 \text{ hour } 30 \text{ minutes} ~ 90 \text{ min} ;; 500 cents ~ \$5 ;; 5\text{ N} ~ 5
  5\ \Omega ~ 5\text{ ohms} ;; 9.8\ \mathrm{m/s^2} ~ 9.8\,\mathrm{m\,s^{-2}}
  9.8\text{ meters per second squared} ~ 9.8\ \mathrm{m/s^2}
  3\,\mathrm{m}\,\mathrm{s}^{-1} ~ 3\text{ m/s} ;; 8.3\text{ J/(mol K)} ~ 8.3
  1\ \mathrm{N\cdot m} ~ 1\text{ J} ;; 4\ \mathrm{V/m} ~ 4\ \mathrm{N/C}
  5\ \mu\text{m} ~ 5\times10^{-6}\text{ m} ;; 36\text{ km/h} ~ 10\text{ m/s}
  42 miles/hour ~ 42\text{ mph}
  \frac12\text{ cup} ~ \frac12 ;; 7 pens ~ 7 ;; 7\text{ red marbles} ~ 7 ;; 3cm ~ 3\text{ cm}
  500 USD ~ 500 ;; USD 500 ~ 500 ;; 25^\circ\text{C} ~ 25\text{ degrees Celsius}
  1\text{ hour and }20\text{ minutes} ~ 80\text{ minutes} ;; 46 \quad (\text{units}) ~ 46
  \frac{2}{7}\text{ of the pizza} ~ \frac27 ;; 250~\text{bacteria per hour} ~ 250 ;; 8\,\Omega ~ 8
  25 sq ft ~ 25 ;; 12\text{ units}^2 ~ 12 ;; (3,4)\text{ cm} ~ (3,4)
  5\ \text{k}\Omega ~ 5000\text{ ohms} ;; 25^{\circ C} ~ 25^\circ\text{C}
  16\pi-24\text{ cm}^2 ~ 16\pi-24 ;; 4\sqrt{3}+2\text{ m} ~ (4\sqrt3+2)\text{ m}
  30~\frac{\text{km}}{\text{h}} ~ 30\text{ km/h}
  15\,\frac{\mathrm{m}}{\mathrm{s}^2} ~ 15\text{ m/s}^2
  5\frac{\text{kg}}{\text{m}\cdot\text{s}} ~ 5\text{ kg/(m s)} ;; \text{nine books} ~ 9
  \text{ninety square feet} ~ 90\text{ ft}^2 ;; 23\text{ (students)} ~ 23
  8 \text{ (cm)} ~ 8\text{ cm} ;; 85¢ ~ \$0.85 ;; €62 ~ 62\text{ euros}
  6 \text{ red hens and } 5 \text{ ducks} ~ 6, 5 ;; 2\text{ h and }15\text{ min} ~ 135\text{ min}
  31\ (\text{cm}^2) ~ 31\text{ cm}^2
angle:
  180^\circ-x ~ 180-x ;; 90^\circ ~ \frac{\pi}{2} ;; 90^\circ ~ 90 ;; 60^\circ30' ~ 60.5^\circ
  60^\circ 30^\prime ~ 60.5^\circ ;; \frac{\pi}{9}\text{ radians} ~ 20^\circ
time:
  4:30 pm ~ \text{4:30 p.m.} ;; \text{7:35 in the evening} ~ 19:35 ;; 10{:}45 ~ 10:45
  16:30 ~ 4:30 pm ;; 10{:}45\text{ p.m.} ~ 22:45
text:
  \text{No, they don't.} ~ \text{No} ;; \text{Yes, it does} ~ \text{yes}
  \textbf{evelyn} ~ \text{Evelyn} ;; B ~ \text{(B)} ;; \text{Yes} ~ Yes ;; YES ~ \mathrm{yes}
  \text{Red} ~ Red ;; \text{No solution} ~ no solution ;; \emptyset ~ \text{No solution}
  \mathbb R ~ All real numbers ;; \text{all integers} ~ \mathbb{Z}
  \mathbb{Z}^+ ~ \text{all positive integers}
  \text{all real numbers except }4 ~ \mathbb{R}\setminus\{4\}
  \text{Anna, Ben} ~ \text{Ben and Anna} ;; \text{a parabola} ~ \text{parabola}
  \text{June }4 ~ \text{June 4} ;; \text{(B) } 7 ~ 7 ;; \textbf{\textsf{(B)}}\ 7 ~ 7
  \text{all real numbers except }x=4 ~ \mathbb{R}\setminus\{4\}
ratio:
  6:2 ~ 3:1 ;; 3:1 ~ 3 ;; 5\text{ out of }36 ~ 5:36 ;; 5 in 36 ~ \frac{5}{36} ;; 3{:}2 ~ 3:2
residue:
  10 \pmod 7 ~ 3 \pmod{7} ;; 3 \pmod{7} ~ 3
whole numbers:
  \cos(n\pi) ~ (-1)^n ;; \sum_{k=1}^{n}k ~ \frac{n(n+1)}{2}
letters:
  dcba ~ abcd ;; \frac{wxyz}{3} ~ \frac13 zyxw ;; mg-T ~ -T+gm ;; 3 m g ~ 3gm ;; 2\pi hr ~ 2\pi rh
  2sinx ~ 2\sin x ;; n3^{n-2} ~ n\cdot 3^{n-2} ;; 2^{k}5^{m} ~ 5^m\cdot 2^k
  theta^2+1 ~ \theta^2+1 ;; e^{in\theta} ~ e^{i\theta n} ;; \sqrt[n]{b} ~ b^{1/n}
  v\omega' ~ \omega^{\prime}v ;; m\ddot{x} ~ \ddot{x}m ;; u^3+c ~ u^3+C
  \vec{v}' ~ \vec{v}^{\prime} ;; v^{\prime\prime} ~ v''
letter before brackets:
  \frac{h(a+b)}{2} ~ \frac12(a+b)h ;; P(1+r)^n ~ P(r+1)^n ;; mg(h+R) ~ mgh+mgR
  f(x+1)+f(2) ~ f(2)+f(1+x)
signs:
  3 + -13x ~ 3-13x ;; x--y ~ x+y ;; \log_23 ~ \log_2 3
name:
  AB=5 ~ 5 ;; [ABC]=5 ~ 5 ;; \overline{AB}=5 ~ 5 ;; |AB|=5 ~ 5 ;; \text{Area}=5 ~ 5
  Area = 5 ~ 5 ;; Answer: 5 ~ 5 ;; u(x,t)=e^{-t}\sin x ~ e^{-t}\sin x ;; P(X=1)=\frac12 ~ \frac12
  \Delta p\approx-\frac{h}{c} ~ -\frac hc ;; f(x)=2x ~ f(t)=2t ;; AB=4, CD=5 ~ 4, 5
  p=5,q=2;p=7,q=2 ~ (5,2),(7,2) ;; V_1:V_2=11:21 ~ 11:21 ;; f\left(x\right)+1 ~ 1+f(x)
  f^{-1}(x)=\frac{x-1}{2} ~ \frac{x-1}{2} ;; m\angle A=30^\circ ~ 30^\circ ;; \text{Var}(X)=3 ~ 3
chain:
  2+3=5 ~ 5 ;; S=\pi r^2=25\pi ~ 25\pi ;; x=5+5+1=11 ~ 11 ;; x+y=5+6=11 ~ 11 ;; p<q<r ~ r>q>p
equal forms:
  0.75\text{ or }\frac34 ~ 0.75 ;; 90^\circ\text{ or }\frac{\pi}{2} ~ 90^\circ
system:
  \begin{cases}x=1\\y=2\end{cases} ~ (1,2)
  \begin{cases}x+y=3\\x-y=1\end{cases} ~ \begin{cases}y-x=-1\\2x+2y=6\end{cases}
  \begin{aligned}x&=1\\y&=2\end{aligned} ~ x=1, y=2
  \left\{\begin{array}{l}x=1\\y=2\end{array}\right. ~ (1,2) ;; \begin{array}{c}7\end{array} ~ 7
sentence:
  \text{The vertex is }(4,-7) ~ (4,-7) ;; \text{There are }9\text{ ways} ~ 9
  The slope is $-\frac{2}{5}$ ~ -0.4 ;; \text{diverges to } -\infty ~ -\infty
  \text{Tom has }46\text{ coins} ~ 46 ;; \text{Hence, } s = 46 ~ 46 ;; \text{exactly }46 ~ 46
  \text{all real numbers less than or equal to }7 ~ (-\infty,7]
  The roots are $7$ and $-2$ ~ -2, 7 ;; The solutions are \frac12 and 7 ~ \frac12, 7
remark:
  n = 9 \text{ (since } n > 0) ~ 9
  \frac{415}{7}\;\text{(about }59.3\text{ boxes)} ~ \frac{415}{7}
  5\sqrt2 \ (\approx 7.07) ~ 5\sqrt2 ;; 5\sqrt2 \text{ or approximately } 7.07 ~ 5\sqrt2
date:
  \text{June 5th} ~ \text{June 5} ;; \text{Friday, 14 June 2019} ~ \text{June 14, 2019}
  \text{October 9th, 2031} ~ \text{October 9, 2031}
rounded:
  \approx 7.42 ~ 7.42 ;; v \approx 7.42 \text{ m/s} ~ 7.42
decoration:
  \therefore 46 ~ 46 ;; =46 ~ 46 ;; 46 \;\checkmark ~ 46 ;; 46\text{ ✓} ~ 46 ;; "46" ~ 46
every integer:
  \frac{\pi}{7}+m\pi, m\in\mathbb{Z} ~ \frac{\pi}{7}+k\pi, k\in\mathbb{Z}
  n\pi, n\in\mathbb{Z} ~ n\pi ;; \frac{\pi}{7}+m\pi, m\in\mathbb{Z} ~ \frac{\pi}{7}+k\pi
number words:
  five thirteenths ~ \frac{5}{13} ;; \text{negative }46 ~ -46 ;; forty-six ~ 46
  \text{two thousand one hundred and five} ~ 2105 ;; \text{minus three fifths} ~ -0.6
  \text{ninety minutes} ~ 1.5\text{ hours} ;; \text{five twentieths} ~ 0.25
no answer:
  \text{There are no real roots} ~ \varnothing
  \text{There are no integer solutions} ~ \text{no solution}
  \text{no such integer exists} ~ \emptyset ;; \text{The limit does not exist.} ~ \text{DNE}
  \text{infinitely many solutions} ~ \infty
ordinal:
  21^{st} ~ 21 ;; 9^{\text{th}}\text{ row} ~ 9 ;; 8th hour ~ 8
point:
  \text{the origin} ~ (0,0,0) ;; \text{the origin }(0,0) ~ (0,0) ;; P(1,2) ~ (1,2)
  (\pm 3,\pm 1) ~ (3,1),(-3,-1)
  (\pm 3,\mp 1) ~ (3,-1),(-3,1)
curve:
  r=5\sec\theta ~ r\cos\theta=5 ;; y=\frac6x ~ xy=6
labels, chains, sets:
  \text{Longest: } 9, \text{ shortest: } 4 ~ 4, 9 ;; Longest: 9, shortest: 4 ~ 4, 9
  \text{Ravi} = 12, \text{Sue} = 7, \text{Tom} = 3 ~ 3, 7, 12 ;; v=11, h=2, k=2 ~ 11,2,2
  T(6)=2, T(7)=9 ~ 2, 9 ;; u=v=0 ~ u=0, v=0 ;; u=v=0 ~ (0,0) ;; r>q, q>p ~ p<q<r
  q>p \text{ and } r\ge q ~ p<q\le r ;; x = 4 \text{ or } 5 < x < 7 ~ \{4\}\cup(5,7)
  \{x \mid x<4\} - \{-2\} ~ (-\infty,-2)\cup(-2,4) ;; \mathbf{R} ~ \mathbb{R}
  x \in \mathbf{R} ~ \mathbb{R} ;; \text{all nonnegative integers} ~ \mathbb{Z}_{\ge 0}
  \text{the set of natural numbers} ~ \mathbb{N}
  \text{all nonzero real numbers} ~ \mathbb{R}\setminus\{0\}
  \text{all rational numbers} ~ \mathbb{Q} ;; \#T = 23 ~ 23 ;; m+n=61 ~ 61 ;; a+b+c=61 ~ 61
  T(6)=2, T(7)=9 ~ T(7)=9, T(6)=2 ;; \text{non-negative real numbers} ~ [0,\infty)
  a=b=c=2 ~ (2,2,2)
  \text{those congruent to 2 or 3 modulo 5} ~
    n=5k+2 \text{ or } n=5k+3 \text{ where } k\in\mathbb{N}_0
notations:
  (1\,4\,2)(3\,5) ~ (5 3)(2 1 4) ;; (142)(35) ~ (1 4 2)(3 5) ;; \text{H}_3\text{PO}_4 ~ H_3PO_4
  \mathrm{Na_2SO_4} ~ Na2SO4 ;; \ce{C6H12O6} ~ \text{C}_6\text{H}_{12}\text{O}_6
  \text{SO}_4^{2-} ~ SO4^2- ;; 1s^2 2s^2 2p^6 3s^2 ~ [\text{Ne}]\,3s^2
  1s^{2}2s^{2}2p^{6}3s^{2} ~ 1s2 2s2 2p6 3s2 ;; [Ar] 4s^2 3d^{10} ~ [\mathrm{Ar}]3d^{10}4s^2
  t \mapsto 3t-2 ~ f(x)=3x-2 ;; g: x \mapsto x^2+5 ~ g(x)=x^2+5
  x \mapsto x^2+5 ~ t\mapsto 5+t^2 ;; g:\mathbb{R}\to\mathbb{R}, x\mapsto x^2+5 ~ g(x)=x^2+5
  (x,y)\mapsto(y,x) ~ f(u,v)=(v,u) ;; x^2+3 \in \mathbb{F}_2[x] ~ (x+1)^2 \in \mathbb{F}_2[x]
  x^3-1 \pmod 5 ~ x^3+4 \pmod 5 ;; t^2+t+1 \text{ over } \mathbb{F}_2 ~ t^2-t-1 \pmod 2
conditions:
  u=z^2\ (z>0) ~ u=z^2,\ z>0 ;; u=z^2\text{ for }z>0 ~ u=z^2,\ z>0
""")

ONE_WAY = rows(r"""
base:
  4343 ~ 4343_6 ;; 42 ~ 42 (base 6)
ranges of terms:
  2\le|z|\le5 ~ [2,5]
bases of one side:
  42_{10} ~ 52_8 ;; h=30v+19 ~ h\equiv 19\pmod{30}
  52 ~ 52_8 ;; 1101 ~ 1101_2
sentences:
  \text{The party falls on a Friday} ~ \text{Friday} ;; \text{It was a Friday} ~ \text{Friday}
  \text{Orla won the race} ~ \text{Orla} ;; \text{Orla has the most coins} ~ \text{Orla}
  \text{The curve is a parabola} ~ \text{parabola} ;; \text{Yes, such a set exists} ~ \text{Yes}
  \text{No, such a set does not exist} ~ \text{No} ;; \text{It is false} ~ \text{False}
  \text{It is an irrational number} ~ \text{irrational} ;; \text{Option D} ~ \text{(D) }9
ratio:
  8:50 ~ 4:25 ;; 4:30 ~ 2:15
percent:
  500\% ~ 5
decimal:
  1000,99 ~ 1000.99 ;; 2,5 ~ 2.5 ;; \pi ~ 3.14 ;; \sqrt{2} ~ 1.414
locale:
  1.250.000 ~ 1250000 ;; 1.250,75 ~ 1250.75 ;; 1'250'000 ~ 1250000 ;; 12,50,000 ~ 1250000
angle:
  \frac{\pi}{9} ~ \frac{\pi}{9}^\circ
option:
  \text{The answer is C} ~ C ;; \text{(C) no solution or one} ~ C
  \text{C. the median} ~ \text{(C)}
list:
  [4,7,9] ~ \{9,4,7\}
sentence:
  \text{The function is even} ~ \text{even}
curve:
  -x^2+6x-7 ~ y-2=-(x-3)^2 ;; 2x-5 ~ 4x-2y=10 ;; 2\csc\theta ~ \rho\sin\theta=2
labels, chains, sets:
  p, q, r ~ p<q<r
""")
"""What only the reference makes certain: percent, rounding, separators, the letter of an option."""

UNEQUAL = rows(r"""
labels and steps:
  \text{center }(-5,1),\text{ radius }4 ~ \text{Center: }(5,-1),\text{ Radius: }4
  \text{rising on }(1,2),\text{ falling on }(3,4) ~ (1,2), (3,4) ;; v=2\Rightarrow w=3 ~ v=2
  \frac37=0.5\ldots ~ \frac37 ;; 3.5\text{ g of rice} ~ 3.5\text{ kg}
mixed:
  \$8\frac14 ~ \$8.75 ;; 2\text{ R }17 ~ 17\text{ R }2 ;; 17 ~ 17\text{ R }2 ;; ①② ~ ①③
  7\text{ (eight)} ~ 7 ;; \text{after }1969 ~ 1969 ;; \text{12:30 a.m.} ~ 12:30
curves of constants:
  x^2+y^2=C ~ x^2-y^2=C ;; x^2-y^2=1 ~ x^2-y^2=C ;; x-y=C ~ x^2-y^2=C
chains of names:
  h(v)=4 ~ v=4 ;; 3:5 ~ 3:05 ;; u=v=2 ~ u=v=w=2 ;; u=v=2 ~ u=2
  m=3^k,\ k\ge2 ~ m=3^k,\ k\in\mathbb{N} ;; C_m^2 ~ \binom m2
groups:
  \mathbb{Z}_2\times\mathbb{Z}_2 ~ \mathbb{Z}_4 ;; \mathbb{Z}_2 ~ \mathbb{Z}
terms in bounds:
  \frac ab\in[1,3] ~ 1\le\frac ab<3 ;; \frac ba\in[1,3) ~ 1\le\frac ab<3
lines and pairs:
  5y=\pm4x ~ y=\pm\frac54x ;; 4y=5x ~ y=\pm\frac54x ;; (3+14m,-2-10m) ~ (x,y)=(3+7t,-2-5t)
  (3+7m,-2+5m) ~ (x,y)=(3+7t,-2-5t)
lists:
  1,,2 ~ 1,2
intervals in families:
  [2k\pi,(2k+1)\pi],\ k\in\mathbb{Z} ~ (2k\pi,(2k+1)\pi),\ k\in\mathbb{Z}
  7<x<9\text{ or }1<x<4 ~ \{x: 1<x\le4\text{ or }7<x<9\}
  2n\pi<x\le2n\pi+\pi,\ n\in\mathbb{Z} ~ x\in(2k\pi,(2k+1)\pi),\ k\in\mathbb{Z}
options:
  B) 5 ~ \text{(A) }5 ;; P(A)=1/3,P(B)=1/2 ~ P(A)=1/2,P(B)=1/3 ;; (B) ~ \textbf{(C)}\ 27
  (B) 27 ~ \textbf{(C)}\ 27 ;; C or B ~ \textbf{(C)}\ 27 ;; C ~ (c)27
terms by name:
  y'(0) ~ y(0) ;; f'(0)=2 ~ f(0)=2 ;; g''(0)=1 ~ g'(0)=1
  \text{Var}(X)=3 ~ E(X)=3 ;; S_{10}=55 ~ a_{10}=55 ;; P(X>2)=\frac13 ~ P(X<2)=\frac13
  p(3)=41 ~ p(-3)=41 ;; \varphi(83)=24 ~ \varphi(84)=24 ;; \det(3A)=-40 ~ \det(2A)=-40
  \dim\ker S=1 ~ \dim S=1 ;; |P\setminus Q|=9 ~ |Q\setminus P|=9 ;; \sup S=2 ~ \max T=2
  h(6)=5 ~ 6 ;; p(p+1)=6 ~ 6 ;; \vec p\times\vec q=(1,0,-2) ~ (1,0,2) ;; [H:K]=4 ~ [H:L]=4
  E[Z]^2=5 ~ E[Z^2]=5 ;; h''(0)=6 ~ h^{(3)}(0)=6 ;; u^2=3 ~ u^*=3
  \dim V\ge3 ~ 3 ;; 2\dim V=6 ~ 6 ;; \Pr(A)=\frac13 ~ \Pr(B)=\frac13
  0 ~ \det(A-xI)=0 ;; e=1/2 ~ x=1/2 ;; -3p=41 ~ 41 ;; x(-4)=8 ~ x=-2
  P(B)=1/3 ~ P(A)=1/3 ;; P(A\cap B)=1/3 ~ P(A\cup B)=1/3 ;; E(Y)=5 ~ E(X)=5 ;; |B|=5 ~ |A|=5
  \det B=-7 ~ \det A=-7 ;; \gcd(a,c)=4 ~ \gcd(a,b)=4 ;; [ABD]=12 ~ [ABC]=12
  \text{Area}(ABD)=12 ~ \text{Area}(ABC)=12 ;; \sin B=\frac35 ~ \sin A=\frac35
  \cos A=\frac35 ~ \sin A=\frac35 ;; AC=7 ~ AB=7 ;; \frac{S_2}{S_1}=3 ~ \frac{S_1}{S_2}=3
  V_1-V_2=9 ~ V_1+V_2=9 ;; \vec a\times\vec b=6 ~ \vec a\cdot\vec b=6
  \angle B=30^\circ ~ \angle A=30^\circ ;; x_1x_2=4 ~ x_1+x_2=4 ;; x+2x=2x ~ 3x ;; z=3x ~ y=3x
  xy=6 ~ 6 ;; x+y=61 ~ 61 ;; |t|=46 ~ 46 ;; 2x+3=5 ~ 5 ;; x^2=9 ~ 9 ;; 2,5 ~ 2,\quadx=5
points and tuples by name:
  S_{ABD}=12 ~ [ABC]=12 ;; |AC|=7 ~ AB=7 ;; (x,v)=(7,8) ~ x=8,v=7 ;; (5,2) ~ (p,q)=(2,5)
reports:
  P(A\cup B)=\frac14 ~ P(A\cap B)=\frac14 ;; |B|=4 ~ |A|=4 ;; 4\over1+1 ~ 5
  \lim_{n\to3}a_n ~ a_n ;; 4^{500001} ~ 2^{1000000} ;; forty-one (42) ~ 42
  42 ~ the largest such plan is unknown
limits and integrals:
  \lim_{x\to-\infty}f(x)=2 ~ \lim_{x\to\infty}f(x)=2 ;; \lim_{n\to 3}a_n ~ a_n
  \int_0^T v_t\,dt ~ Tv_t ;; \frac{d}{dt}t^3=2t ~ 2t ;; \lim_{t\to0}g(t) ~ \lim_{h\to1}g(h)
  \lim_{n\to\infty}a_n ~ \lim_{k\to\infty}b_k
ranges of terms:
  2x>2 ~ (2,\infty) ;; p+q\ge2 ~ (2,\infty) ;; p+q<2 ~ (2,\infty) ;; g(t)\in[0,3) ~ [0,3]
  h(x)>1 ~ g(x)>1 ;; |x|<1 ~ (0,1) ;; x^2>2 ~ (2,\infty) ;; \sin B\in(0,1) ~ \sin A\in(0,1)
bases of one side:
  42 ~ 52_8 ;; 58 ~ 3A_{16}
functions:
  g(4)=11 ~ g(3)=11 ;; g(u)=11 ~ g(3)=11 ;; g(\sqrt2+10^{-25}) ~ g(\sqrt2)
  g(v)=0\text{ and }g(v)=3v ~ g(z)=2z,\ g(z)=0 ;; \max\{4,9\} ~ 4 ;; \binom{9}{2,3,4} ~ \binom92
  \binom{9}{2,3,3} ~ 5040 ;; \zeta(3) ~ \frac{\pi^3}{30} ;; \Gamma(k+1) ~ (k+1)!
  \Gamma(5) ~ 120 ;; q(p(x)) ~ p\circ q ;; q(p(x)) ~ p(q(x)) ;; v\circ u ~ u\circ v
  (q \circ p)(t)=4t^2-t ~ (p \circ q)(t)=4t^2-t
number:
  1, 048, 576 ~ 1{,}048{,}576 ;; 12345678901234568 ~ 12345678901234567
  \frac{1}{2^{98}} ~ \frac{1}{2^{99}} ;; 2024^{4046}+1 ~ 2024^{4046}
  1000000000!+1 ~ 1000000000! ;; 32, 349 ~ 32349 ;; \frac{1}{2}3 ~ \frac{1}{23}
  11 7/6 ~ \frac{73}{6} ;; 70 2 ~ 70\sqrt{2} ;; (b)0 ~ 0 ;; \frac{42}{0} ~ 42 ;; \frac00 ~ 0
linear at three points:
  w(w-1)(w-2)+w>1 ~ w>1
structure:
  \vec{g}\cdot\vec{f} ~ \mathbf{g}\times\mathbf{f} ;; \vec{GH} ~ GH
  \mathbf{G}\mathbf{M}\mathbf{G}^{-1} ~ G^{-1}MG ;; GH-HG ~ HG-GH ;; K^{-1}LK ~ L ;; K^TL ~ LK^T
  K^{-1}L ~ LK^{-1} ;; \vec f\times\vec g ~ \vec g\times\vec f
  \mathbf{f}\times\mathbf{g} ~ \mathbf{f}\cdot\mathbf{g}
  \vec f\times\vec g=0 ~ \vec f\cdot\vec g=0
  \vec f\times\vec g=\vec 0 ~ \vec h\times\vec k=\vec 0 ;; f\times g ~ g\times f
  \frac{du}{dv} ~ \frac{u}{v} ;; \frac{d^2u}{dv^2} ~ \frac{u}{v^2} ;; u\,dv ~ v\,du
  K^{T}K ~ KK^{T} ;; K^{\top}L ~ LK^{\top}
matrices:
  \operatorname{diag}(5,-2) ~ \operatorname{diag}(-2,5)
  [5,-2,1]^T ~ \begin{pmatrix}5&-2&1\end{pmatrix}
units:
  y>7\text{ cm} ~ y>7\text{ kg} ;; 2\text{ cm}\le y\le 6\text{ cm} ~ 2\text{ m}\le y\le 6\text{ m}
  35\%\text{ increase} ~ 35\%\text{ decrease} ;; 30\text{ cubic units} ~ 30\text{ square units}
  30\text{ units} ~ 30\text{ square units} ;; 30\text{ units}^2 ~ 30\text{ ft}^3
  11\cdot\frac13\% ~ 11\frac13\% ;; 6\text{ trillion} ~ 6
money:
  64\text{ pence} ~ £6.40
names:
  d_k=5^k+1 ~ g_m=5^m+1 ;; d_{k+1}=5^k+1 ~ d_k=5^k+1 ;; v=w=4,\ z=1 ~ (4,1,1)
  \int_0^2 3z^2\,dz=8 ~ 9 ;; \text{(a) }12\quad\text{(b) }5 ~ (a) 5, (b) 12
  \left(-6,\frac13\right) ~ w=-6,\ w=\frac13 ;; (u,v)\in\{(2,5),(1,7)\} ~ (5,2), (7,1)
  c_n=5^n+2,\ n\ge 3 ~ c_n=5^n+2 ;; g(u)=5u+2,\ u\ge 1 ~ g(u)=5u+2
  M^{-1}=\begin{pmatrix}4&1\\0&2\end{pmatrix} ~ M=\begin{pmatrix}4&1\\0&2\end{pmatrix}
counting:
  {}_7P_3 ~ 35
calculus:
  \ddot{z}=-9z ~ z'=-9z ;; \frac{dz}{du}=3u ~ z''=3u ;; z=3u ~ \frac{dg}{du}=3u
  g(u)=3u ~ \frac{dg}{du}=3u ;; g'(u)=3u ~ z''=3u ;; z=3u ~ g'(u)=3u ;; \int_1^4 3t^2\,dt ~ 64
  \sum_{n=1}^{\infty} 3^{-n} ~ 1 ;; g_u=3z+u ~ \frac{\partial g}{\partial z}=u+3z
  g_z=3z+u ~ \frac{\partial^2 g}{\partial z^2}=u+3z ;; (6u,1) ~ \nabla g=(6u,-1)
numbers:
  0.\dot{2}3\dot{4} ~ 0.234
families:
  \operatorname{span}\{(3,1,2)\} ~ (3,1,2) ;; z=a\cos 5w+a\sin 5w ~ z=C_1\cos 5w+C_2\sin 5w
geometry:
  \triangle GHK\cong\triangle LMN ~ \triangle GHK\cong\triangle LNM
logic:
  q\Rightarrow r ~ r\Rightarrow q ;; \lnot f\land\lnot g ~ \lnot(f\land g) ;; g\to f ~ g\lor\neg f
  f\lor(g\land h) ~ f\land(g\lor h) ;; N\setminus M ~ M\cap N^c ;; M+N ~ M\cup N ;; 7 ~ M\cup N
  M\cap L ~ M\cap N
curves:
  y=25y+ty ~ y=10y+ty
domain:
  \ln\sqrt{w^2-(1-w)^4} ~ \frac12\ln(w^2-(1-w^2)^2) ;; \sqrt{w}^2 ~ |w| ;; 3-x ~ |x-3|
  x ~ \arctan(\tan x) ;; y ~ \min(x,y) ;; \lfloor x\rfloor+1 ~ \lceil x\rceil
  I(0)e^{t/RC} ~ I(0)e^{-t/RC}
sums:
  \binom{n}{k} ~ \binom{k}{n} ;; \sum_{j=1}^{4}\cos(2\pi jv) ~ 4
  \sum_{k=1}^{m} b_k^2 ~ \left(\sum_{k=1}^{m} b_k\right)^2
  \sum_{k=1}^{m} |b_k| ~ \sum_{k=1}^{m} b_k ;; \sum_{k=1}^{3} b_k ~ 3b_k
  \sum_{i=1}^{m} b_{ij} ~ mb_{ij}
  \sum_{i=1}^{m}\sum_{j=1}^{m} b_i c_j ~ m\sum_{i=1}^{m} b_i c_i ;; \sum_{j=1}^{4}|v-j| ~ 4v-10
  v+\prod_{j=3}^{45}(v-j) ~ v ;; m!+\prod_{j=1}^{60}(m-j) ~ m!
  \lceil v\rceil+\sum_{j=1}^{6}0 ~ v ;; \sum_{j=1}^{m}(2j-1)+\prod_{j=1}^{55}(m-j) ~ m^2
  \sum_{j=1}^{m}|u| ~ mu
dots:
  1+2+\cdots+m ~ \frac{m(m-1)}{2} ;; 1+2+\cdots+m+1 ~ \frac{m(m+1)}{2}
  1+4+9+\cdots+m^2 ~ \sum_{j=1}^{m} j^3 ;; 1+3+9+\cdots+3^{m} ~ \frac{3^{m}-1}{2}
  m(m-1)\cdots(m-r+1) ~ \frac{m!}{(m-r+1)!} ;; b_1+b_2+\cdots+b_m ~ \sum_{i=1}^{m-1} b_i
  b_1+b_2+\cdots+b_m ~ m b_m ;; (u-b_1)(u-b_2)\cdots(u-b_m) ~ \prod_{k=1}^{m}(u-c_k)
  1^2+2^2+\cdots+m^2 ~ \sum_{j=0}^{(m^2-1)/3} (1+3j) ;; 1,2,\ldots,5 ~ 15
  \{1,2,\ldots,m\} ~ \{0,1,\ldots,m-1\} ;; \{1,2,\ldots,m\} ~ \{1,3,\ldots,m\}
  \{1,2,\ldots,m\} ~ m
bounds in words:
  q \text{ is at least } 7 ~ q>7 ;; q\text{ is no more than }7 ~ q<7
  \text{ten less than }17 ~ 7 ;; \text{all integers } q>7 ~ q>7 ;; \text{all }q ~ q>7
  q \text{ is at least } 7 ~ 7
squares in bounds:
  q^2<49 ~ [-7,7] ;; q^2<49 ~ q<7 ;; q^2<-49 ~ (-7,7)
moduli:
  |w+7i|=2 ~ |w-7i|=2
scientific:
  2.6\text{e-}4 ~ 26000
values of a letter:
  3e^{j\pi i/2},\ j=0,1,2 ~ 3,3i,-3i ;; 3e^{j\pi i/2},\ j=0,1,2 ~ 3,3i,-3,-3i
words:
  \text{the day after Friday} ~ \text{Friday} ;; \text{Friday or Sunday} ~ \text{Friday}
  \text{Orla came second} ~ \text{Orla}
  \text{Mia beat Orla} ~ \text{Orla} ;; \text{Orla and Mia won} ~ \text{Orla}
  \text{Orla lost} ~ \text{Orla} ;; \text{Orla wins iff }m\text{ is odd} ~ \text{Orla}
  \text{Orla's brother won} ~ \text{Orla} ;; \text{Orla wins for even }m ~ \text{Orla}
  \text{isosceles right triangle} ~ \text{isosceles} ;; \text{not acute} ~ \text{acute}
  \text{half of a parabola} ~ \text{parabola} ;; \text{relatively prime} ~ \text{prime}
  \text{converges absolutely} ~ \text{conditionally convergent} ;; A, B ~ AC ;; AB ~ BA
  \text{9 is not possible} ~ 9 ;; \text{9 or 10 coins} ~ 9 ;; \text{after 1969} ~ 1969
  (2,3,7)\text{ and permutations} ~ (2,3,5)\text{ and permutations}
  (2,3,5) ~ (2,3,5)\text{ and permutations} ;; q\to\neg r ~ q\to\neg f ;; (1\,3\,5) ~ (1\,5\,3)
  \text{on a Friday} ~ \text{Saturday} ;; \text{Orla never wins} ~ \text{Orla}
  \text{Orla wins if }m=4 ~ \text{Orla wins exactly when }m=4
  \text{not impossible} ~ \text{impossible}
  \text{the series does not converge} ~ \text{converges}
  \text{the series converges conditionally} ~ \text{diverges} ;; \text{infinity} ~ -\infty
  \text{concave down on }(2,\infty) ~ \text{concave up on }(2,\infty)
  \text{concave up on }(2,\infty) ~ \text{concave up on }[2,\infty)
  \text{No, it is.} ~ \text{No} ;; \text{Yes, it is not.} ~ \text{Yes}
  \text{no integer solutions} ~ \text{no real solutions}
  \text{no positive integer solutions} ~ \text{no integer solutions}
  \text{three fifths of nine} ~ \frac35
labels:
  \text{maximum }-6,\text{ minimum }8 ~ \min=-6,\ \max=8 ;; A\cup B=\{4,9\} ~ A\cap B=\{4,9\}
  MN:PQ=2:9 ~ 9:2 ;; 9, 4 ~ \text{(a) }4\text{ (b) }9 ;; \angle RPQ=41^\circ ~ \angle PQR=41^\circ
  9, 4, 2 ~ \text{The sequence is }2, 4, 9 ;; \ell: 3x-4y=9 ~ 3x-4y=8
  \angle A=41^\circ ~ \angle B=41^\circ ;; \min=-6,\ \max=8 ~ \min=8,\ \max=-6
classes in words:
  \text{all odd }m ~ \text{even integers} ;; \text{positive odd integers} ~ 2k+1,\ k\in\mathbb{Z}
  \text{powers of three} ~ m=3^j,\ j\ge 1 ;; \text{all integers }m\ge 6 ~ m\ge 7
  m\mid 6 ~ m\text{ is a multiple of }6 ;; w>6,\ w\in\mathbb Z ~ w\ge 7
angles:
  \frac{\pi}{6}<\alpha<\frac{\pi}{2} ~ 30^\circ<\alpha<60^\circ
  \text{8:40 in the morning} ~ 8:40\text{ p.m.}
remarks:
  w=4\text{ (rejected)} ~ w=4
proportions:
  w\propto\frac{1}{v^2} ~ w\propto\frac{1}{v} ;; w\propto v ~ w=v
connective:
  r\lor s ~ r\land s ;; r\lor\lnot s ~ r\lor s ;; \lnot(r\lor s) ~ \lnot r\lor s
  r\land s ~ r, s ;; u<3\text{ or }v<4 ~ u<3\text{ and }v<4 ;; u<3\text{ or }v<4 ~ u<3, v<4
  u=3\text{ or }v=4 ~ u=3\text{ and }v=4 ;; (3,4) ~ u=3\text{ or }v=4 ;; (6,-1) ~ 6\text{ or }-1
  [6,9] ~ 6\text{ or }9 ;; (r\lor s)\land t ~ r\lor(s\land t)
  \text{cats or dogs} ~ \text{cats and dogs}
vector:
  7\hat{\jmath}-4\vec{k} ~ 7\mathbf{k}-4\mathbf{j} ;; \begin{bmatrix}-7\\4\end{bmatrix} ~ (4,-7)
  \frac13(2,\sqrt5) ~ \left(\frac23,\sqrt5\right) ;; 2(1,3) ~ 26 ;; 2(1,3)+(4,0,1) ~ (6,6,1)
for all:
  h(u)=3+u,\ \forall u\in\mathbb{R} ~ h(u)=3-u\text{ for all real }u
field:
  (((x^{199})^{199})^{199}+1)^{30}\pmod{3} ~ x^2+1\pmod{3}
  y+7\pmod{10^{40}} ~ y+8\pmod{10^{40}}
interval:
  u\ne 3,-8 ~ \mathbb{R}\setminus\{3\} ;; u\ne 3,-8 ~ u=3,-8 ;; (3,3) ~ \text{no solution}
  \emptyset ~ (b,b) ;; (1,2] ~ (1,2) ;; (1,2)\cup(2,3) ~ (1,3) ;; x>2 ~ x \ge 2 ;; -x>-2 ~ x>2
  1,0 ~ [0,1) ;; 0,1 ~ [0,1) ;; 0,1 ~ (0,1]
spelling:
  b ~ b(by + c) ;; \text{The area is not 64} ~ 64 ;; 5\text{ to }9 ~ 5 ;; ₹640 ~ \$640
  \prod_{i=1}^{5} i ~ i^5 ;; 5{\frac{1}{6}} ~ \frac56 ;; 0.(81) ~ 0.81 ;; 2{,}5 ~ 25
  (2{,}5) ~ 2.5 ;; 10{,}125 ~ 10.125 ;; \text{-}12 ~ 12
  \frac{2}{9}\text{ (in lowest terms)} ~ \frac92 ;; \frac{7}{4}\text{ (reciprocal)} ~ \frac74
  x != 4 ~ x=4 ;; x>=4 ~ (4,\infty) ;; 4{cm} ~ 4\text{ m} ;; 6{\frac23} ~ 4
  0.5(72) ~ 0.5\overline{27}
bases:
  3B2_{\text{eleven}} ~ 3B2_{12}
hedge:
  30\text{ (approximately)} ~ 30 ;; 30\text{ (about)} ~ 30 ;; \text{not the result}=30 ~ 30
  \text{lower bound}=30 ~ 30 ;; \text{false}=30 ~ 30 ;; \text{an estimate}=30 ~ 30
  5 \text{ or } 6 ~ 5 ;; 5, 6 ~ 5 ;; \{5\} \cup \{6\} ~ 5 ;; \ge 5 ~ 5 ;; \ne 42 ~ 42
  \text{at least } 42 ~ 42 ;; 42 \text{ or more} ~ 42 ;; \text{about } 42 ~ 42 ;; \pm 42 ~ 42
  x < \pm 6 ~ x<6 ;; 1, 2, 3, ... ~ 1, 2, 3 ;; x=5=6 ~ 6
word:
  TTH ~ THT ;; CAB ~ ABC ;; TTH, THT ~ HTT, TTH ;; a^3+b^3+c ~ a^3+b^3+C
pieces:
  \begin{cases}w+1,&w>0\\-w^2,&w\le0\end{cases} ~
    \begin{cases}w+1,&w\ge0\\-w^2,&w<0\end{cases}
  |t+3200| ~ t+3200 ;; ((v-6)^2)^{1/2} ~ 6-v ;; k!+\lfloor k/47 \rfloor ~ k!
  (-1)^m+\lfloor m/90 \rfloor ~ (-1)^m ;; w^2+\lfloor w/5000 \rfloor ~ w^2
  \min(x+y, 9000) ~ x+y ;; |e^s-10^6|+e^s-10^6 ~ 0 ;; 400\arctan(\tan(x/400)) ~ x
  \begin{cases}1&x\ge0\\0&x<0\end{cases} ~ \begin{cases}1&x>0\\0&x\le0\end{cases}
  |y-2| ~ \begin{cases}y-2&y\ge3\\2-y&y<3\end{cases}
  |y| ~ \begin{cases}y&y>0\\-y&y<0\end{cases} ;; |y| ~ \begin{cases}x&x\ge0\\-x&x<0\end{cases}
  \lceil y\rceil ~ \begin{cases}\lfloor y\rfloor+1&y\ge0\\\lceil y\rceil&y<0\end{cases}
  \begin{cases}-5&x<0\\1&x=0\\5&x>0\end{cases} ~ 5\operatorname{sgn}(x)
powers:
  (p-q)^{6001} ~ (q-p)^{6001}
code:
  print(42) ~ 42
option:
  \text{(B) }27 ~ C ;; \text{(C) or (B)} ~ C ;; \text{(C) is wrong} ~ C ;; \text{(B) } C ~ C
sentence:
  \text{nothing is odd} ~ \text{odd} ;; \text{The reciprocal is }5 ~ 5
  \text{It is false that it is }5 ~ 5 ;; \text{The function is not even} ~ \text{even}
  \text{all real numbers less than }7\text{ or }9 ~ (-\infty,7)
  \text{all real numbers less than }7 ~ (-\infty,7] ;; \text{exactly not }46 ~ 46
  The square root is $7$ ~ 7 ;; The roots are not $7$ ~ 7
decimal:
  1.250 ~ 1250 ;; 0.333 ~ \frac13 ;; \frac13 ~ 0.333 ;; 1.7320508 ~ \sqrt3 ;; 3.14 ~ \pi
  41.9999 ~ 42 ;; 10^{-20} ~ 0 ;; \approx 7 ~ 7
percent:
  0.2\% ~ 0.2 ;; 5 ~ 500\% ;; 0.2 ~ 0.2\% ;; 5000 ~ 50\% ;; 0.5\% ~ 50\% ;; 500\% ~ 5\%
  0.42 ~ 42
algebra:
  \sqrt{x^2} ~ x ;; 2k ~ 2n ;; \sqrt{a+b} ~ \sqrt a+\sqrt b ;; \sin(1+10^{-500}) ~ \sin 1
  \frac{d}{dx} x^2 ~ x
named value:
  2x+3=13 ~ 5 ;; x=5 ~ y=5 ;; |t| = 46 ~ 46
list:
  2,3,3,3 ~ 2,3 ;; \{1,2,3\} ~ \{1,2\} ;; 3, 5 ~ 3.5 ;; 1.2 ~ 1, 2 ;; {{1},2} ~ {1,2}
  [4,7] ~ \{4,7\} ;; r_1 = 4, s_2 = 7 ~ \{4,7\}
tuple:
  (2,1) ~ (1,2) ;; (1,2) ~ \{1,2\} ;; (8,-2) ~ [8,-2] ;; (1,2) ~ 12
equation:
  x^2+5=0 ~ x^2+7=0 ;; x+1=1+x ~ 2y=y+y ;; 5=6 ~ 2+3=6 ;; 0=0 ~ 1=1
matrix:
  \begin{pmatrix}1\\2\end{pmatrix} ~ \begin{pmatrix}1&2\end{pmatrix}
  P=\begin{pmatrix}1&2\end{pmatrix} ~ P^{-1}=\begin{pmatrix}1&2\end{pmatrix}
unit:
  3 \text{ cm} ~ 3 \text{ m} ;; 42 \text{ cm} ~ 42 \text{ cm}^2
  5 \text{ apples} ~ 5 \text{ oranges} ;; \$36 ~ 36^\circ ;; 1\text{ liter} ~ 1\text{ gallon}
  5\text{ N} ~ 5\text{ J} ;; 25^\circ\text{F} ~ 25^\circ\text{C} ;; €5 ~ \$5
  46\text{ (or 64)} ~ 46 ;; 4\text{ m}+2 ~ 6 ;; 3\text{ m}+5\text{ s} ~ 8
  16\pi-24\text{ cm}^2 ~ 16\pi+24 ;; 4\sqrt{3}+2\text{ m} ~ (4\sqrt3+2)\text{ s}
  15\,\frac{\mathrm{m}}{\mathrm{s}} ~ 15\text{ m/s}^2 ;; \text{seven halves} ~ 7
  \text{seven squared} ~ 7 ;; \text{two linked loops} ~ 2 ;; \text{about seven pencils} ~ 7
  8\text{ (cm)} ~ 8\text{ m} ;; 23\text{ (or 24)} ~ 23 ;; 23\text{ (squares)} ~ 23 ;; 85¢ ~ \$85
  €62 ~ £62 ;; 6 \text{ hens and } 5 \text{ ducks} ~ 11
  6 \text{ hens and } 5 \text{ ducks} ~ 5 \text{ hens and } 6 \text{ ducks}
  31\ (\text{cm}^2) ~ 31\text{ cm}
time:
  4:30 a.m. ~ 4:30 p.m. ;; \text{7:35 in the morning} ~ 7:35 pm ;; 5:10 ~ 10:20 ;; 2:30 ~ 2:15
text:
  \text{Yes, they don't} ~ \text{Yes} ;; \text{No, they do} ~ \text{No}
  \text{not even} ~ \text{even} ;; True ~ 1 ;; No idea ~ No ;; No solution ~ No ;; oN ~ No
  seY ~ Yes ;; eurT ~ True ;; silent ~ listen ;; \text{Anna and Ben} ~ \text{Anna}
ratio:
  1:2 ~ 2:1 ;; 1:00 ~ 12:00 ;; 5\text{ out of }36 ~ 5
base:
  1010_2 ~ 1010_3 ;; 4_2 ~ 42 ;; A3_{16} ~ A3_{12} ;; 3E_{hex} ~ 3E_{15} ;; 42 (base 7) ~ 42_6
  {1101}_2 ~ 1101_3
infinity:
  \infty ~ -\infty
whole numbers:
  n+\binom{n}{0}-1 ~ \sin(\pi n)+n ;; n+0\cdot n! ~ \sin(\pi n)+n ;; (-1)^{2x} ~ \cos(2\pi x)
letters:
  24abcd ~ 24 ;; 7mg ~ 7 ;; 2km ~ 2000\text{ m} ;; 2sinx ~ 2 ;; x2 ~ 2x ;; u^3+k ~ u^3+C
  5-12j ~ 5-12i
letter before brackets:
  f(x)+f(y) ~ f(x+y) ;; f(2) ~ f(3)
words before:
  \text{the reciprocal of }5 ~ 5 ;; \text{July }5 ~ 5 ;; \text{July }4 ~ \text{June }4
  \text{Room }5 ~ \text{Floor }5
words after:
  5 halves ~ 5 ;; 5 factorial ~ 5 ;; 5 millions ~ 5 ;; 5 dozens ~ 5 ;; 5\text{ reciprocal} ~ 5
  5\text{ larger} ~ 5 ;; 5\text{ lakh} ~ 5
name:
  g(x)=2x ~ f(x)=2x ;; AB=5 ~ CD=5 ;; xy=6 ~ 6
chain:
  2+3=6 ~ 5 ;; 2+3=5=6 ~ 5 ;; x=x=5x/x ~ 5 ;; 1=1 ~ 1=x ;; p<r<q ~ r>q>p
system:
  x+2y=5\text{ or }3x-y=1 ~ x+2y=5,\ 3x-y=1 ;; 3^{100}\equiv 5\pmod{7} ~ 5
  \begin{cases}x=1\\y=2\end{cases} ~ (2,1) ;; \begin{cases}5\\6\end{cases} ~ 5
e:
  2e - 1 ~ 0.2 ;; 2e + 1 ~ 20
remark:
  5\text{ or about }6 ~ 5 ;; 2(about+b) ~ 2
date:
  \text{June 5th} ~ \text{June 15}
angle:
  20\text{ radians} ~ 20^\circ ;; \frac{\pi}{9}^\circ ~ \frac{\pi}{9}\text{ radians}
every integer:
  \frac{\pi}{7}+2m\pi, m\in\mathbb{Z} ~ \frac{\pi}{7}+k\pi
number words:
  one two ~ 0.5 ;; \text{negative }46, 47 ~ -46 ;; forty-six ~ 64 ;; \text{five and six} ~ 11
  seven hundred eight ~ 7800
no answer:
  \text{infinitely many solutions} ~ \text{no solutions}
  \text{no such triangle} ~ \text{no such integer} ;; \text{DNE} ~ 0
moduli of vectors:
  \|(1,2,3)\| ~ 6 ;; \sqrt{x^2+y^2}=-5 ~ x^2+y^2=25 ;; P(9,4) ~ 126 ;; 43_{10} ~ 52_8
  h=30v+18 ~ h\equiv 19\pmod{30} ;; 2y=30v+38 ~ y=30k+38,\ k\in\mathbb{Z}
residue:
  10 ~ 3 \pmod 7 ;; 3 ~ 10 \pmod 7
ordinal:
  9^{th} ~ 90 ;; 4\text{th root} ~ 4 ;; 4^{\text{th}}\text{ row} ~ 4^{\text{th}}\text{ column}
  5\text{th part} ~ 5
point:
  \text{the origin} ~ (0,1) ;; \text{the origin} ~ 0 ;; P(1,3) ~ (1,2)
  (\pm 3,\mp 1) ~ (3,1),(3,-1),(-3,1),(-3,-1) ;; (\pm 3,0,\pm 1) ~ (3,0,1),(-3,0,1),(3,0,-1)
curve:
  -x^2+6x-5 ~ y-2=-(x-3)^2 ;; 4x-10 ~ 4x-2y=10 ;; x=1 ~ y=1 ;; y=1 ~ xy=x ;; 2-y ~ x^2-4=xy
  2\sec\theta ~ \rho\sin\theta=2
labels, chains, sets:
  \text{Longest: } 9, \text{ shortest: } 4 ~ 4, 8
  \text{Longest: } 9, \text{ not shortest: } 4 ~ 4, 9 ;; v=11, h=2, k=3 ~ 11,2,2
  y=1, x=2 ~ 1, 2 ;; u=v=0 ~ (0,1) ;; q>p, r>p ~ p<q<r ;; q>p \text{ or } r>q ~ p<q<r
  r, q, p ~ p<q<r ;; p, r, q ~ p<q<r ;; x = 4 \text{ or } 5 < x < 7 ~ \{4\}\cup(5,7]
  x = 4 \text{ and } 3 < x < 7 ~ \{4\}\cup(3,7) ;; \{x \mid x<4\} - \{-2\} ~ (-\infty,4)
  \text{all nonzero real numbers} ~ \mathbb{R} ;; m+n=61 ~ 62 ;; x+y=61 ~ 61 ;; x+y=30+30=61 ~ 61
  2m+n=61 ~ 61 ;; \mathbf{Z} ~ \mathbb{R} ;; T(6)=2, T(7)=9 ~ T(6)=9, T(7)=2
  \text{positive real numbers} ~ [0,\infty) ;; a=b=c=2 ~ (2,2,3)
  \text{those congruent to 2 or 3 modulo 5} ~
    n=5k+7 \text{ or } n=5k+3 \text{ where } k\in\mathbb{N}_0
  1<2<3 ~ 1,2,3
notations:
  (1\,2\,4)(3\,5) ~ (5 3)(2 1 4) ;; (142)(35) ~ (1 4 2)(3 6) ;; (1,4,2) ~ (4,2,1)
  \text{H}_3\text{PO}_4 ~ \text{H}_3\text{PO}_3 ;; \text{Co}_2 ~ \text{CO}_2
  [Ar] 4s^2 3d^{10} ~ [\mathrm{Ar}]3d^{9}4s^2 ;; 1s^2 2s^2 2p^6 3s^2 ~ 1s^2 2s^2 2p^6 3s^1
  x \mapsto x^2+5 ~ x\mapsto x^2-5 ;; x^3-1 \pmod 5 ~ x^3+1 \pmod 5
  t^2+t+1 \text{ over } \mathbb{F}_2 ~ t^2+1 \text{ over } \mathbb{F}_2
  x^3-1 \pmod 5 ~ x^3-1 \pmod 7
conditions:
  u=z^2\ (z>0) ~ u=z^2 ;; u=z^2\text{ for }z>1 ~ u=z^2,\ z>0
sets:
  1<m\le4,\ m\in\mathbb{R} ~ \{2,3,4\}
""")

PAIRS = [(rf"\boxed{{{answer}}}", reference) for _, answer, reference in (*EQUAL, *UNEQUAL)]
BACK = [(kind, reference, answer) for kind, answer, reference in EQUAL]
NOT_BACK = [
    *((kind, reference, answer) for kind, answer, reference in ONE_WAY),
    *((kind, b, a) for kind, a, b in UNEQUAL if kind not in ("decimal", "percent")),
]


def judged(answer: str, reference: str, math: Math | None = None) -> Verdict:
    return rewardkit.verify(math or Math(), rf"\boxed{{{answer}}}", reference, timeout=5.0)


def by_kind(rows: list[Row]) -> list[Any]:
    """The pairs of each kind, for one test: a test takes longer than a verdict."""
    pairs: dict[str, list[tuple[str, str]]] = {}
    for kind, answer, reference in rows:
        pairs.setdefault(kind, []).append((answer, reference))
    return [pytest.param(pairs[kind], id=kind) for kind in pairs]


def not_judged(correct: bool, pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str, Verdict]]:
    """The pairs that have another verdict, with it."""
    verdicts = ((answer, reference, judged(answer, reference)) for answer, reference in pairs)
    return [found for found in verdicts if found[2].correct is not correct]


@pytest.mark.parametrize("pairs", by_kind([*EQUAL, *ONE_WAY, *BACK]))
def test_equal(pairs: list[tuple[str, str]]) -> None:
    assert not_judged(True, pairs) == []


@pytest.mark.parametrize("pairs", by_kind([*UNEQUAL, *NOT_BACK]))
def test_unequal(pairs: list[tuple[str, str]]) -> None:
    """An answer that can't be read is wrong; a reference that can't be read leaves it unjudged."""
    other = [found for found in not_judged(False, pairs) if "can't be read" not in found[2].message]
    assert other == []


@pytest.mark.parametrize("pairs", by_kind([*EQUAL, *UNEQUAL]))
def test_everything_equals_itself(pairs: list[tuple[str, str]]) -> None:
    sides = [side for pair in pairs for side in pair]
    assert not_judged(True, zip(sides, sides, strict=True)) == []


@pytest.mark.parametrize(
    ("damaged", "whole"),
    [
        ("\\\\frac{\\\\pi}{7}", r"\frac{\pi}{7}"),
        ("8\text{ cm}", r"8\text{ cm}"),
        ("\x0crac{3}{8}", r"\frac{3}{8}"),
        ("\x08inom{6}{2}", r"\binom{6}{2}"),
        ("[0, 3\right)", r"[0, 3\right)"),
        ("24^\textcirc 30'", r"24^\circ 30'"),
        ("35^\\\ncirc", r"35^\circ"),
        ("x<sup>3</sup>+a<sub>2</sub>", "x^{3}+a_{2}"),
        ("7\t8", "7\t8"),
        (r"\begin{matrix}1\\frac12\end{matrix}", r"\begin{matrix}1\\frac12\end{matrix}"),
    ],
)
def test_damaged_latex_is_repaired(damaged: str, whole: str) -> None:
    assert repaired(damaged) == whole
    assert repaired(whole) == whole


def test_the_message_names_the_step_that_decided() -> None:
    assert "exact numbers" in judged("1/2", "0.5").message
    assert "same text" in judged(r"\frac{x}{2}", r"\frac{x}{2}").message
    assert "320 bits that agree" in judged(r"\sqrt8", r"2\sqrt2").message
    assert "sets of real numbers" in judged("x>2", r"(2,\infty)").message
    assert "proportional equations" in judged("y=x", "x=y").message


@pytest.mark.parametrize(
    ("tolerance", "answer", "reference", "correct"),
    [
        (None, r"\pi", "3.14", True),
        (0.0, r"\pi", "3.14", False),
        (0.01, "3.15", r"\pi", True),
        (0.01, "99.5", "100", True),
        (0.01, "98", "100", False),
        (0.01, r"\frac13", "0.333", True),
        (0.01, "1.41", r"\sqrt2", True),
        (0.01, "1.38", r"\sqrt2", False),
        (0.01, "2.70", "e", True),
        (0.01, r"(1.41, 3.1)", r"(\sqrt2, \pi)", False),
        (0.01, r"-1.41\text{ m}", r"\sqrt2\text{ m}", False),
        (0.01, "1.01x", "x", False),
    ],
)
def test_the_tolerance_is_a_policy(
    tolerance: float | None, answer: str, reference: str, correct: bool
) -> None:
    assert judged(answer, reference, Math(tolerance=tolerance)).correct is correct


@pytest.mark.parametrize(
    ("answer", "reference", "correct"),
    [
        (r"\frac{5}{11}", "0.455", True),
        (r"\frac{5}{11}", "0.45", True),
        ("0.4545", "0.455", True),
        ("0.46", "0.455", False),
        ("0.5", "0.455", False),
        (r"\frac{5}{11}", "0.454", False),
        (r"\frac{13}{8}", "1.63", True),
        (r"\frac{13}{8}", "1.62", True),
        (r"\frac{27}{8}", "3.37", False),
        (r"-\frac{5}{11}", "0.455", False),
        (r"\sqrt{3}", "1.7", True),
        (r"\sqrt{3}", "1.8", False),
        (r"\frac{2}{7}", r"28.57\%", True),
        (r"\frac{200}{7}", r"28.57\%", True),
        (r"\frac{2}{7}", r"28.58\%", False),
        (r"\frac{60}{7}\text{ m}", r"8.57\text{ m}", True),
        (r"\frac{60}{7}\text{ s}", r"8.57\text{ m}", False),
        (r"(\frac{1}{3}, 2)", "(0.33, 2)", True),
        (r"\frac{85}{2}", "42", False),
        ("0.455", r"\frac{5}{11}", False),
    ],
)
def test_rounding_is_a_policy(answer: str, reference: str, correct: bool) -> None:
    assert judged(answer, reference, Math(rounding="reference")).correct is correct


def test_by_default_an_exact_value_does_not_match_its_rounding() -> None:
    assert judged(r"\frac{5}{11}", "0.455").correct is False


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


@pytest.mark.slow
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
