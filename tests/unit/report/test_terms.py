from koopsieve.report.terms import without_scales


def kernel(scale):
    return f"exp(−2·|(x − z)/s|²), z = (y 1), s = (y {scale})"


def test_scales_of_several_families_are_numbered():
    shown, scales = without_scales({"a": kernel(1), "b": kernel(2), "c": f"u · {kernel(1)}"})
    assert shown == [
        "exp(−2·|(x − z)/s₁|²), z = (y 1)",
        "exp(−2·|(x − z)/s₂|²), z = (y 1)",
        "u · exp(−2·|(x − z)/s₁|²), z = (y 1)",
    ]
    assert scales == {"s₁": "(y 1)", "s₂": "(y 2)"}


def test_too_many_scales_stay_where_they_are():
    given = {str(i): kernel(i) for i in range(5)}
    assert without_scales(given) == (list(given.values()), {})


def test_formulas_without_scales_stay():
    assert without_scales({"y": "y", "y^2": "y²"}) == (["", "y²"], {})
