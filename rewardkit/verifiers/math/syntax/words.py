"""What LaTeX commands, Unicode signs and bare words mean in an answer."""

from __future__ import annotations

from typing import Final


def listed(words: str, between: str | None = None) -> frozenset[str]:
    """The words of a line."""
    return frozenset(words.split(between))


_SIGNS: Final = {
    "≤": r"\le \leq \leqslant",
    "≥": r"\ge \geq \geqslant",
    "≠": r"\ne \neq",
    "<": r"\lt",
    ">": r"\gt",
    "∪": r"\cup \bigcup",
    "∩": r"\cap \bigcap",
    "∖": r"\setminus \backslash",
    "∈": r"\in",
    "∉": r"\notin",
    "⊂": r"\subset \subseteq",
    "≈": r"\approx \sim \simeq",
    "≡": r"\equiv",
    "·": r"\times \cdot \ast × ∙ ⋅ •",
    "/": r"\div ÷",
    "±": r"\pm",
    "∓": r"\mp",
    "°": r"\degree \circ º",
    "%": r"\%",
    "⦃": r"\{ \lbrace",
    "⦄": r"\} \rbrace",
    "⟨": r"\langle",
    "⟩": r"\rangle",
    "⌊": r"\lfloor",
    "⌋": r"\rfloor",
    "⌈": r"\lceil",
    "⌉": r"\rceil",
    "∞": r"\infty \infin",
    "π": r"\pi",
    "|": r"\mid \vert \lvert \rvert",
    "‖": r"\| \Vert",
    ":": r"\colon \ratio",
    "→": r"\to \rightarrow \longrightarrow",
    "∅": r"\emptyset \varnothing",
    "…": r"\ldots \dots \cdots",
    "ℝ": r"\R \reals \Reals",
    "√": r"\sqrt \surd",
    "∧": r"\wedge \land",
    "∨": r"\vee \lor",
    "¤": r"\$",
    "€": r"€ \euro",
    "£": r"£ \pounds",
    "¥": r"¥ \yen",
    "∠": r"\angle",
    "△": r"\triangle",
    "#": r"\#",
    "&": r"\&",
    "-": "− – —",
    "and": "和 与 及",
    "or": "或",
    "⇒": r"\Rightarrow \implies \iff \Leftrightarrow",
    "~": "~",
    "\\\\": "\\\\ \\cr \\newline",
}
MARKS: Final = {spelling: sign for sign, all_ in _SIGNS.items() for spelling in all_.split()}
"""Another spelling of a sign, and the sign."""

DROPPED: Final = listed(
    r"\relax \left \right \middle \big \Big \bigg \Bigg \bigl \bigr \Bigl \Bigr \biggl \biggr"
    r" \Biggl \Biggr \bigm \textstyle \scriptstyle \limits \nolimits \quad \qquad \enspace"
    r" \thinspace \, \; \: \! \  \> \( \) \[ \] \hfill \hspace \nonumber \bf \rm \it \sf"
    r" \normalsize \displaystyle \large \Large \small \strut \null \noindent \centering",
    " ",
) | {"\\ "}
"""Commands that only decorate."""

TEXT_COMMANDS: Final = listed(
    r"\text \mbox \hbox \textbf \textit \textrm \textsf \texttt \textnormal \mathrm \mathbf \mathit"
    r" \mathsf \mathtt \mathbb \mathcal \mathfrak \mathscr \boldsymbol \bm \operatorname \emph"
    r" \underline \mathop \textsc \textup \bold"
)
"""Commands whose argument is a word, or one letter in another type."""

OVER: Final = listed(
    r"\overline \vec \hat \bar \tilde \overrightarrow \widehat \dot \ddot \mathring"
)
"""Accents: part of a variable's name."""

FRACTIONS: Final = frozenset((r"\frac", r"\dfrac", r"\tfrac", r"\cfrac", r"\sfrac", r"\nicefrac"))
BINOMIALS: Final = frozenset((r"\binom", r"\dbinom", r"\tbinom"))
FOREIGN: Final = listed(
    r"\int \iint \iiint \oint \lim \limsup \liminf \sup \inf \nabla \partial \deg \dim \ker"
    r" \bigcup \bigcap \forall \exists \over \stackrel \cancel \substack"
)
"""Commands that we don't read and math-verify may."""
SUMS: Final = {r"\sum": "sum", r"\prod": "prod"}
COLOURS: Final = frozenset((r"\color", r"\textcolor", r"\colorbox"))
MODULO: Final = frozenset((r"\pmod", r"\bmod", r"\mod", r"\pod"))
BASES: Final = {
    word: base
    for base, word in enumerate(
        [
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
        ],
        start=2,
    )
}

GREEK: Final = listed(
    "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi"
    " rho varrho sigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Sigma"
    " Upsilon Phi Psi Omega ell hbar Pi aleph"
)
GREEK_LETTERS: Final[dict[str, str]] = dict(
    pair.split("=")
    for pair in listed(
        "α=alpha β=beta γ=gamma δ=delta ε=epsilon ζ=zeta η=eta θ=theta ι=iota κ=kappa λ=lambda μ=mu"
        " ν=nu ξ=xi ρ=rho σ=sigma τ=tau υ=upsilon φ=phi χ=chi ψ=psi ω=omega Γ=Gamma Δ=Delta Θ=Theta"
        " Λ=Lambda Ξ=Xi Σ=Sigma Φ=Phi Ψ=Psi Ω=Omega"
    )
)

FUNCTIONS: Final = {
    **{
        name: name
        for name in listed(
            "sin cos tan cot sec csc arcsin arccos arctan arccot arcsec arccsc sinh cosh tanh coth"
            " log ln exp lg gcd lcm max min det sgn abs floor ceil sqrt cbrt"
        )
    },
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "cosec": "csc",
    "tg": "tan",
    "arctg": "arctan",
    "ctg": "cot",
    "sign": "sgn",
    "ceiling": "ceil",
    "mod": "mod",
    "sech": "sech",
    "csch": "csch",
    "arcsinh": "arcsinh",
    "arccosh": "arccosh",
    "arctanh": "arctanh",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
    "Re": "Re",
    "Im": "Im",
    "arg": "arg",
    "det": "det",
    "cis": "cis",
}
"""Spelling and name of the functions that are read."""

CONSTANT_WORDS: Final = {
    "pi": "π",
    "infty": "∞",
    "inf": "∞",
    "infinity": "∞",
    "and": "and",
    "or": "or",
    "und": "and",
    "oder": "or",
    "emptyset": "∅",
    "Infinity": "∞",
    "union": "∪",
    "oo": "∞",
    "percent": "%",
    "percentage": "%",
    "pct": "%",
    "degrees": "°",
    "degree": "°",
    "deg": "°",
    "cup": "∪",
    "R": "R",
    "U": "U",
}
